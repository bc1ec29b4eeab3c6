package accounttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// Chaos runs random conversations of three accounts over backends that fail,
// processes that crash, caches that are too small and databases that are put
// back, each from a seed, one step after the other. Whatever happens,
//
//   - no message key that was returned is returned again,
//   - no plaintext arrives that was not sent, and none twice unless its reader has
//     crashed or was put back in between,
//   - a message arrives at the first attempt that does not fail because of the
//     backend, unless one of the two was put back since their session began,
//   - all talk to each other in the end.
//
// SIGCORE_TEST_SEED runs one seed, SIGCORE_TEST_STEPS sets the number of steps and
// SIGCORE_TEST_LONG runs many more seeds. A failure prints the seed.
//
// open returns a backend that starts empty. If it is a *Disk, states are put back
// too. Where reopen is not nil, it closes the backend and opens it again.
func Chaos(t *testing.T, open Open) {
	seeds, length := 60, 250
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") != "":
		seeds, length = 2000, 600
	case testing.Short():
		seeds, length = 12, 150
	}
	if b, _ := open(t); !inMemory(b) {
		seeds /= 10 // each write waits for a disk
	}
	length = steps(length, length)
	first := uint64(1)
	if s := os.Getenv("SIGCORE_TEST_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatalf("SIGCORE_TEST_SEED: %v", err)
		}
		first, seeds = n, 1
	}
	for seed := first; seed < first+uint64(seeds) && !t.Failed(); seed++ {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			m := newMachine(t, open, seed)
			defer func() {
				if t.Failed() {
					t.Logf("run again with SIGCORE_TEST_SEED=%d SIGCORE_TEST_STEPS=%d", seed, length)
					for _, line := range m.log[max(0, len(m.log)-chaosTail()):] {
						t.Log(line)
					}
				}
			}()
			for m.now = range length {
				if m.step(); t.Failed() {
					return
				}
			}
			m.finish()
		})
	}
}

// machine is one run.
type machine struct {
	t      *testing.T
	rng    *rand.Rand
	seed   uint64
	now    int // the step
	log    []string
	base   store.Backend
	disk   *Disk // the backend, if states can be put back
	reopen func() store.Backend

	actors []*actor
	used   *keySet
	calls  int // of backends in this step
	fault  int // the call that fails, 0 for none
	kind   int // how it fails
	cancel func()
}

// actor is one account of a run.
type actor struct {
	m         *machine
	name      string
	addr      signal.Address
	processes []*signal.Account
	options   signal.OpenOptions
	witness   *memoryWitness

	queue     []letter // to this account, under way
	read      map[string]int
	lives     int               // how often the state has gone back
	holders   map[string]uint32 // who has which of our sender keys
	damaged   map[string]bool   // peers whose session was put back on either side
	migrated  map[string]bool   // peers that are known under their LID
	snapshots []Snapshot        // earlier states
}

// letter is a message under way.
type letter struct {
	from  *actor
	group bool
	msg   signal.Ciphertext
	text  string
	tries int
}

var errInjected = errors.New("accounttest: injected")

func newMachine(t *testing.T, open Open, seed uint64) *machine {
	m := &machine{t: t, rng: rand.New(rand.NewPCG(seed, 77)), seed: seed, used: newKeySet(t)}
	m.base, m.reopen = open(t)
	m.disk, _ = m.base.(*Disk)
	for i := range 3 {
		p := &actor{
			m: m, name: fmt.Sprintf("1555000%04d@c.us", i), read: map[string]int{},
			holders: map[string]uint32{}, damaged: map[string]bool{}, migrated: map[string]bool{},
		}
		p.addr = signal.Address{Name: p.name}
		if m.disk != nil && m.rng.IntN(2) == 0 {
			p.witness = new(memoryWitness)
		}
		a, err := signal.CreateAccount(t.Context(), m.handle(), p.name, signal.AccountOptions{})
		if err == nil {
			_, err = a.GenerateSignedPreKey(t.Context(), 1, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		p.open()
		m.actors = append(m.actors, p)
	}
	return m
}

func (m *machine) say(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf("%d: ", m.now)+fmt.Sprintf(format, args...))
}

func (m *machine) failf(format string, args ...any) {
	m.t.Helper()
	m.t.Errorf("seed %d, step %d: %s", m.seed, m.now, fmt.Sprintf(format, args...))
}

// handle returns the backend as a process of its own sees it.
func (m *machine) handle() store.Backend {
	f := &Faulty{Backend: handleOf{m}}
	f.hooks(func(context.Context, call) error {
		if m.calls++; m.calls != m.fault {
			return nil
		}
		switch m.kind {
		case 0:
			return errInjected
		case 1:
			m.cancel()
		}
		return nil
	}, func(_ context.Context, _ call, err error) error {
		if m.calls != m.fault {
			return err
		}
		switch m.kind {
		case 2:
			return errInjected // it took place
		case 3:
			m.cancel()
		}
		return err
	})
	return f
}

// handleOf is the backend of a machine, which may be opened again.
type handleOf struct{ m *machine }

func (h handleOf) CreateAccount(ctx context.Context, name string, row []byte) (store.AccountID, error) {
	return h.m.base.CreateAccount(ctx, name, row)
}

func (h handleOf) OpenAccount(ctx context.Context, name string) (store.Account, error) {
	return h.m.base.OpenAccount(ctx, name)
}
func (h handleOf) Accounts(ctx context.Context) ([]string, error) { return h.m.base.Accounts(ctx) }
func (h handleOf) DeleteAccount(ctx context.Context, id store.AccountID) error {
	return h.m.base.DeleteAccount(ctx, id)
}

func (h handleOf) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	return h.m.base.Read(ctx, id, keys)
}

