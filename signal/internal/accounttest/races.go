package accounttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// keySet is the set of message keys that went over the wire, by chain and
// counter. It is safe for concurrent use.
type keySet struct {
	t    *testing.T
	mu   sync.Mutex
	used map[string]bool
}

func newKeySet(t *testing.T) *keySet { return &keySet{t: t, used: map[string]bool{}} }

// add records the key of a message, which must not have been used before.
func (s *keySet) add(c signal.Ciphertext) {
	s.t.Helper()
	var m signal.SignalMessage
	if c.Type == signal.TypePreKey {
		p, err := signal.ParsePreKeySignalMessage(c.Body)
		if err != nil {
			s.t.Error(err)
			return
		}
		m = p.Message
	} else {
		var err error
		if m, err = signal.ParseSignalMessage(c.Body); err != nil {
			s.t.Error(err)
			return
		}
	}
	s.once(fmt.Sprintf("%x %d", m.RatchetKey[:], m.Counter))
}

// addGroup is add for a group message.
func (s *keySet) addGroup(body []byte) {
	s.t.Helper()
	msg := body[1 : len(body)-64]
	var n [3]uint64
	for len(msg) > 0 {
		num, typ, size := protowire.ConsumeField(msg)
		if size < 0 {
			s.t.Error("a group message is not protobuf")
			return
		}
		if typ == protowire.VarintType {
			_, _, tag := protowire.ConsumeTag(msg)
			n[num], _ = protowire.ConsumeVarint(msg[tag:])
		}
		msg = msg[size:]
	}
	s.once(fmt.Sprint("group ", n[1], " ", n[2]))
}

func (s *keySet) once(key string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[key] {
		s.t.Errorf("a message key went over the wire twice: %s", key)
	}
	s.used[key] = true
}

// park has the first call of p's backend that is wanted wait, after it has
// read, until release is closed; entered is closed when it does.
func park(p *party, wanted func(call) bool) (entered, release chan struct{}) {
	entered, release = make(chan struct{}), make(chan struct{})
	var parked atomic.Bool // not a sync.Once, which would park the others too
	p.store.hooks(nil, func(_ ctxt, c call, err error) error {
		if wanted(c) && parked.CompareAndSwap(false, true) {
			close(entered)
			<-release
		}
		return err
	})
	return entered, release
}

// testParked parks an operation after it has loaded a session and starts
// another one on the same session: it waits, in both orders.
func testParked(t *testing.T, open Open) {
	alice, bob := established(t, open)
	row := store.Session(alice.addr.String())
	used := newKeySet(t)
	for i, order := range []string{"encrypt first", "decrypt first", "encrypt twice", "bundle first", "deletion second"} {
		in := alice.encrypt(bob, "in")
		out := make(chan signal.Ciphertext, 2)
		encrypt := func() error {
			c, err := bob.Encrypt(context.Background(), alice.addr, []byte("out"))
			if err == nil {
				used.add(c)
				out <- c
			}
			return err
		}
		decrypt := func() error {
			_, err := bob.Decrypt(context.Background(), alice.addr, in.Type, in.Body)
			return err
		}
		bundle := alice.bundle()
		install := func() error {
			_, err := bob.ProcessBundle(context.Background(), alice.addr, bundle)
			return err
		}
		first, then := encrypt, decrypt
		switch i {
		case 1:
			first, then = decrypt, encrypt
		case 2:
			then = encrypt
		case 3:
			first, then = install, decrypt
		case 4:
			then = func() error { return bob.DeleteSession(context.Background(), alice.addr) }
		}
		entered, release := park(bob, func(c call) bool { return !c.write && c.keys[0] == row })
		bob.store.counts()
		done := make(chan error, 2)
		go func() { done <- first() }()
		<-entered
		go func() { done <- then() }()
		time.Sleep(10 * time.Millisecond)
		select {
		case err := <-done:
			t.Errorf("%s: an operation did not wait (%v)", order, err)
			done <- err
		default:
		}
		if r, w := bob.store.counts(); r != 1 || w != 0 {
			t.Errorf("%s: %d reads and %d writes while parked", order, r, w)
		}
		close(release)
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("%s: %v", order, err)
			}
		}
		bob.store.heal()
		close(out)
		for c := range out {
			alice.decrypt(bob, c, "out")
		}
		switch i {
		case 2:
			bob.decrypt(alice, in, "in")
		case 3:
			bob.say(alice, "in the new session")
		case 4:
			if ok, err := bob.HasSession(context.Background(), alice.addr); ok || err != nil {
				t.Errorf("session after deletion: %v, %v", ok, err)
			}
		}
	}
}

