package accounttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

func testOpen(t *testing.T, open Open) {
	ctx := t.Context()
	b, reopen := open(t)
	_, err := signal.OpenAccount(ctx, b, "a", options)
	wantError(t, "open of an absent account", err, store.ErrNoAccount)
	identity, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	given, err := signal.CreateAccount(ctx, b, "a", signal.AccountOptions{Identity: identity, RegistrationID: 4711})
	if err != nil {
		t.Fatal(err)
	}
	if given.Identity() != identity || given.RegistrationID() != 4711 {
		t.Error("an account is not what it was asked to be")
	}
	_, err = signal.CreateAccount(ctx, b, "a", signal.AccountOptions{})
	wantError(t, "second account of a name", err, store.ErrAccountExists)
	made, err := signal.CreateAccount(ctx, b, "b", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.RegistrationID() == 0 || made.RegistrationID() > 16380 {
		t.Errorf("generated registration id %d", made.RegistrationID())
	}
	b = reopen()
	for name, want := range map[string]*signal.Account{"a": given, "b": made} {
		got, err := signal.OpenAccount(ctx, b, name, options)
		if err != nil {
			t.Fatal(err)
		}
		if got.Identity().PublicKey() != want.Identity().PublicKey() || got.RegistrationID() != want.RegistrationID() {
			t.Error("an account came back as another one")
		}
		if !slices.Equal(got.Identity().PrivateKey().Bytes(), want.Identity().PrivateKey().Bytes()) {
			t.Error("an account came back with another private key")
		}
	}

	// The account row, cut at every byte and with something behind it.
	stored, err := b.OpenAccount(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	id, row := stored.ID, stored.Row.Value
	bad := [][]byte{append(slices.Clone(row), 0x28, 0x01), append(slices.Clone(row), row...)}
	for n := range row {
		bad = append(bad, row[:n:n])
	}
	for _, rec := range bad {
		var batch store.Batch
		batch.PutAccount(rec)
		if _, err := b.Apply(ctx, id, &batch); err != nil {
			t.Fatal(err)
		}
		_, err := signal.OpenAccount(ctx, b, "a", options)
		wantError(t, fmt.Sprintf("account row of %d bytes of %d", len(rec), len(row)), err, signal.ErrCorruptRecord)
	}
}

func testConversation(t *testing.T, open Open) {
	for _, oneTime := range []bool{true, false} {
		alice, bob := pair(t, open)
		bundle := bob.bundle()
		bundle.HasPreKey = oneTime
		changed, err := alice.ProcessBundle(t.Context(), bob.addr, bundle)
		if err != nil || changed {
			t.Fatalf("process bundle: %v, %v", changed, err)
		}
		for i := range 3 {
			c, d := alice.say(bob, fmt.Sprint("unanswered ", i))
			if c.Type != signal.TypePreKey {
				t.Errorf("unanswered message %d has type %d", i, c.Type)
			}
			if d.NewSession != (i == 0) || d.ConsumedPreKey != (oneTime && i == 0) || d.IdentityChanged {
				t.Errorf("unanswered message %d: %+v", i, d)
			}
			if d.Identity != alice.Identity().PublicKey() {
				t.Error("the sender's identity is another one")
			}
		}
		if c, _ := bob.say(alice, "answer"); c.Type != signal.TypeSignal {
			t.Errorf("answer has type %d", c.Type)
		}
		if c, _ := alice.say(bob, "answered"); c.Type != signal.TypeSignal {
			t.Errorf("answered message has type %d", c.Type)
		}
		alice.talk(bob, 20)
		alice.say(bob, "") // an empty plaintext is one
		for _, p := range []*party{alice, bob} {
			if err := p.store.intact(); err != nil {
				t.Error(err)
			}
		}
	}
}

func testRestart(t *testing.T, open Open) {
	b, reopen := open(t)
	alice, bob := newParty(t, b, 1), newParty(t, b, 2)
	alice.start(bob)
	restart := func() {
		t.Helper()
		b = reopen()
		for _, p := range []*party{alice, bob} {
			p.store.Backend = b
			var err error
			if p.Account, err = signal.OpenAccount(t.Context(), p.store, p.addr.Name, options); err != nil {
				t.Fatal(err)
			}
		}
	}
	restart()
	late := alice.encrypt(bob, "late")
	restart()
	alice.say(bob, "first")
	restart()
	bob.say(alice, "second")
	restart()
	onTheWay := bob.encrypt(alice, "on the way")
	restart()
	alice.decrypt(bob, onTheWay, "on the way")
	bob.decrypt(alice, late, "late")
	_, err := bob.Decrypt(t.Context(), alice.addr, late.Type, late.Body)
	wantError(t, "message that was read before the restart", err, signal.ErrDuplicate)
	for range 5 {
		restart()
		alice.talk(bob, 2)
	}
	if ids, err := bob.PreKeyIDs(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("prekeys left: %v, %v", ids, err)
	}
}

func testBundles(t *testing.T, open Open) {
	b, _ := open(t)
	ctx := t.Context()
	alice := newParty(t, b, 1)
	var (
		items   []signal.AddressedBundle
		parties []*party
	)
	for i := range 6 {
		p := newParty(t, b, 10+i)
		parties = append(parties, p)
		items = append(items, signal.AddressedBundle{Addr: p.addr, Bundle: p.bundle()})
	}
	items[2].Bundle.Signature[5] ^= 1
	alice.store.counts()
	res, err := alice.ProcessBundles(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	if r, w := alice.store.counts(); r != 1 || w != 1 {
		t.Errorf("6 bundles took %d reads and %d writes", r, w)
	}
	for i, r := range res {
		if i == 2 {
			wantError(t, "bundle with a bad signature", r.Err, signal.ErrBadSignature)
		} else if r.Err != nil || r.IdentityChanged {
			t.Errorf("bundle %d: %+v", i, r)
		}
		ok, err := alice.HasSession(ctx, items[i].Addr)
		if err != nil || ok != (i != 2) {
			t.Errorf("has session %d: %v, %v", i, ok, err)
		}
	}
	var addrs []signal.Address
	for i := range items {
		addrs = append(addrs, items[i].Addr)
	}
	has, err := alice.HasSessions(ctx, addrs)
	if err != nil || !slices.Equal(has, []bool{true, true, false, true, true, true}) {
		t.Errorf("has sessions: %v, %v", has, err)
	}
	alice.say(parties[5], "hello")
	parties[5].say(alice, "hello")
	alice.unchanged("a refused bundle", func() {
		bad := parties[5].bundle()
		bad.SignedPreKey[0] ^= 1
		_, err := alice.ProcessBundle(ctx, parties[5].addr, bad)
		wantError(t, "bundle with another signed prekey", err, signal.ErrBadSignature)
	})
	alice.say(parties[5], "still the same session")

	// A second session; the first is archived and still reads what is late.
	late := parties[5].encrypt(alice, "late")
	alice.start(parties[5])
	alice.say(parties[5], "second session")
	alice.decrypt(parties[5], late, "late")
}

func testPreKeyConsumed(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := pair(t, open)
	bundle := bob.bundle()
	if _, err := alice.ProcessBundle(ctx, bob.addr, bundle); err != nil {
		t.Fatal(err)
	}
	c := alice.encrypt(bob, "hello")
	has := func() bool {
		t.Helper()
		ids, err := bob.PreKeyIDs(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(ids, bundle.PreKeyID)
	}
	tampered := slices.Clone(c.Body)
	tampered[len(tampered)-10] ^= 1 // in the MAC of the message inside, before the two ids
	bob.unchanged("a tampered message", func() {
		if _, err := bob.Decrypt(ctx, alice.addr, c.Type, tampered); err == nil {
			t.Error("a tampered message was read")
		}
	})
	for _, table := range []store.Table{store.Sessions, store.PreKeys} {
		bob.store.hooks(func(_ ctxt, c call) error {
			if c.write && c.has(table) {
				return errLocked
			}
			return nil
		}, nil)
		bob.unchanged("a write that fails", func() {
			_, err := bob.Decrypt(ctx, alice.addr, c.Type, c.Body)
			wantError(t, "decrypt with a write that fails", err, errLocked)
		})
	}
	bob.store.heal()
	if !has() {
		t.Fatal("the prekey is gone before a message was read")
	}

	// The session and the deletion of the prekey are one write.
	bob.store.counts()
	bob.decrypt(alice, c, "hello")
	if r, w := bob.store.counts(); r != 1 || w != 1 {
		t.Errorf("decrypt took %d reads and %d writes", r, w)
	}
	if has() {
		t.Error("the prekey is still there")
	}
	// The next message names the same prekey; the session is known.
	alice.say(bob, "again")

	// Another session from the same prekey is refused, and says why.
	carol := newParty(t, bob.store.Backend, 3)
	if _, err := carol.ProcessBundle(ctx, bob.addr, bundle); err != nil {
		t.Fatal(err)
	}
	c = carol.encrypt(bob, "me too")
	bob.unchanged("a prekey that is used up", func() {
		_, err := bob.Decrypt(ctx, carol.addr, c.Type, c.Body)
		wantError(t, "message with a prekey that is used up", err, signal.ErrPreKeyID)
	})
	// So is one from a signed prekey that is not there.
	bundle = bob.bundle()
	bundle.SignedPreKeyID = 99
	if _, err := carol.ProcessBundle(ctx, bob.addr, bundle); err != nil {
		t.Fatal(err)
	}
	c = carol.encrypt(bob, "me too")
	bob.unchanged("an unknown signed prekey", func() {
		_, err := bob.Decrypt(ctx, carol.addr, c.Type, c.Body)
		wantError(t, "message with an unknown signed prekey", err, signal.ErrSignedPreKeyID)
	})
}

// testPreKeyRace has three senders use the same one-time prekey at the same
// time: while one message is under way the others wait, and exactly one of
// them gets through.
func testPreKeyRace(t *testing.T, open Open) {
	b, _ := open(t)
	bob := newParty(t, b, 1)
	senders := []*party{newParty(t, b, 2), newParty(t, b, 3), newParty(t, b, 4)}
	for range 3 {
		bundle := bob.bundle()
		done := make(chan error, len(senders))
		entered, release := park(bob, func(c call) bool { return !c.write && c.has(store.PreKeys) })
		for i, s := range senders {
			if _, err := s.ProcessBundle(t.Context(), bob.addr, bundle); err != nil {
				t.Fatal(err)
			}
			c := s.encrypt(bob, "hello")
			if i == 0 {
				bob.store.counts()
			}
			go func() {
				_, err := bob.Decrypt(context.Background(), s.addr, c.Type, c.Body)
				done <- err
			}()
			<-entered
		}
		time.Sleep(10 * time.Millisecond)
		if r, _ := bob.store.counts(); r != 1 {
			t.Errorf("%d messages loaded the prekey at a time", r)
		}
		close(release)
		read := 0
		for range senders {
			if err := <-done; err == nil {
				read++
			} else if !errors.Is(err, signal.ErrPreKeyID) {
				t.Errorf("the loser's error is %v", err)
			}
		}
		if read != 1 {
			t.Errorf("%d senders used one prekey", read)
		}
		bob.store.heal()
	}
}

func testPreKeyIDs(t *testing.T, open Open) {
	ctx := t.Context()
	alice, _ := pair(t, open)
	alice.store.counts()
	keys, err := alice.GeneratePreKeys(ctx, 812)
	if err != nil || len(keys) != 812 {
		t.Fatalf("%d prekeys, %v", len(keys), err)
	}
	if _, w := alice.store.counts(); w != 1 {
		t.Errorf("812 prekeys took %d writes", w)
	}
	for i, k := range keys {
		if k.ID != uint32(i+1) {
			t.Fatalf("prekey %d has id %d", i, k.ID)
		}
	}
	b, err := alice.Bundle(ctx, keys[700].ID)
	if err != nil || !b.HasPreKey || b.PreKeyID != keys[700].ID || b.PreKey != keys[700].Public {
		t.Errorf("bundle with prekey %d: %+v, %v", keys[700].ID, b, err)
	}
	if b, err = alice.Bundle(ctx, 0); err != nil || b.HasPreKey {
		t.Errorf("bundle without prekey: %+v, %v", b, err)
	}
	_, err = alice.Bundle(ctx, 5000)
	wantError(t, "bundle with an absent prekey", err, signal.ErrNoPreKey)
	more, err := alice.GeneratePreKeys(ctx, 2)
	if err != nil || more[0].ID != 813 {
		t.Errorf("next prekeys: %v, %v", more, err)
	}
	if keys, err := alice.GeneratePreKeys(ctx, 0); err != nil || len(keys) != 0 {
		t.Errorf("no prekeys: %v, %v", keys, err)
	}

	// Ids go on after the largest one that was stored, by whomever; 0 can be
	// stored and is not given.
	var own []*signal.PreKey
	for _, id := range []uint32{816, 817, 0} {
		k, err := signal.GeneratePreKey(id)
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, k)
	}
	if err := alice.SetPreKeys(ctx, own...); err != nil {
		t.Fatal(err)
	}
	more, err = alice.GeneratePreKeys(ctx, 3)
	if err != nil || more[0].ID != 818 || more[1].ID != 819 || more[2].ID != 820 {
		t.Errorf("prekeys after ids that were stored: %v, %v", more, err)
	}
	ids, err := alice.PreKeyIDs(ctx)
	if err != nil || len(ids) != 820 || ids[0] != 0 || !slices.IsSorted(ids) {
		t.Errorf("%d prekey ids, %v", len(ids), err)
	}
	// An id that was used up is not given again.
	_, bob := pair(t, open)
	for i := range 3 {
		alice, keys := newParty(t, bob.store.Backend, 50+i), bob.bundle()
		if _, err := alice.ProcessBundle(ctx, bob.addr, keys); err != nil {
			t.Fatal(err)
		}
		alice.say(bob, "hello")
		if keys.PreKeyID != uint32(i+1) {
			t.Errorf("prekey id %d after %d that were used up", keys.PreKeyID, i)
		}
	}
	_, err = alice.GeneratePreKeys(ctx, signal.MaxPreKeyID)
	wantError(t, "more prekeys than ids", err, signal.ErrPreKeyIDsInUse)

	// A failed write gives nothing away and nothing is stored.
	alice.store.hooks(func(_ ctxt, c call) error {
		if c.write {
			return errLocked
		}
		return nil
	}, nil)
	alice.unchanged("a write that fails", func() {
		keys, err := alice.GeneratePreKeys(ctx, 3)
		wantError(t, "prekeys with a write that fails", err, errLocked)
		if keys != nil {
			t.Error("prekeys that are not stored were returned")
		}
	})
	alice.store.heal()

	// Two callers at once get different ids.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := alice.GeneratePreKeys(ctx, 5); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if ids, err = alice.PreKeyIDs(ctx); err != nil || len(ids) != 860 {
		t.Errorf("%d prekey ids, %v", len(ids), err)
	}
}

func testSignedPreKeys(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	none, err := signal.CreateAccount(ctx, b, "none", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = none.Bundle(ctx, 0)
	wantError(t, "bundle without signed prekey", err, signal.ErrNoPreKey)

	alice, bob := newParty(t, b, 1), newParty(t, b, 2)
	alice.start(bob)
	old := alice.encrypt(bob, "to the old signed prekey")
	k, err := bob.GenerateSignedPreKey(ctx, 2, 1234)
	if err != nil {
		t.Fatal(err)
	}
	bundle := bob.bundle()
	if bundle.SignedPreKeyID != 2 || bundle.SignedPreKey != k.Public || bundle.Verify() != nil {
		t.Errorf("the bundle has signed prekey %d", bundle.SignedPreKeyID)
	}
	bob.decrypt(alice, old, "to the old signed prekey")
	if err := bob.RemoveSignedPreKey(ctx, 2); err == nil {
		t.Error("the current signed prekey was removed")
	}
	if err := bob.RemoveSignedPreKey(ctx, 1); err != nil {
		t.Error(err)
	}
	if ids, err := bob.SignedPreKeyIDs(ctx); err != nil || !slices.Equal(ids, []uint32{2}) {
		t.Errorf("signed prekeys %v, %v", ids, err)
	}
	alice.start(bob)
	alice.say(bob, "to the new one")
}

// testRottenBundles: what is wrong with three of ten devices keeps no message
// from the other seven.
func testRottenBundles(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	alice := newParty(t, b, 1)
	var (
		bundles  []signal.AddressedBundle
		messages []signal.Outgoing
		parties  []*party
	)
	for i := range 10 {
		p := newParty(t, b, 10+i)
		parties = append(parties, p)
		bundles = append(bundles, signal.AddressedBundle{Addr: p.addr, Bundle: p.bundle()})
		messages = append(messages, signal.Outgoing{To: p.addr, Plaintext: fmt.Append(nil, "message ", i)})
	}
	const wrongSignature, noSignedPreKey, damagedRow = 2, 5, 8
	bundles[wrongSignature].Bundle.Signature[40] ^= 1
	bundles[noSignedPreKey].Bundle.SignedPreKey = signal.PublicKey{}
	bundles[noSignedPreKey].Bundle.Signature = [signal.SignatureSize]byte{}
	alice.start(parties[damagedRow])
	damaged := store.Session(parties[damagedRow].addr.String())
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k == damaged && r.Found {
			r.Value = r.Value[:len(r.Value)/2]
		}
		return r
	})
	started, err := alice.ProcessBundles(ctx, bundles)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := alice.EncryptMany(ctx, messages)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range parties {
		switch i {
		case wrongSignature, noSignedPreKey:
			wantError(t, "start of a session", started[i].Err, signal.ErrBadSignature)
			wantError(t, "message without a session", sent[i].Err, signal.ErrNoSession)
		case damagedRow:
			wantError(t, "start beside a damaged row", started[i].Err, signal.ErrCorruptRecord)
			wantError(t, "message with a damaged row", sent[i].Err, signal.ErrCorruptRecord)
		default:
			if started[i].Err != nil || sent[i].Err != nil {
				t.Fatalf("device %d: %v, %v", i, started[i].Err, sent[i].Err)
			}
			p.decrypt(alice, sent[i].Ciphertext, fmt.Sprint("message ", i))
		}
		if sent[i].Err != nil && sent[i].Body != nil {
			t.Errorf("device %d has both an error and a message", i)
		}
	}
}

func testEncryptMany(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	alice := newParty(t, b, 1)
	parties := []*party{newParty(t, b, 10), newParty(t, b, 11), newParty(t, b, 12), newParty(t, b, 13), newParty(t, b, 14)}
	for i, p := range parties {
		if i != 1 {
			alice.start(p)
		}
	}
	// The row of one is damaged.
	damaged := store.Session(parties[3].addr.String())
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k == damaged {
			r.Value = r.Value[:len(r.Value)-1]
		}
		return r
	})
	order := []int{4, 1, 0, 3, 2, 4, 0, 4}
	var items []signal.Outgoing
	for i, n := range order {
		items = append(items, signal.Outgoing{To: parties[n].addr, Plaintext: fmt.Append(nil, "message ", i)})
	}
	alice.store.counts()
	res, err := alice.EncryptMany(ctx, items)
	if err != nil {
		t.Fatal(err)
	}
	if r, w := alice.store.counts(); r != 1 || w != 1 {
		t.Errorf("%d messages took %d reads and %d writes", len(items), r, w)
	}
	for i, n := range order {
		switch n {
		case 1:
			wantError(t, "no session", res[i].Err, signal.ErrNoSession)
		case 3:
			wantError(t, "damaged row", res[i].Err, signal.ErrCorruptRecord)
		default:
			if res[i].Err != nil {
				t.Fatalf("message %d: %v", i, res[i].Err)
			}
			parties[n].decrypt(alice, res[i].Ciphertext, fmt.Sprint("message ", i))
		}
		if res[i].Err != nil && res[i].Body != nil {
			t.Errorf("message %d has both an error and a body", i)
		}
	}
	alice.store.heal()
	alice.say(parties[3], "the damage is mended")

	alice.store.hooks(func(_ ctxt, c call) error {
		if c.write {
			return errLocked
		}
		return nil
	}, nil)
	alice.unchanged("a write that fails", func() {
		res, err := alice.EncryptMany(ctx, items)
		wantError(t, "many with a write that fails", err, errLocked)
		if res != nil {
			t.Error("ciphertexts left although the write failed")
		}
	})
	alice.store.heal()
	if res, err := alice.EncryptMany(ctx, nil); err != nil || len(res) != 0 {
		t.Errorf("nothing to encrypt: %v, %v", res, err)
	}
}