func (h handleOf) List(ctx context.Context, id store.AccountID, q store.Query) ([]store.Key, error) {
	return h.m.base.List(ctx, id, q)
}

func (h handleOf) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	return h.m.base.Apply(ctx, id, b)
}

func (h handleOf) Acquire(ctx context.Context, id store.AccountID, holder string, takeOver bool) (uint64, error) {
	return h.m.base.Acquire(ctx, id, holder, takeOver)
}

func (h handleOf) Release(ctx context.Context, id store.AccountID, fence uint64) error {
	return h.m.base.Release(ctx, id, fence)
}
func (h handleOf) Close() error { return nil }

// memoryWitness is a witness that loses nothing.
type memoryWitness struct {
	incarnation [16]byte
	epoch       uint64
}

func (w *memoryWitness) Load(context.Context) ([16]byte, uint64, error) {
	return w.incarnation, w.epoch, nil
}

func (w *memoryWitness) Store(_ context.Context, incarnation [16]byte, epoch uint64) error {
	if w.incarnation != incarnation || w.epoch < epoch {
		w.incarnation, w.epoch = incarnation, epoch
	}
	return nil
}

// open opens the account anew, in processes that know nothing of earlier ones.
func (p *actor) open() {
	m := p.m
	m.calm()
	p.options = signal.OpenOptions{TakeOver: true}
	if p.witness != nil {
		p.options.Witness = p.witness
	}
	n := 1
	switch m.rng.IntN(3) {
	case 0:
		n = 1 + m.rng.IntN(2)
	case 1:
		p.options.Durability = signal.Leased
	case 2:
		p.options.Durability = signal.Leased
		p.options.CacheBytes = 1 << (8 + m.rng.IntN(6))
	}
	p.processes = nil
	for range n {
		a, err := signal.OpenAccount(m.t.Context(), m.handle(), p.name, p.options)
		if err != nil {
			m.t.Fatalf("seed %d, step %d: open: %v", m.seed, m.now, err)
		}
		p.processes = append(p.processes, a)
	}
	m.say("%s opened by %d, %+v", p.name[7:11], n, p.options)
}

// account returns one of the processes.
func (p *actor) account() *signal.Account { return p.processes[p.m.rng.IntN(len(p.processes))] }

// weather arms or disarms a fault for the calls of a step and returns the
// context that it may end.
func (m *machine) weather() context.Context {
	ctx, cancel := context.WithCancel(m.t.Context())
	m.calls, m.fault, m.cancel = 0, 0, cancel
	if m.rng.IntN(4) == 0 {
		m.fault, m.kind = 1+m.rng.IntN(4), m.rng.IntN(4)
	}
	return ctx
}

// calm is weather without faults.
func (m *machine) calm() context.Context {
	m.calls, m.fault = 0, 0
	return m.t.Context()
}

// foul reports whether an error is of the weather, or of one before.
func foul(err error) bool {
	return errors.Is(err, errInjected) || errors.Is(err, context.Canceled)
}

