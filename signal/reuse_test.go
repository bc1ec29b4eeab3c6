package signal_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

var errInjected = errors.New("injected")

// A failing store and a failing source of randomness, both from one coin.
type misfortune struct {
	store.Backend
	r  *mathrand.Rand
	on bool
}

func (f *misfortune) fails() bool { return f.on && f.r.IntN(5) == 0 }

func (f *misfortune) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	if f.fails() {
		return nil, 0, errInjected
	}
	return f.Backend.Read(ctx, id, keys)
}

func (f *misfortune) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	if f.fails() {
		return 0, errInjected
	}
	generation, err := f.Backend.Apply(ctx, id, b)
	if err == nil && f.fails() {
		return 0, errInjected // as when a connection breaks during the commit
	}
	return generation, err
}

type failingSource struct{ *misfortune }

func (s failingSource) Read(b []byte) (int, error) {
	if s.fails() {
		return 0, errInjected
	}
	return io.ReadFull(rand.Reader, b)
}

// A member of the test is an account with what went out from it.
type talker struct {
	*signal.Account
	addr  signal.Address
	inbox []parcel
}

type parcel struct {
	group bool
	typ   signal.MessageType
	body  []byte
}

// TestNoCounterIsUsedTwice sends and receives while the store and the source of
// randomness fail at any point, messages are lost, repeated and changed, and
// accounts are opened anew: what leaves an account never has the chain and the
// counter of what left it before.
func TestNoCounterIsUsedTwice(t *testing.T) {
	runs, steps := 12, 500
	if testing.Short() {
		runs, steps = 3, 250
	}
	for seed := range runs {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { noReuse(t, uint64(seed), steps) })
	}
}

func noReuse(t *testing.T, seed uint64, steps int) {
	ctx := context.Background()
	f := &misfortune{Backend: store.NewMemory(), r: mathrand.New(mathrand.NewPCG(seed, 11))}
	t.Cleanup(random.Install(failingSource{f}))
	var talkers [2]*talker
	for i := range talkers {
		name := fmt.Sprintf("1555000%04d", i)
		a, err := signal.CreateAccount(ctx, f, name, signal.AccountOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.GenerateSignedPreKey(ctx, 1, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := a.GeneratePreKeys(ctx, 40); err != nil {
			t.Fatal(err)
		}
		talkers[i] = &talker{Account: a, addr: signal.Address{Name: name}}
	}
	f.on = true

	type spent struct {
		chain   string
		counter uint32
	}
	used := map[spent]string{} // to the ciphertext that used it
	sent, read, failed := 0, 0, 0
	mark := func(chain string, counter uint32, body []byte) {
		t.Helper()
		s := spent{chain, counter}
		if _, twice := used[s]; twice {
			t.Fatalf("counter %d of a chain was used twice", counter)
		}
		used[s] = string(body)
		sent++
	}
	out := func(c signal.Ciphertext, to *talker) {
		t.Helper()
		inner := c.Body
		if c.Type == signal.TypePreKey {
			m, err := signal.ParsePreKeySignalMessage(c.Body)
			if err != nil {
				t.Fatal(err)
			}
			mark(m.Message.RatchetKey.String(), m.Message.Counter, c.Body)
		} else {
			m, err := signal.ParseSignalMessage(inner)
			if err != nil {
				t.Fatal(err)
			}
			mark(m.RatchetKey.String(), m.Counter, c.Body)
		}
		to.inbox = append(to.inbox, parcel{typ: c.Type, body: c.Body})
	}
	for n := range steps {
		i := f.r.IntN(2)
		me, peer := talkers[i], talkers[1-i]
		mine := signal.SenderKeyName{Group: "120363000000000001@g.us", Sender: me.addr}
		var err error
		switch p := f.r.IntN(100); {
		case p < 6 || n == 0:
			var b *signal.Bundle
			ids, _ := peer.PreKeyIDs(ctx)
			id := uint32(0)
			if len(ids) > 0 {
				id = ids[f.r.IntN(len(ids))]
			}
			if b, err = peer.Bundle(ctx, id); err == nil {
				_, err = me.ProcessBundle(ctx, peer.addr, b)
			}
		case p < 10: // as after a crash
			var a *signal.Account
			if a, err = signal.OpenAccount(ctx, f, me.addr.Name, signal.OpenOptions{}); err == nil {
				me.Account = a
			}
		case p < 40:
			var c signal.Ciphertext
			if c, err = me.Encrypt(ctx, peer.addr, []byte("message")); err == nil {
				out(c, peer)
			}
		case p < 46:
			items := slices.Repeat([]signal.Outgoing{{To: peer.addr, Plaintext: []byte("many")}}, 3)
			var results []signal.EncryptResult
			if results, err = me.EncryptMany(ctx, items); err == nil {
				for _, r := range results {
					if r.Err == nil {
						out(r.Ciphertext, peer)
					}
				}
			}
		case p < 50:
			make := me.CreateSenderKey
			if f.r.IntN(2) == 0 {
				make = me.RotateSenderKey
			}
			var skdm []byte
			if skdm, err = make(ctx, mine); err == nil {
				_, err = peer.ProcessSenderKey(ctx, mine, skdm)
			}
		case p < 60:
			var body []byte
			if body, err = me.EncryptGroup(ctx, mine, []byte("to all")); err == nil {
				m, err := signal.ParseSenderKeyMessage(body)
				if err != nil {
					t.Fatal(err)
				}
				mark(fmt.Sprintf("%d of %d", m.KeyID, i), m.Iteration, body)
				peer.inbox = append(peer.inbox, parcel{group: true, body: body})
			}
		case len(me.inbox) > 0:
			k := f.r.IntN(len(me.inbox))
			if f.r.IntN(3) > 0 {
				k = 0 // mostly in order
			}
			m := me.inbox[k]
			body := slices.Clone(m.body)
			if f.r.IntN(6) == 0 {
				body[f.r.IntN(len(body))] ^= 1 << f.r.IntN(8)
			}
			if m.group {
				_, err = me.DecryptGroup(ctx, signal.SenderKeyName{Group: mine.Group, Sender: peer.addr}, body)
			} else {
				_, err = me.Decrypt(ctx, peer.addr, m.typ, body)
			}
			if err == nil {
				read++
			}
			if f.r.IntN(4) > 0 { // else it is repeated
				me.inbox = slices.Delete(me.inbox, k, k+1)
			}
		}
		if err != nil {
			failed++
		}
	}
	if sent < steps/10 || read < steps/20 || failed < steps/10 {
		t.Errorf("%d sent, %d read, %d failed: the schedule does not do what it is for", sent, read, failed)
	}
	// Nothing is broken for good.
	f.on = false
	for i, me := range talkers {
		peer := talkers[1-i]
		b, err := peer.Bundle(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := me.ProcessBundle(ctx, peer.addr, b); err != nil {
			t.Fatal(err)
		}
		c, err := me.Encrypt(ctx, peer.addr, []byte("at last"))
		if err != nil {
			t.Fatal(err)
		}
		if d, err := peer.Decrypt(ctx, me.addr, c.Type, c.Body); err != nil || string(d.Plaintext) != "at last" {
			t.Fatalf("%v", err)
		}
	}
}
