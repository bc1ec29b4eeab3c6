package accounttest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// process opens p's account once more as another process does: the two share
// nothing but what is stored.
func (p *party) process() *party {
	p.t.Helper()
	q := &party{t: p.t, store: &Faulty{Backend: p.store.Backend}, addr: p.addr}
	var err error
	if q.Account, err = signal.OpenAccount(p.t.Context(), q.store, p.addr.Name, options); err != nil {
		p.t.Fatal(err)
	}
	return q
}

// once calls f after the next read of p, before what was read is used.
func (p *party) once(f func()) {
	var first sync.Once
	p.store.hooks(nil, func(_ ctxt, c call, err error) error {
		if !c.write {
			first.Do(f)
		}
		return err
	})
}

// testProcesses has one process write what another one has just read: the other
// one gets a conflict, does its operation over, and nothing is used twice.
func testProcesses(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	second := alice.process()
	used := newKeySet(t)
	skdm := alice.distribute(bob)
	for _, c := range []struct {
		name     string
		f, other func()
	}{
		{"encrypt", func() { c, _ := alice.say(bob, "one"); used.add(c) }, func() { c, _ := second.say(bob, "two"); used.add(c) }},
		{"decrypt", func() { bob.say(alice, "one") }, func() { c, _ := second.say(bob, "two"); used.add(c) }},
		{"decrypt twice", func() { bob.say(alice, "one") }, func() { bob.say(second, "two") }},
		{"group", func() {
			body := alice.encryptGroup("one")
			used.addGroup(body)
			bob.decryptGroup(alice, body, "one")
		}, func() {
			body := second.encryptGroup("two")
			used.addGroup(body)
			bob.decryptGroup(alice, body, "two")
		}},
		{"bundle", func() { alice.start(bob) }, func() { c, _ := second.say(bob, "two"); used.add(c) }},
		{"bundle twice", func() { alice.start(bob) }, func() { second.start(bob); c, _ := second.say(bob, "two"); used.add(c) }},
		{"deletion", func() { c, _ := alice.say(bob, "one"); used.add(c) }, func() {
			if err := second.DeleteSession(ctx, bob.addr); err != nil {
				t.Error(err)
			}
			second.start(bob)
		}},
		{"send group", func() {
			res, err := alice.SendGroup(ctx, &signal.GroupSend{
				Name: alice.senderKey(), Plaintext: []byte("one"), Distribute: []signal.Address{bob.addr},
				Wrap: func(b []byte) ([]byte, error) { return b, nil },
			})
			if err != nil {
				t.Error(err)
				return
			}
			used.add(res.Recipients[0].Ciphertext)
			used.addGroup(res.Body)
			bob.decryptGroup(alice, res.Body, "one")
		}, func() {
			body := second.encryptGroup("two")
			used.addGroup(body)
			bob.decryptGroup(alice, body, "two")
			c, _ := second.say(bob, "three")
			used.add(c)
		}},
	} {
		alice.once(c.other)
		c.f()
		alice.store.heal()
		c, _ := alice.say(bob, c.name)
		used.add(c)
		bob.say(second, "and back")
	}
	if d, err := bob.ProcessSenderKey(ctx, alice.senderKey(), skdm); err != nil || d != signal.DistributionKnown {
		t.Errorf("distribution message: %v, %v", d, err)
	}
}

// testProcessesDuplicate has two processes read one message, and answer one
// prekey: one of them does.
func testProcessesDuplicate(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	second := bob.process()
	in := alice.encrypt(bob, "in")
	bob.once(func() { second.decrypt(alice, in, "in") })
	_, err := bob.Decrypt(ctx, alice.addr, in.Type, in.Body)
	wantError(t, "a message that another process has read", err, signal.ErrDuplicate)
	bob.store.heal()

	b, _ := open(t)
	carol, dave := newParty(t, b, 3), newParty(t, b, 4)
	keys := bob.bundle()
	var first []signal.Ciphertext
	for _, p := range []*party{carol, dave} {
		if _, err := p.ProcessBundle(ctx, bob.addr, keys); err != nil {
			t.Fatal(err)
		}
		first = append(first, p.encrypt(bob, "first"))
	}
	bob.once(func() { second.decrypt(dave, first[1], "first") })
	_, err = bob.Decrypt(ctx, carol.addr, first[0].Type, first[0].Body)
	wantError(t, "a prekey that another process has used up", err, signal.ErrPreKeyID)
	bob.store.heal()
	bob.say(dave, "the session is everybody's")
}

// testProcessesLose has another process always be first: the operation ends with
// a typed conflict and gives nothing away.
func testProcessesLose(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	second := alice.process()
	used := newKeySet(t)
	n := 0
	alice.store.hooks(nil, func(_ ctxt, c call, err error) error {
		if !c.write {
			n++
			c, _ := second.say(bob, "first")
			used.add(c)
		}
		return err
	})
	c, err := alice.Encrypt(ctx, bob.addr, []byte("never"))
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Tables) != 1 || conflict.Tables[0] != store.Sessions || c.Body != nil {
		t.Errorf("%v with a body of %d bytes", err, len(c.Body))
	}
	if n < 8 {
		t.Errorf("tried %d times", n)
	}
	alice.store.heal()
	c, _ = alice.say(bob, "now")
	used.add(c)
}

// testProcessesInterleaved has three processes work on one account at once.
func testProcessesInterleaved(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	alice.distribute(bob)
	members := []*party{alice, alice.process(), alice.process()}
	used := newKeySet(t)
	ids := map[uint32]bool{}
	var mu sync.Mutex
	for round := range steps(20, 4) {
		out := make([]signal.Ciphertext, 6)
		groups := make([][]byte, len(out))
		var wg sync.WaitGroup
		for i := range out {
			p := members[i%len(members)]
			in := bob.encrypt(alice, fmt.Sprint("in ", i))
			wg.Go(func() {
				var err error
				if out[i], err = p.Encrypt(ctx, bob.addr, []byte("out")); err != nil {
					t.Errorf("round %d: encrypt: %v", round, err)
				}
				p.decrypt(bob, in, fmt.Sprint("in ", i))
				if groups[i], err = p.EncryptGroup(ctx, alice.senderKey(), []byte("out")); err != nil {
					t.Errorf("round %d: encrypt: %v", round, err)
				}
				keys, err := p.GeneratePreKeys(ctx, 3)
				if err != nil {
					t.Errorf("round %d: prekeys: %v", round, err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, k := range keys {
					if ids[k.ID] {
						t.Errorf("round %d: two processes have minted prekey %d", round, k.ID)
					}
					ids[k.ID] = true
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		for i := range out {
			used.add(out[i])
			used.addGroup(groups[i])
			bob.decrypt(alice, out[i], "out")
			bob.decryptGroup(alice, groups[i], "out")
		}
	}
}