func (m *machine) step() {
	p := m.actors[m.rng.IntN(len(m.actors))]
	q := m.actors[m.rng.IntN(len(m.actors))]
	if p == q {
		return
	}
	switch n := m.rng.IntN(100); {
	case n < 34:
		p.send(m.weather(), q)
	case n < 66:
		p.receive(m.weather())
	case n < 76:
		p.sendGroup(m.weather(), q)
	case n < 79:
		if err := p.account().Flush(m.weather()); err != nil && !foul(err) {
			m.failf("flush: %v", err)
		}
	case n < 82:
		ctx := m.weather()
		if _, err := p.account().SessionInfo(ctx, p.addrOf(q)); err != nil && !foul(err) {
			m.failf("info: %v", err)
		}
	case n < 86:
		p.restart(m.weather())
	case n < 91:
		m.say("%s crashed", p.name[7:11])
		p.lives++
		if p.open(); m.rng.IntN(4) == 0 && m.disk == nil {
			m.reboot()
		}
	case n < 92:
		p.renegotiate(m.calm(), q)
	case n < 93:
		p.migrate(q)
	case m.disk == nil:
	case n < 95:
		p.snapshots = append(p.snapshots, m.disk.Snapshot(p.name))
	case n < 98:
		p.putRowBack(q)
	default:
		p.putBack()
	}
}

// reboot closes the backend and opens it again: all processes are new ones.
func (m *machine) reboot() {
	m.base = m.reopen()
	m.say("reboot")
	for _, p := range m.actors {
		p.lives++
		p.open()
	}
}

// post takes what was encrypted.
func (p *actor) post(q *actor, group bool, c signal.Ciphertext, text string) {
	if group {
		p.m.used.addGroup(c.Body)
	} else {
		p.m.used.add(c)
	}
	if p.m.t.Failed() {
		p.m.failf("%s to %s: a message key was used twice", p.name[7:11], q.name[7:11])
	}
	q.queue = append(q.queue, letter{from: p, group: group, msg: c, text: text})
}

// send encrypts a message to q, after setting a session up if there is none.
func (p *actor) send(ctx context.Context, q *actor) {
	text := fmt.Sprint("text ", p.m.now)
	c, err := p.account().Encrypt(ctx, p.addrOf(q), []byte(text))
	p.m.say("%s encrypts to %s: %v", p.name[7:11], q.name[7:11], err)
	switch {
	case err == nil:
		p.post(q, false, c, text)
	case foul(err):
	case errors.Is(err, signal.ErrNoSession):
		p.renegotiate(p.m.calm(), q)
	default:
		p.m.failf("encrypt: %v", err)
	}
}

// bundle returns a bundle of q with a fresh prekey.
func (p *actor) bundle(ctx context.Context) *signal.Bundle {
	a := p.account()
	keys, err := a.GeneratePreKeys(ctx, 1)
	if err != nil {
		p.m.failf("prekeys: %v", err)
		return nil
	}
	b, err := a.Bundle(ctx, keys[0].ID)
	if err != nil {
		p.m.failf("bundle: %v", err)
	}
	return b
}

// renegotiate starts a session with q.
func (p *actor) renegotiate(ctx context.Context, q *actor) {
	b := q.bundle(ctx)
	if b == nil {
		return
	}
	_, err := p.account().ProcessBundle(ctx, p.addrOf(q), b)
	p.m.say("%s starts a session with %s: %v", p.name[7:11], q.name[7:11], err)
	if err != nil {
		p.m.failf("bundle: %v", err)
	}
}

// receive reads one of the first messages under way to p.
func (p *actor) receive(ctx context.Context) {
	if len(p.queue) == 0 {
		return
	}
	i := p.m.rng.IntN(min(3, len(p.queue)))
	l := p.queue[i]
	p.queue = slices.Delete(p.queue, i, i+1)
	if !p.open1(ctx, &l) {
		p.queue = slices.Insert(p.queue, min(i, len(p.queue)), l)
	}
}

