package send_test

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

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// TestGroupSimulation lets a group live: members and devices come, go, come
// back and are set up anew, copies of the key and whole stanzas get lost, retry
// receipts arrive late, bundles are missing or bad, the store fails, the sender
// starts anew. After every message that the server takes, each device of the
// group must have read it unless something kept the key from it, and no other
// device may read it, whatever it held before. What was kept from a device it
// asks for, and then it must read again.
//
// SIGCORE_TEST_SEED replays one run, SIGCORE_TEST_STEPS says how long it is.
func TestGroupSimulation(t *testing.T) {
	steps, seeds := 5000, []uint64{rand.Uint64(), rand.Uint64()}
	if testing.Short() {
		steps = 500
	}
	if s := os.Getenv("SIGCORE_TEST_STEPS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		steps = n
	}
	if s := os.Getenv("SIGCORE_TEST_SEED"); s != "" {
		seed, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	var total tally
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newWorld(t, seed)
			defer func() {
				if t.Failed() {
					t.Logf("after %d events; SIGCORE_TEST_SEED=%d SIGCORE_TEST_STEPS=%d replays", w.step, seed, steps)
				}
			}()
			for w.step = 1; w.step <= steps && !t.Failed(); w.step++ {
				w.event()
				if w.step%250 == 0 {
					w.settle()
				}
			}
			w.settle()
			t.Logf("leased %v, by LID %v: %+v", w.opts.Durability == signal.Leased, w.lid, w.tally)
			total.add(&w.tally)
		})
	}
	if steps >= 5000 && !t.Failed() {
		total.check(t)
	}
}

// tally counts what has happened, so that a simulation in which nothing does
// is noticed.
type tally struct {
	sends, warm, rotations, lost, unread, retries, repairs, failures, spied, restarts, storeFailures, notRecorded int
}

func (a *tally) add(b *tally) {
	for _, p := range []struct{ to, n *int }{
		{&a.sends, &b.sends},
		{&a.warm, &b.warm},
		{&a.rotations, &b.rotations},
		{&a.lost, &b.lost},
		{&a.unread, &b.unread},
		{&a.retries, &b.retries},
		{&a.repairs, &b.repairs},
		{&a.failures, &b.failures},
		{&a.spied, &b.spied},
		{&a.restarts, &b.restarts},
		{&a.storeFailures, &b.storeFailures},
		{&a.notRecorded, &b.notRecorded},
	} {
		*p.to += *p.n
	}
}

func (a *tally) check(t *testing.T) {
	for name, n := range map[string]int{
		"messages": a.sends, "messages that distribute to own devices at most": a.warm, "rotations": a.rotations,
		"lost stanzas": a.lost, "messages that a member could not read": a.unread, "retries": a.retries,
		"repaired sessions": a.repairs, "devices not encrypted for": a.failures, "messages that others tried to read": a.spied,
		"restarts": a.restarts, "failures of the store": a.storeFailures, "unrecorded deliveries": a.notRecorded,
	} {
		if n == 0 {
			t.Errorf("%d %s: the simulation does not do what it is for", n, name)
		}
	}
}

// A node is a device of the simulation.
type node struct {
	*device
	oneTime []uint32 // unused one-time prekeys

	excused bool // something kept the key from it
	asks    bool // its retry receipt is under way
	counts  map[string]int
	last    string // the message that it could not read
}

type world struct {
	*testing.T
	ctx  context.Context
	r    *rand.Rand
	rows *faultyStore
	lid  bool
	opts signal.OpenOptions

	group   binary.JID
	name    signal.SenderKeyName
	self    send.Self
	sender  *signal.Account
	tracker *send.Tracker
	roster  *send.Roster
	seen    *send.Roster // the last that this tracker got
	old     []*send.Roster
	nodes   map[binary.JID]*node // all that ever were, by device
	order   []binary.JID         // of nodes: a map has none, and a run must replay
	own     map[signal.Address]bool
	members []binary.JID // devices of the group, the sending one apart
	fault   struct{ bundle, rotten, request float64 }
	step    int
	message int
	lastKey uint32
	spent   uint32 // the key that was asked to be replaced
	tally   tally
}

// faultyStore is a backend that fails when told to.
type faultyStore struct {
	store.Backend
	fail func() bool
}

var errDisk = errors.New("disk on fire")

