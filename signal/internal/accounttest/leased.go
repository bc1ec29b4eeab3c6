package accounttest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

var leased = signal.OpenOptions{Durability: signal.Leased}

// RunLeased runs tests of leased accounts, and those of Run that are about what
// callers see, whenever it is written.
func RunLeased(t *testing.T, open Open) {
	options = leased
	defer func() { options = signal.OpenOptions{} }()
	for _, c := range leasedTests {
		t.Run(c.name, func(t *testing.T) { c.f(t, open) })
	}
}

var leasedTests = []struct {
	name string
	f    func(*testing.T, Open)
}{
	{"Conversation", testConversation},
	{"PreKeyIDs", testPreKeyIDs},
	{"SignedPreKeys", testSignedPreKeys},
	{"Trust", testTrust},
	{"Records", testRecords},
	{"Group", testGroup},
	{"GroupTwice", testGroupTwice},
	{"GroupRecords", testGroupRecords},
	{"Forged", testForged},
	{"Malformed", testMalformed},
	{"MalformedGroup", testMalformedGroup},
	{"Interleaved", testInterleaved},
	{"GroupInterleaved", testGroupInterleaved},
	{"LeaseWrites", testLeaseWrites},
	{"LeaseClose", testLeaseClose},
	{"LeaseCrash", testLeaseCrash},
	{"LeaseFailedWrite", testLeaseFailedWrite},
	{"LeaseOwner", testLeaseOwner},
	{"LeaseEviction", testLeaseEviction},
	{"LeasePreKey", testLeasePreKey},
	{"LeaseDeletion", testLeaseDeletion},
	{"PreKeyWrap", testPreKeyWrap},
	{"RetryPreKey", testRetryPreKey},
	{"Rotation", testRotation},
	{"KeyFailures", testKeyFailures},
	{"KeyModel", testKeyModel},
	{"Devices", testDevices},
	{"BaseKeys", testBaseKeys},
	{"LIDs", testLIDs},
	{"MigrationMerge", testMigrationMerge},
	{"MigrationCopy", testMigrationCopy},
	{"MigrationConflict", testMigrationConflict},
	{"MigrationRace", testMigrationRace},
	{"LeaseMigration", testLeaseMigration},
	{"LeaseSweep", testLeaseSweep},
	{"LeaseUploads", testLeaseUploads},
	{"LeaseReads", testLeaseReads},
}

// crash has p's process end at once: another one takes the account over.
func (p *party) crash() {
	p.t.Helper()
	p.store = &Faulty{Backend: p.store.Backend}
	o := options
	o.TakeOver = true
	var err error
	if p.Account, err = signal.OpenAccount(p.t.Context(), p.store, p.addr.Name, o); err != nil {
		p.t.Fatal(err)
	}
}

// restart closes p's account and opens it again.
func (p *party) restart() {
	p.t.Helper()
	if err := p.Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	var err error
	if p.Account, err = signal.OpenAccount(p.t.Context(), p.store, p.addr.Name, options); err != nil {
		p.t.Fatal(err)
	}
}

// counter returns the counter of the next message to q.
func (p *party) counter(q *party) uint32 {
	p.t.Helper()
	info, err := p.SessionInfo(p.t.Context(), q.addr)
	if err != nil {
		p.t.Fatal(err)
	}
	return info.SenderCounter
}

// testLeaseWrites counts: 64 messages of a chain cost one write, a message that
// is received costs none, and what is received is written in the end.
func testLeaseWrites(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.distribute(bob)
	alice.say(bob, "the first of a chain")
	alice.store.counts()
	bob.store.counts()
	for range 640 {
		alice.say(bob, "text")
	}
	if r, w := alice.store.counts(); r != 0 || w > 10 {
		t.Errorf("640 messages took %d reads and %d writes", r, w)
	}
	if r, w := bob.store.counts(); r != 0 || w > 10 {
		t.Errorf("640 messages were received with %d reads and %d writes", r, w)
	}
	for range 640 {
		bob.decryptGroup(alice, alice.encryptGroup("text"), "text")
	}
	if r, w := alice.store.counts(); r != 0 || w > 10 {
		t.Errorf("640 group messages took %d reads and %d writes", r, w)
	}
	if err := bob.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	bob.store.counts()
	if err := bob.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, w := bob.store.counts(); w != 0 {
		t.Errorf("a second flush has written %d times", w)
	}
}