// open1 reads a message and reports whether it is done with.
func (p *actor) open1(ctx context.Context, l *letter) (done bool) {
	m := p.m
	var plaintext []byte
	var err error
	if l.group {
		plaintext, err = p.account().DecryptGroup(ctx, p.senderKeyOf(l.from), l.msg.Body)
	} else {
		var d *signal.Decrypted
		if d, err = p.account().Decrypt(ctx, p.addrOf(l.from), l.msg.Type, l.msg.Body); err == nil {
			plaintext = d.Plaintext
		}
	}
	m.say("%s reads %q of %s, group %v: %v", p.name[7:11], l.text, l.from.name[7:11], l.group, err)
	id := string(l.msg.Body)
	switch {
	case err == nil:
		text, skdm, _ := bytes.Cut(plaintext, []byte("\x00"))
		if string(text) != l.text {
			m.failf("read %q, want %q", text, l.text)
		}
		if before, ok := p.read[id]; ok && before == p.lives {
			m.failf("a message was read twice")
		}
		p.read[id] = p.lives
		if len(skdm) > 0 {
			if _, err := p.account().ProcessSenderKey(m.calm(), p.senderKeyOf(l.from), skdm); err != nil {
				m.failf("distribution message: %v", err)
			}
			if k, err := signal.ParseSenderKeyDistributionMessage(skdm); err == nil {
				l.from.holders[p.name] = k.KeyID
			}
		}
		return m.rng.IntN(12) != 0 // sometimes the server delivers it again
	case foul(err):
		// It may have been read, if the answer was lost.
		l.tries++
		return false
	case errors.Is(err, signal.ErrDuplicate):
		if _, ok := p.read[id]; !ok && l.tries == 0 && !p.hurt(l.from) {
			m.failf("a message that was never read is a duplicate")
		}
		return true
	case p.hurt(l.from):
		// One of the two was put back: the session cannot be trusted, and the
		// reader asks for a fresh one.
		if !l.group {
			l.from.renegotiate(m.calm(), p)
		}
		delete(l.from.holders, p.name)
		return true
	}
	m.failf("%s cannot read %q of %s: %v", p.name, l.text, l.from.name, err)
	return true
}

// hurt reports whether a session of the two was put back.
func (p *actor) hurt(q *actor) bool { return p.damaged[q.name] || q.damaged[p.name] }

func (m *machine) senderKey(p *actor) signal.SenderKeyName {
	return signal.SenderKeyName{Group: group, Sender: p.addr}
}

// sendGroup sends a message to the group of p and q, with the key if q may not
// have it.
func (p *actor) sendGroup(ctx context.Context, q *actor) {
	m := p.m
	text := fmt.Sprint("group ", m.now)
	a := p.account()
	info, err := a.SenderKeyInfo(ctx, m.senderKey(p))
	if err != nil {
		if !foul(err) {
			m.failf("sender key: %v", err)
		}
		return
	}
	if id, ok := p.holders[q.name]; ok && info.Exists && id == info.KeyID {
		body, err := a.EncryptGroup(ctx, m.senderKey(p), []byte(text))
		m.say("%s encrypts to the group: %v", p.name[7:11], err)
		switch {
		case err == nil:
			p.post(q, true, signal.Ciphertext{Body: body}, text)
		case errors.Is(err, signal.ErrNoSenderKey):
			clear(p.holders)
		case !foul(err):
			m.failf("group encrypt: %v", err)
		}
		return
	}
	res, err := a.SendGroup(ctx, &signal.GroupSend{
		Name: m.senderKey(p), Plaintext: []byte(text), Distribute: []signal.Address{p.addrOf(q)},
		Wrap: func(skdm []byte) ([]byte, error) { return append([]byte(text+"\x00"), skdm...), nil },
	})
	m.say("%s encrypts to the group with %s: %v", p.name[7:11], q.name[7:11], err)
	if err != nil {
		if !foul(err) {
			m.failf("send group: %v", err)
		}
		return
	}
	m.used.addGroup(res.Body)
	if m.t.Failed() {
		m.failf("%s: a key of the group was used twice", p.name)
	}
	// Whoever has not read the key cannot read the message: it goes after it.
	if r := res.Recipients[0]; r.Err == nil {
		p.post(q, false, r.Ciphertext, text)
	} else if errors.Is(r.Err, signal.ErrNoSession) {
		p.renegotiate(m.calm(), q)
	} else {
		m.failf("distribution: %v", r.Err)
	}
}

// restart closes the account and opens it again. A close that fails is followed
// by one that does not.
func (p *actor) restart(ctx context.Context) {
	for _, a := range p.processes {
		err := a.Close(ctx)
		if err != nil {
			if !foul(err) {
				p.m.failf("close: %v", err)
			}
			err = a.Close(p.m.calm())
		}
		if err != nil && !errors.Is(err, store.ErrOwned) {
			p.m.failf("close: %v", err)
		}
	}
	p.m.say("%s closed", p.name[7:11])
	p.open()
}