func testTrust(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	key, ok, err := alice.RemoteIdentity(ctx, bob.addr)
	if err != nil || !ok || key != bob.Identity().PublicKey() {
		t.Errorf("identity of bob: %v, %v", ok, err)
	}
	// Bob registers again: another account behind the same address.
	again := newParty(t, bob.store.Backend, 99)
	again.addr = bob.addr

	known, offered := bob.Identity().PublicKey(), again.Identity().PublicKey()
	untrusted := func(what string, err error) {
		t.Helper()
		wantError(t, what, err, signal.ErrUntrustedIdentity)
		var ue *signal.UntrustedIdentityError
		if !errors.As(err, &ue) || ue.Addr != bob.addr || ue.Known == ue.Offered || ue.Known != known || ue.Offered != offered {
			t.Errorf("%s: the error does not name the address and the keys", what)
		}
	}
	again.start(alice)
	fromNew := again.encrypt(alice, "it is me")
	toNew := again.bundle()
	alice.SetTrust(signal.TrustPinned)
	alice.unchanged("an untrusted identity", func() {
		_, err := alice.Decrypt(ctx, bob.addr, fromNew.Type, fromNew.Body)
		untrusted("decrypt", err)
		_, err = alice.ProcessBundle(ctx, bob.addr, toNew)
		untrusted("process bundle", err)
	})
	alice.talk(bob, 2) // the pinned identity goes on

	// A session whose identity is not the pinned one sends nothing either.
	other, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.SetIdentity(ctx, bob.addr, other.PublicKey()); err != nil {
		t.Fatal(err)
	}
	fromBob := bob.encrypt(alice, "from the old identity")
	known, offered = other.PublicKey(), bob.Identity().PublicKey()
	alice.unchanged("an untrusted session", func() {
		_, err := alice.Encrypt(ctx, bob.addr, []byte("x"))
		untrusted("encrypt", err)
		_, err = alice.Decrypt(ctx, bob.addr, fromBob.Type, fromBob.Body)
		untrusted("decrypt in a session", err)
	})
	if err := alice.SetIdentity(ctx, bob.addr, bob.Identity().PublicKey()); err != nil {
		t.Fatal(err)
	}
	alice.decrypt(bob, fromBob, "from the old identity")

	// The first identity of an address is taken.
	carol := newParty(t, bob.store.Backend, 3)
	carol.SetTrust(signal.TrustPinned)
	carol.start(bob)
	carol.say(bob, "hello")
	bob.say(carol, "hello")

	// The user says yes: SetIdentity, or the policy that takes all and reports.
	alice.SetTrust(signal.TrustAlways)
	late := bob.encrypt(alice, "late")
	if d := alice.decrypt(again, fromNew, "it is me"); !d.IdentityChanged || !d.NewSession || d.Identity != again.Identity().PublicKey() {
		t.Errorf("new identity: %+v", d)
	} else if want := (signal.IdentityChange{Addr: bob.addr, Old: bob.Identity().PublicKey(), New: again.Identity().PublicKey()}); d.Change == nil || *d.Change != want {
		t.Error("the change is not reported with its keys")
	}
	alice.SetTrust(signal.TrustPinned)
	alice.talk(again, 2)
	alice.SetTrust(signal.TrustAlways)
	// What an archived session reads reports nothing.
	if d := alice.decrypt(bob, late, "late"); d.IdentityChanged || d.Change != nil || d.Identity != bob.Identity().PublicKey() {
		t.Errorf("late message: %+v", d)
	}
	alice.start(again)
	alice.say(again, "hello")
	// The old identity once more, by a bundle: reported as well. Then nothing
	// changes any more.
	started, err := alice.ProcessBundles(ctx, []signal.AddressedBundle{{Addr: bob.addr, Bundle: bob.bundle()}})
	if err != nil || started[0].Err != nil || !started[0].IdentityChanged || started[0].Change == nil || started[0].Change.New != bob.Identity().PublicKey() {
		t.Errorf("bundle with another identity: %+v, %v", started, err)
	}
	changed, err := alice.ProcessBundle(ctx, bob.addr, bob.bundle())
	if err != nil || changed {
		t.Errorf("bundle with the same identity: %v, %v", changed, err)
	}
	if _, d := alice.say(bob, "hello"); d.IdentityChanged {
		t.Error("a change was reported of an identity that has not changed")
	}
	// Nor does a sender miss it.
	if err := alice.SetIdentity(ctx, bob.addr, other.PublicKey()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		sent, err := alice.EncryptMany(ctx, []signal.Outgoing{{To: bob.addr, Plaintext: []byte("x")}})
		if err != nil || sent[0].Err != nil || (sent[0].Change != nil) != want {
			t.Errorf("sending reports a change: %v, want %v: %v", sent[0].Change != nil, want, err)
		}
	}
}