// testLeaseClose holds that a clean restart skips nothing and forgets nothing.
func testLeaseClose(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.distribute(bob)
	used := newKeySet(t)
	for round := range 6 {
		for range 1 + round*5 {
			c, _ := alice.say(bob, "text")
			used.add(c)
			body := alice.encryptGroup("text")
			used.addGroup(body)
			bob.decryptGroup(alice, body, "text")
		}
		next := alice.counter(bob)
		group, err := alice.SenderKeyInfo(t.Context(), alice.senderKey())
		if err != nil {
			t.Fatal(err)
		}
		alice.restart()
		bob.restart()
		if n := alice.counter(bob); n != next {
			t.Errorf("round %d: counter %d after a restart at %d", round, n, next)
		}
		if again, err := alice.SenderKeyInfo(t.Context(), alice.senderKey()); err != nil || again.Iteration != group.Iteration {
			t.Errorf("round %d: iteration %d after a restart at %d, %v", round, again.Iteration, group.Iteration, err)
		}
		for k, v := range alice.rows() {
			if s, err := signal.ParseSession([]byte(v)); k.Table == store.Sessions && err == nil {
				if ceiling, _, _ := s.Lease(); ceiling != 0 {
					t.Errorf("round %d: a lease up to %d is left", round, ceiling)
				}
			}
		}
		bob.say(alice, "back")
	}
	if info, err := bob.SessionInfo(t.Context(), alice.addr); err != nil || info.Skipped != 0 {
		t.Errorf("%d keys were skipped, %v", info.Skipped, err)
	}
}

// testLeaseCrash crashes one side after every number of messages: nothing is used
// twice, and what is skipped is bounded.
func testLeaseCrash(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.distribute(bob)
	used := newKeySet(t)
	var before uint32
	for round := range 70 {
		for range round % 7 {
			c, _ := alice.say(bob, "text")
			used.add(c)
			body := alice.encryptGroup("text")
			used.addGroup(body)
			bob.decryptGroup(alice, body, "text")
		}
		before = max(before, alice.counter(bob))
		in := bob.encrypt(alice, "received and not acknowledged")
		used.add(in)
		alice.decrypt(bob, in, "received and not acknowledged")
		alice.crash()
		if n := alice.counter(bob); n > before+64 {
			t.Errorf("round %d: counter %d after a crash at %d", round, n, before)
		}
		// The server delivers it again, and it is read again or was written.
		if _, err := alice.Decrypt(t.Context(), bob.addr, in.Type, in.Body); err != nil {
			wantError(t, "redelivery", err, signal.ErrDuplicate)
		}
		if round%5 == 3 {
			c, _ := bob.say(alice, "turn")
			used.add(c)
			c, _ = alice.say(bob, "turn")
			used.add(c)
		}
		if t.Failed() {
			return
		}
	}
	alice.talk(bob, 5)
}