// testTwoHandles opens an account twice over one backend: the two wait for
// each other as two callers of one do.
func testTwoHandles(t *testing.T, open Open) {
	alice, bob := established(t, open)
	second, err := signal.OpenAccount(t.Context(), bob.store, bob.addr.Name, signal.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	used := newKeySet(t)
	jitter(bob, 7)
	var wg sync.WaitGroup
	out := make([]signal.Ciphertext, 40)
	for i := range out {
		a := bob.Account
		if i%2 == 0 {
			a = second
		}
		wg.Go(func() {
			var err error
			if out[i], err = a.Encrypt(t.Context(), alice.addr, []byte("out")); err != nil {
				t.Error(err)
			} else {
				used.add(out[i])
			}
		})
	}
	wg.Wait()
	bob.store.heal()
	if t.Failed() {
		return
	}
	for _, c := range out {
		alice.decrypt(bob, c, "out")
	}
}

// jitter makes calls of p's backend take their time, at random.
func jitter(p *party, seed uint64) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	wait := func() {
		mu.Lock()
		n := rng.IntN(20)
		mu.Unlock()
		switch {
		case n < 2:
			time.Sleep(time.Duration(n+1) * 50 * time.Microsecond)
		case n < 12:
			for range n {
				runtime.Gosched()
			}
		}
	}
	p.store.hooks(func(ctxt, call) error { wait(); return nil }, func(_ ctxt, _ call, err error) error { wait(); return err })
}

// testInterleaved has eight goroutines send and receive on one session, with
// parking at random points: no key is used twice, everything arrives, and
// nothing is left over.
func testInterleaved(t *testing.T, open Open) {
	alice, bob := established(t, open)
	used := newKeySet(t)
	jitter(bob, 1)
	jitter(alice, 2)
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range steps(500, 40) {
		in := make([]signal.Ciphertext, 2+rng.IntN(3))
		for i := range in {
			in[i] = alice.encrypt(bob, fmt.Sprint("in ", i))
			used.add(in[i])
		}
		out := make([]signal.Ciphertext, 8-len(in))
		var wg sync.WaitGroup
		for i := range in {
			wg.Go(func() {
				d, err := bob.Decrypt(t.Context(), alice.addr, in[i].Type, in[i].Body)
				if err != nil {
					t.Errorf("round %d: decrypt: %v", round, err)
				} else {
					wantBytes(t, "message", d.Plaintext, fmt.Sprint("in ", i))
				}
			})
		}
		for i := range out {
			wg.Go(func() {
				var err error
				if i%2 == 0 {
					out[i], err = bob.Encrypt(t.Context(), alice.addr, []byte("out"))
				} else {
					var res []signal.EncryptResult
					res, err = bob.EncryptMany(t.Context(), []signal.Outgoing{{To: alice.addr, Plaintext: []byte("out")}})
					if err == nil {
						out[i], err = res[0].Ciphertext, res[0].Err
					}
				}
				if err != nil {
					t.Errorf("round %d: encrypt: %v", round, err)
				} else {
					used.add(out[i])
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
		for _, c := range out {
			alice.decrypt(bob, c, "out")
		}
	}
	alice.store.heal()
	bob.store.heal()
	for i := range 20 {
		alice.say(bob, fmt.Sprint("there ", i))
		bob.say(alice, fmt.Sprint("back ", i))
	}
	for _, p := range []struct{ p, q *party }{{alice, bob}, {bob, alice}} {
		info, err := p.p.SessionInfo(t.Context(), p.q.addr)
		if err != nil || info.Skipped != 0 {
			t.Errorf("%d skipped keys are left, %v", info.Skipped, err)
		}
		if err := p.p.store.intact(); err != nil {
			t.Error(err)
		}
	}
}

// testGroupInterleaved is testInterleaved for a sender key: messages, sends
// with distribution, and the distribution message again and again.
func testGroupInterleaved(t *testing.T, open Open) {
	m := members(t, open, 2)
	alice, bob := m[0], m[1]
	alice.start(bob)
	alice.say(bob, "hello")
	bob.say(alice, "hello")
	skdm := alice.distribute(bob)
	used := newKeySet(t)
	jitter(alice, 3)
	jitter(bob, 4)
	for round := range steps(100, 10) {
		out := make([][]byte, 6)
		var wg sync.WaitGroup
		for i := range out {
			wg.Go(func() {
				var err error
				if i%2 == 0 {
					out[i], err = alice.EncryptGroup(t.Context(), alice.senderKey(), []byte("out"))
				} else {
					var res *signal.GroupResult
					res, err = alice.SendGroup(t.Context(), &signal.GroupSend{
						Name: alice.senderKey(), Plaintext: []byte("out"), Distribute: []signal.Address{bob.addr},
						Wrap: func(b []byte) ([]byte, error) { return b, nil },
					})
					if err == nil {
						out[i] = res.Body
						used.add(res.Recipients[0].Ciphertext)
						_, err = bob.Decrypt(t.Context(), alice.addr, res.Recipients[0].Type, res.Recipients[0].Body)
					}
				}
				if err != nil {
					t.Errorf("round %d: %v", round, err)
				} else {
					used.addGroup(out[i])
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		for i := range out {
			wg.Go(func() {
				if plaintext, err := bob.DecryptGroup(t.Context(), alice.senderKey(), out[i]); err != nil {
					t.Errorf("round %d: %v", round, err)
				} else {
					wantBytes(t, "group message", plaintext, "out")
				}
			})
			wg.Go(func() {
				d, err := bob.ProcessSenderKey(t.Context(), alice.senderKey(), skdm)
				if err != nil || d != signal.DistributionKnown {
					t.Errorf("round %d: %v, %v", round, d, err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
	}
}