// putRowBack puts a row of p, which one process has open, back to an earlier
// state, and has the process use it.
func (p *actor) putRowBack(q *actor) {
	if len(p.snapshots) == 0 || len(p.processes) != 1 {
		return
	}
	m := p.m
	s := p.snapshots[m.rng.IntN(len(p.snapshots))]
	k := store.Session(p.addrOf(q).String())
	sender := m.rng.IntN(3) == 0
	if sender {
		k = store.SenderKey(m.senderKey(p).String())
	}
	if !s.rows[k].Found {
		return
	}
	// The process must have seen the state that is lost.
	ctx := m.calm()
	a := p.processes[0]
	if _, err := a.SessionInfo(ctx, p.addrOf(q)); err != nil {
		m.failf("info: %v", err)
	}
	if _, err := a.SenderKeyInfo(ctx, m.senderKey(p)); err != nil {
		m.failf("sender key: %v", err)
	}
	m.say("%s: row %v is put back", p.name[7:11], k.Table)
	p.hit(q)
	m.disk.PutRowBack(p.name, k, s)
	if sender {
		body, err := a.EncryptGroup(ctx, m.senderKey(p), []byte("after"))
		switch {
		case err == nil:
			m.used.addGroup(body)
		case errors.Is(err, signal.ErrNoSenderKey):
			clear(p.holders)
		default:
			m.failf("group encrypt after a row was put back: %v", err)
		}
	} else {
		p.send(ctx, q)
	}
	if p.options.Durability == signal.Leased {
		p.restart(ctx) // a leased account finds out when it closes, if not before
	}
}

// hit marks the sessions of p with q as damaged, or all.
func (p *actor) hit(q ...*actor) {
	if len(q) == 0 {
		q = p.m.actors
	}
	for _, o := range q {
		p.damaged[o.name] = true
		delete(o.holders, p.name)
	}
	clear(p.holders)
	p.lives++
}

// putBack puts the database of p back to an earlier state: under the open
// account, which notices and renews, or while nobody has it open, which the
// witness notices.
func (p *actor) putBack() {
	m := p.m
	if len(p.snapshots) == 0 {
		return
	}
	i := m.rng.IntN(len(p.snapshots))
	s := p.snapshots[i]
	// States that are ahead of the present never were.
	p.snapshots = p.snapshots[:i+1]
	if p.witness != nil {
		m.say("%s: database is put back", p.name[7:11])
		p.hit()
		m.disk.PutBack(p.name, s)
		p.open()
		p.recall()
		return
	}
	if len(p.processes) != 1 || p.options.Durability == signal.Leased || s.state.Owner.Held {
		return
	}
	ctx := m.calm()
	a := p.processes[0]
	if _, err := a.HasSession(ctx, p.addr); err != nil { // sees the present
		m.failf("has session: %v", err)
	}
	if m.disk.Snapshot(p.name).state.Generation == s.state.Generation {
		return
	}
	m.say("%s: database is put back under the account", p.name[7:11])
	p.hit()
	m.disk.PutBack(p.name, s)
	if _, err := a.HasSession(ctx, p.addr); !errors.Is(err, signal.ErrPutBack) {
		m.failf("a database that was put back: %v", err)
	}
	if err := a.Renew(ctx); err != nil {
		m.failf("renew: %v", err)
	}
	p.recall()
}

// finish delivers what is under way, in fair weather, and has all talk to each
// other.
func (m *machine) finish() {
	ctx := m.calm()
	deliver := func() {
		for _, p := range m.actors {
			for n := 0; len(p.queue) > 0 && n < 10_000; n++ {
				l := p.queue[0]
				p.queue = p.queue[1:]
				for !p.open1(ctx, &l) && !m.t.Failed() {
				}
			}
		}
	}
	deliver()
	for _, p := range m.actors {
		for _, q := range m.actors {
			if p != q && p.hurt(q) {
				p.renegotiate(ctx, q)
				p.send(ctx, q)
				deliver()
			}
		}
	}
	for _, p := range m.actors {
		clear(p.damaged)
	}
	for round := range 4 {
		for _, p := range m.actors {
			for _, q := range m.actors {
				if p == q || m.t.Failed() {
					continue
				}
				before := len(q.queue)
				if p.send(ctx, q); len(q.queue) == before {
					p.send(ctx, q) // there was no session
				}
				if len(q.queue) == before {
					m.failf("round %d: nothing was sent", round)
				}
				deliver()
			}
		}
	}
	for _, p := range m.actors {
		for _, a := range p.processes {
			if err := a.Close(ctx); err != nil && !errors.Is(err, store.ErrOwned) {
				m.failf("close: %v", err)
			}
		}
	}
}

func inMemory(b store.Backend) bool {
	_, ok := b.(*Disk)
	return ok
}

// chaosTail is how many lines of a failed run are printed: all if it is a single
// one.
func chaosTail() int {
	if os.Getenv("SIGCORE_TEST_SEED") != "" {
		return 1 << 30
	}
	return 40
}