func testRecords(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	for _, f := range []signal.RecordFormat{signal.FormatSigcore, signal.FormatSignalProtobuf} {
		skipped := bob.encrypt(alice, "skipped")
		bob.say(alice, "not skipped")
		before, err := alice.SessionInfo(ctx, bob.addr)
		if err != nil || !before.Exists || before.Skipped != 1 || before.RemoteIdentity != bob.Identity().PublicKey() || before.RemoteRegistrationID != bob.RegistrationID() {
			t.Errorf("%s: info %+v, %v", f, before, err)
		}
		data, err := alice.ExportSession(ctx, bob.addr, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := alice.DeleteSession(ctx, bob.addr); err != nil {
			t.Fatal(err)
		}
		if err := alice.DeleteSession(ctx, bob.addr); err != nil {
			t.Errorf("second deletion: %v", err)
		}
		if ok, err := alice.HasSession(ctx, bob.addr); ok || err != nil {
			t.Errorf("session after deletion: %v, %v", ok, err)
		}
		if info, err := alice.SessionInfo(ctx, bob.addr); err != nil || info != (signal.SessionInfo{}) {
			t.Errorf("info after deletion: %+v, %v", info, err)
		}
		_, err = alice.ExportSession(ctx, bob.addr, f)
		wantError(t, "export of nothing", err, signal.ErrNoSession)
		if _, ok, err := alice.RemoteIdentity(ctx, bob.addr); !ok || err != nil {
			t.Errorf("a deleted session took the identity with it: %v", err)
		}
		alice.unchanged("a bad import", func() {
			for n := range data {
				err := alice.ImportSession(ctx, bob.addr, f, data[:n])
				wantError(t, fmt.Sprintf("%s: import of %d bytes of %d", f, n, len(data)), err, signal.ErrCorruptRecord)
			}
			wantError(t, "import of an unknown format", alice.ImportSession(ctx, bob.addr, "xml", data), signal.ErrMalformed)
		})
		if err := alice.ImportSession(ctx, bob.addr, f, data); err != nil {
			t.Fatal(err)
		}
		again, err := alice.ExportSession(ctx, bob.addr, f)
		if err != nil || string(again) != string(data) {
			t.Errorf("%s: the export of an import is another record (%v)", f, err)
		}
		after, err := alice.SessionInfo(ctx, bob.addr)
		if err != nil || after.SenderCounter != before.SenderCounter || after.Skipped != before.Skipped || after.Archived != before.Archived {
			t.Errorf("%s: info %+v after import, %+v before", f, after, before)
		}
		alice.decrypt(bob, skipped, "skipped")
		alice.talk(bob, 2)
	}
	_, err := alice.ExportSession(ctx, bob.addr, "xml")
	wantError(t, "export of an unknown format", err, signal.ErrMalformed)
}