// testLeaseFailedWrite makes writes fail before and after they took place:
// nothing leaves that waits for one, and all goes on afterwards.
func testLeaseFailedWrite(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	alice.distribute(bob)
	used := newKeySet(t)
	for round := range 30 {
		lost := round%2 == 0
		alice.store.hooks(func(_ ctxt, c call) error {
			if c.write && !lost {
				return errLocked
			}
			return nil
		}, func(_ ctxt, c call, err error) error {
			if c.write && lost {
				return errLocked
			}
			return err
		})
		failed := 0
		for range 100 {
			c, err := alice.Encrypt(ctx, bob.addr, []byte("text"))
			if err != nil {
				wantError(t, "encrypt", err, errLocked)
				failed++
			} else {
				used.add(c)
				bob.decrypt(alice, c, "text")
			}
			body, err := alice.EncryptGroup(ctx, alice.senderKey(), []byte("text"))
			if err != nil {
				wantError(t, "group encrypt", err, errLocked)
			} else {
				used.addGroup(body)
				bob.decryptGroup(alice, body, "text")
			}
		}
		if failed < 36 {
			t.Fatalf("round %d: %d of 100 messages waited for a write", round, failed)
		}
		in := bob.encrypt(alice, "in")
		used.add(in)
		alice.decrypt(bob, in, "in") // needs no write
		alice.store.heal()
		if round%3 == 0 {
			alice.crash()
			if _, err := alice.Decrypt(ctx, bob.addr, in.Type, in.Body); err != nil {
				wantError(t, "redelivery", err, signal.ErrDuplicate)
			}
		}
		c, _ := alice.say(bob, "on")
		used.add(c)
		body := alice.encryptGroup("on")
		used.addGroup(body)
		bob.decryptGroup(alice, body, "on")
		if t.Failed() {
			return
		}
	}
	alice.talk(bob, 3)
}