func (f *faultyStore) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	if f.fail != nil && f.fail() {
		return 0, errDisk
	}
	return f.Backend.Apply(ctx, id, b)
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, ctx: t.Context(), r: rand.New(rand.NewPCG(seed, 7)), nodes: map[binary.JID]*node{}, own: map[signal.Address]bool{}}
	w.rows = &faultyStore{Backend: store.NewMemory()}
	w.lid = w.r.IntN(2) == 0
	w.group = binary.JID{User: "120363000000000001", Server: binary.ServerGroup}
	w.self = send.Self{
		PN:             binary.JID{User: "15550000001", Server: binary.ServerUser, Device: 2},
		LID:            binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 2},
		DeviceIdentity: []byte("identity"),
	}
	me := w.self.PN
	if w.lid {
		me = w.self.LID
	}
	w.name = signal.SenderKeyName{Group: w.group.String(), Sender: send.SignalAddress(me)}
	if w.r.IntN(2) == 0 {
		w.opts = signal.OpenOptions{Durability: signal.Leased, TakeOver: true, CacheBytes: 1 << (12 + w.r.IntN(8))}
	}
	a, err := signal.CreateAccount(w.ctx, w.rows, "sender", signal.AccountOptions{OpenOptions: w.opts})
	if err != nil {
		t.Fatal(err)
	}
	w.sender = a
	w.restart()
	w.tally = tally{}
	for user := range 6 {
		w.members = append(w.members, w.jid(user, 0))
	}
	w.members = append(w.members, w.jid(0, 3), w.jid(0, 1), w.jid(2, 1))
	w.changed()
	return w
}

// jid returns a device; user 0 is the sender.
func (w *world) jid(user, device int) binary.JID {
	j := binary.JID{User: fmt.Sprint(15550000001 + int64(user)), Server: binary.ServerUser, Device: uint16(device)}
	if w.lid {
		j.User, j.Server = fmt.Sprint(100000000000001+int64(user)), binary.ServerLID
	}
	if w.nodes[j] == nil {
		w.setUp(j)
	}
	return j
}