// testLeaseOwner holds that there is one owner, that a former one writes nothing
// any more, and that what it still sends is not sent again.
func testLeaseOwner(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	used := newKeySet(t)
	for _, o := range []signal.OpenOptions{leased, {}} {
		_, err := signal.OpenAccount(ctx, alice.store, alice.addr.Name, o)
		var owned *signal.OwnedError
		wantError(t, "second owner", err, store.ErrOwned)
		if !errors.As(err, &owned) || owned.Owner.Holder == "" {
			t.Errorf("second owner: %v", err)
		}
	}
	c, _ := alice.say(bob, "text")
	used.add(c)
	former := *alice
	alice.crash()
	sent := 0
	for range 200 {
		c, err := former.Encrypt(ctx, bob.addr, []byte("of the former owner"))
		if err != nil {
			wantError(t, "former owner", err, store.ErrOwned)
			continue
		}
		sent++
		used.add(c)
		bob.decrypt(alice, c, "of the former owner")
	}
	if sent > 64 {
		t.Errorf("the former owner has sent %d messages", sent)
	}
	wantError(t, "flush of the former owner", former.Flush(ctx), store.ErrOwned)
	wantError(t, "close of the former owner", former.Close(ctx), store.ErrOwned)
	for range 100 {
		c, _ := alice.say(bob, "text")
		used.add(c)
	}
	if err := alice.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := alice.Close(ctx); err != nil {
		t.Errorf("second close: %v", err)
	}
	_, err := alice.Encrypt(ctx, bob.addr, nil)
	wantError(t, "after close", err, signal.ErrAccountClosed)
	durable, err := signal.OpenAccount(ctx, alice.store, alice.addr.Name, signal.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	next := party{Account: durable, t: t, store: alice.store, addr: alice.addr}
	c, _ = next.say(bob, "durable")
	used.add(c)
	bob.say(&next, "back")
}

// testLeaseEviction has a cache that holds next to nothing: rows come and go, a
// row that comes back is exact, and Close leaves no lease even on those that are
// gone.
func testLeaseEviction(t *testing.T, open Open) {
	options.CacheBytes = 4 << 10
	defer func() { options.CacheBytes = 0 }()
	b, _ := open(t)
	alice := newParty(t, b, 1)
	used := newKeySet(t)
	peers := make([]*party, 12)
	for i := range peers {
		peers[i] = newParty(t, b, 10+i)
		alice.start(peers[i])
		alice.say(peers[i], "hello")
		peers[i].say(alice, "hello")
	}
	counters := make([]uint32, len(peers))
	for i := range counters {
		counters[i] = alice.counter(peers[i])
	}
	alice.store.counts()
	for round := range 40 {
		i := round * 7 % len(peers)
		c, _ := alice.say(peers[i], "text")
		used.add(c)
		if counters[i]++; counters[i] != alice.counter(peers[i]) {
			t.Fatalf("round %d: counter %d, want %d", round, alice.counter(peers[i]), counters[i])
		}
	}
	if r, _ := alice.store.counts(); r < 20 {
		t.Errorf("%d reads: nothing was evicted", r)
	}
	alice.restart()
	for i, p := range peers {
		if n := alice.counter(p); n != counters[i] {
			t.Errorf("counter %d after a restart at %d", n, counters[i])
		}
		c, _ := alice.say(p, "text")
		used.add(c)
		p.say(alice, "back")
	}
}

// testLeasePreKey holds that a prekey that was used up is not given out again
// before it is deleted on disk, and that it is not deleted on disk before the
// session that it went into is there.
func testLeasePreKey(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	alice, bob, carol := newParty(t, b, 1), newParty(t, b, 2), newParty(t, b, 3)
	keys := bob.bundle()
	var first []signal.Ciphertext
	for _, p := range []*party{alice, carol} {
		if _, err := p.ProcessBundle(ctx, bob.addr, keys); err != nil {
			t.Fatal(err)
		}
		first = append(first, p.encrypt(bob, "first"))
	}
	d := bob.decrypt(alice, first[0], "first")
	if !d.ConsumedPreKey || !d.NewSession {
		t.Errorf("%+v", d)
	}
	_, err := bob.Decrypt(ctx, carol.addr, first[1].Type, first[1].Body)
	wantError(t, "a prekey that was used up", err, signal.ErrPreKeyID)
	key := store.PreKey(keys.PreKeyID)
	if _, ok := bob.rows()[key]; !ok {
		t.Error("the prekey was deleted without its session")
	}
	bob.crash()
	bob.decrypt(alice, first[0], "first") // as the server delivers it again
	if err := bob.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	rows := bob.rows()
	if _, ok := rows[key]; ok {
		t.Error("the prekey is still there")
	}
	if _, ok := rows[store.Session(alice.addr.String())]; !ok {
		t.Error("the session is not there")
	}
	bob.crash()
	_, err = bob.Decrypt(ctx, alice.addr, first[0].Type, first[0].Body)
	wantError(t, "redelivery after the flush", err, signal.ErrDuplicate)
	_, err = bob.Decrypt(ctx, carol.addr, first[1].Type, first[1].Body)
	wantError(t, "a prekey that was used up, after a crash", err, signal.ErrPreKeyID)
	bob.say(alice, "answer")
	ids, err := bob.PreKeyIDs(ctx)
	if err != nil || len(ids) != 0 {
		t.Errorf("prekeys %v, %v", ids, err)
	}
}

// testLeaseDeletion holds that a deletion is on disk when it returns, that it is
// not undone by operations that were under way, and that one which fails has not
// happened.
func testLeaseDeletion(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	used := newKeySet(t)
	for round := range 20 {
		var wg sync.WaitGroup
		out := make([]signal.Ciphertext, 4)
		for i := range out {
			wg.Go(func() {
				var err error
				if out[i], err = alice.Encrypt(ctx, bob.addr, []byte("out")); err == nil {
					used.add(out[i])
				} else {
					wantError(t, "encrypt beside a deletion", err, signal.ErrNoSession)
				}
			})
		}
		wg.Go(func() {
			if err := alice.DeleteSession(ctx, bob.addr); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		wg.Wait()
		for range 2 {
			if ok, err := alice.HasSession(ctx, bob.addr); ok || err != nil {
				t.Fatalf("round %d: the session is back: %v, %v", round, ok, err)
			}
			if _, ok := alice.rows()[store.Session(bob.addr.String())]; ok {
				t.Fatalf("round %d: the row is there", round)
			}
			alice.crash()
		}
		alice.start(bob)
		c, _ := alice.say(bob, fmt.Sprint("anew ", round))
		used.add(c)
		bob.say(alice, "back")
		alice.store.hooks(func(_ ctxt, c call) error {
			if c.write {
				return errLocked
			}
			return nil
		}, nil)
		wantError(t, "delete", alice.DeleteSession(ctx, bob.addr), errLocked)
		alice.store.heal()
		c, _ = alice.say(bob, "still there")
		used.add(c)
	}
}