// setUp makes a device, also in place of one that was: with other keys.
func (w *world) setUp(j binary.JID) {
	a, err := signal.CreateAccount(w.ctx, store.NewMemory(), "device", signal.AccountOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if _, err := a.GenerateSignedPreKey(w.ctx, 1, 0); err != nil {
		w.Fatal(err)
	}
	n := &node{device: &device{a, j}, excused: w.nodes[j] != nil, counts: map[string]int{}}
	if w.nodes[j] == nil {
		w.order = append(w.order, j)
	}
	if w.owns(j) {
		w.own[send.SignalAddress(j)] = true
	}
	w.nodes[j] = n
}

// bundle returns what the server has of a device: with a one-time prekey as
// long as there are some.
func (w *world) bundle(n *node) *signal.Bundle {
	if len(n.oneTime) == 0 {
		keys, err := n.GeneratePreKeys(w.ctx, 2)
		if err != nil {
			w.Fatal(err)
		}
		for _, k := range keys {
			n.oneTime = append(n.oneTime, k.ID)
		}
	}
	id := n.oneTime[0]
	n.oneTime = n.oneTime[1:]
	if w.r.IntN(4) == 0 {
		id = 0
	}
	b, err := n.Bundle(w.ctx, id)
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func (w *world) chance(p float64) bool { return w.r.Float64() < p }

// restart starts the sender anew after a crash: what was not written is gone.
func (w *world) restart() {
	w.tally.restarts++
	source := send.BundleFunc(func(_ context.Context, devices []binary.JID) ([]send.BundleAnswer, error) {
		if w.chance(w.fault.request) {
			return nil, errDisk
		}
		var out []send.BundleAnswer
		for _, d := range devices {
			n := w.nodes[d]
			switch {
			case w.chance(w.fault.bundle):
				if w.chance(0.5) {
					out = append(out, send.BundleAnswer{Device: d, Err: send.ErrNoBundle})
				}
				n.excused = true // a companion without a bundle counts as a holder
			case w.chance(w.fault.rotten):
				b := *w.bundle(n)
				b.Signature[5] ^= 1
				out = append(out, send.BundleAnswer{Device: d, Bundle: &b})
			default:
				out = append(out, send.BundleAnswer{Device: d, Bundle: w.bundle(n)})
			}
		}
		w.r.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
		return out, nil
	})
	defer w.spare()()
	a, err := signal.OpenAccount(w.ctx, w.rows, "sender", w.opts)
	if err != nil {
		w.Fatal(err)
	}
	w.sender, w.seen = a, nil
	w.tracker = send.NewTracker(a, w.self, send.TrackerOptions{
		Sessions: send.Sessions{Source: source, Workers: 1 + w.r.IntN(3)},
	})
}

// changed makes the roster of the members as they are now.
func (w *world) changed() {
	if w.roster != nil {
		w.old = append(w.old, w.roster)
	}
	devices := append(slices.Clone(w.members), w.senderJID())
	w.r.Shuffle(len(devices), func(i, k int) { devices[i], devices[k] = devices[k], devices[i] })
	w.roster = send.NewRoster(devices)
}

func (w *world) owns(j binary.JID) bool { return j.User == w.self.PN.User || j.User == w.self.LID.User }

func (w *world) event() {
	w.fault.bundle, w.fault.rotten, w.fault.request = 0.2, 0.1, 0.05
	switch x := w.r.IntN(100); {
	case x < 60:
		w.send(false)
	case x < 65: // a user joins, or comes back
		user := 1 + w.r.IntN(12)
		if !slices.Contains(w.members, w.jid(user, 0)) {
			w.members = append(w.members, w.jid(user, 0))
			for d := 1; d < 3; d++ {
				if w.r.IntN(2) == 0 {
					w.members = append(w.members, w.jid(user, d))
				}
			}
			w.changed()
		}
	case x < 69: // a user leaves
		user := w.jid(1+w.r.IntN(12), 0).User
		w.members = slices.DeleteFunc(w.members, func(j binary.JID) bool { return j.User == user })
		w.changed()
	case x < 73: // a device comes or goes, also one of the sender's
		j := w.members[w.r.IntN(len(w.members))]
		j.Device = uint16(1 + w.r.IntN(4))
		if j.Key() == w.self.PN || j.Key() == w.self.LID {
			break
		}
		if i := slices.Index(w.members, j); i >= 0 {
			w.members = slices.Delete(w.members, i, i+1)
		} else {
			if w.nodes[j] == nil {
				w.setUp(j)
			}
			w.members = append(w.members, j)
		}
		w.changed()
	case x < 76: // a device is set up anew: its keys and sessions are gone
		w.setUp(w.members[w.r.IntN(len(w.members))])
	case x < 92:
		w.retry()
	case x < 95:
		w.restart()
	case x < 96:
		if err := w.tracker.Rotate(w.ctx, w.group); err != nil {
			w.Errorf("rotate: %v", err)
		}
		w.spent = w.lastKey
	default:
		w.storeFails()
	}
}

// storeFails has some of the writes of one message fail.
func (w *world) storeFails() {
	w.tally.storeFailures++
	w.rows.fail = func() bool { return w.chance(0.3) }
	w.send(false)
	w.rows.fail = nil
}

// spare has the store fail no more until what it returns is called.
func (w *world) spare() (restore func()) {
	fail := w.rows.fail
	w.rows.fail = nil
	return func() { w.rows.fail = fail }
}

var errLost = errors.New("the connection broke")

// send sends a message. Calm asks for one that nothing happens to.
func (w *world) send(calm bool) {
	w.message++
	id := fmt.Sprintf("3EB0%08X", w.message)
	text := fmt.Sprintf("message %d", w.message)
	roster := w.roster
	if !calm && w.seen == w.roster && len(w.old) > 0 && w.chance(0.05) {
		roster = w.old[w.r.IntN(len(w.old))] // of a caller who was slow
	}
	w.seen = w.roster
	m := &send.GroupMessage{
		To: w.group, ID: id, Type: "text", ByLID: w.lid,
		Message: append([]byte{0x0a, byte(len(text))}, text...),
	}
	accepted := false
	s, err := w.tracker.Group(w.ctx, roster, m, func(_ context.Context, s *send.GroupStanza) error {
		w.tally.sends++
		w.tally.failures += len(s.Failures)
		if !calm && w.chance(0.07) {
			w.tally.lost++
			return errLost
		}
		accepted = true
		w.arrive(s, id, text, calm)
		if !calm && w.chance(0.04) {
			return errLost // it arrived, but the sender does not hear so
		}
		return nil
	})
	switch {
	case err == nil && s == nil, s == nil && accepted:
		w.Errorf("message %d: %v, and no stanza", w.message, err)
	case errors.Is(err, send.ErrNotRecorded):
		w.tally.notRecorded++
	case errors.Is(err, errLost) && w.chance(0.3):
		w.restart() // what broke the connection was the end of the process
	case err != nil && (calm || !errors.Is(err, errLost) && !errors.Is(err, errDisk)):
		w.Errorf("message %d: %v", w.message, err)
	}
	w.checkHolders()
}

// arrive has the devices of the group read a stanza, and all others try.
func (w *world) arrive(s *send.GroupStanza, id, text string, calm bool) {
	others := false
	for _, d := range s.Distributed {
		others = others || !w.owns(d)
	}
	if !others {
		w.tally.warm++
	}
	enc := s.Node.Child("enc").Content.Bytes()
	if m, err := signal.ParseSenderKeyMessage(enc); err != nil {
		w.Fatal(err)
	} else if w.spent != 0 && m.KeyID == w.spent {
		w.Errorf("message %d goes out under a key that was to be replaced", w.message)
	} else if m.KeyID != w.lastKey {
		w.tally.rotations++
		w.lastKey = m.KeyID
	}
	if v, _ := s.Node.Attr("phash"); v.String() != send.ParticipantHash(append(slices.Clone(w.members), w.senderJID())) {
		w.Errorf("message %d: participant hash %v is not that of the members", w.message, v)
	}
	sender := &device{w.sender, w.senderJID()}
	for _, j := range w.order {
		n := w.nodes[j]
		skdm, copied, err := n.receive(w.ctx, s.Node, sender)
		if slices.Contains(w.members, j) {
			if copied && (calm || !w.chance(0.04)) {
				if err != nil {
					if !n.excused {
						w.Errorf("message %d: device %d of user %s cannot read its copy: %v", w.message, j.Device, j.User, err)
					}
				} else {
					w.process(n, skdm)
				}
			} else if copied {
				n.excused = true // the copy is lost
			}
			w.read(s, n, enc, id, text, calm)
			continue
		}
		if copied {
			w.Errorf("message %d: a copy for device %d of user %s, who is not in the group", w.message, j.Device, j.User)
		}
		w.tally.spied++
		if _, err := n.DecryptGroup(w.ctx, w.name, enc); err == nil {
			w.Errorf("message %d: device %d of user %s reads it, who is not in the group", w.message, j.Device, j.User)
		}
	}
}

func (w *world) senderJID() binary.JID {
	if w.lid {
		return w.self.LID
	}
	return w.self.PN
}

// process takes in the distribution message in a plaintext.
func (w *world) process(n *node, plaintext []byte) {
	_, wrapped, ok := bytes.Cut(plaintext, []byte("\x0a\x17"+w.group.String()+"\x12"))
	inner, l := protowire.ConsumeBytes(wrapped)
	if !ok || l < 0 {
		w.Fatalf("no distribution message for the group in %x", plaintext)
	}
	if _, err := n.ProcessSenderKey(w.ctx, w.name, inner); err != nil {
		w.Fatal(err)
	}
}

// read has a device of the group read a message.
func (w *world) read(s *send.GroupStanza, n *node, enc []byte, id, text string, calm bool) {
	got, err := n.DecryptGroup(w.ctx, w.name, enc)
	if err == nil {
		if got, err = send.Unpad(got, 2); err == nil && string(got[2:]) != text {
			err = fmt.Errorf("it reads %q", got)
		}
		if err != nil {
			w.Errorf("message %d: %v", w.message, err)
		}
		n.excused = false
		return
	}
	w.tally.unread++
	failed := slices.ContainsFunc(s.Failures, func(f send.Failure) bool { return f.Device.Key() == n.jid })
	if !failed && !n.excused {
		w.Errorf("message %d: device %d of user %s cannot read it: %v", w.message, n.jid.Device, n.jid.User, err)
	}
	n.excused, n.asks, n.last = true, true, id
}

// retry has the sender see a receipt.
func (w *world) retry() {
	var asking []*node
	for _, j := range w.members {
		if n := w.nodes[j]; n.asks {
			asking = append(asking, n)
		}
	}
	if len(asking) > 0 {
		w.ask(asking[w.r.IntN(len(asking))])
	}
}

func (w *world) ask(n *node) {
	w.tally.retries++
	n.counts[n.last]++
	r := &send.RetryReceipt{
		Chat: w.group, Device: n.jid, ID: n.last, Count: n.counts[n.last], Listed: true, RegistrationID: n.RegistrationID(),
	}
	// Whose session is not that of the sender sends its keys.
	if r.Count > 1 || w.chance(0.7) {
		r.Bundle = w.bundle(n)
	}
	before, err := w.sender.SessionInfo(w.ctx, send.SignalAddress(n.jid))
	if err != nil {
		w.Fatal(err)
	}
	if _, err := w.tracker.Retry(w.ctx, r); err != nil {
		w.Errorf("retry: %v", err)
	}
	after, err := w.sender.SessionInfo(w.ctx, send.SignalAddress(n.jid))
	if err != nil {
		w.Fatal(err)
	}
	if before != after {
		w.tally.repairs++
	}
	n.asks = false
}

// settle lets everything that is under way arrive and nothing else happen: now
// all can read.
func (w *world) settle() {
	w.fault.bundle, w.fault.rotten, w.fault.request = 0, 0, 0
	for round := range 5 {
		for _, j := range w.members {
			if n := w.nodes[j]; n.asks {
				w.ask(n)
			}
		}
		before := w.tally
		w.send(true)
		if w.Failed() || round > 0 && w.tally.unread == before.unread && w.tally.failures == before.failures {
			return
		}
	}
	w.Errorf("message %d: not all can read although nothing goes wrong any more", w.message)
}

// checkHolders: no device of the sender's own is taken to hold the key.
func (w *world) checkHolders() {
	defer w.spare()()
	d, err := w.sender.SenderKeyDevices(w.ctx, w.name)
	if err != nil {
		w.Fatal(err)
	}
	for _, addr := range d.Devices {
		if w.own[addr] {
			w.Errorf("%v holds the key", addr)
		}
	}
}
