package accounttest

import (
	"slices"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// testLeaseMigration moves sessions whose leases are ahead of them, and crashes:
// no key is used twice, and a migration that fails has not happened.
func testLeaseMigration(t *testing.T, open Open) {
	for _, both := range []bool{false, true} {
		alice, bob := established(t, open)
		lid := bob.at("100000000000002@lid")
		used := newKeySet(t)
		say := func(to *party, n int) {
			t.Helper()
			for range n {
				c, _ := alice.say(to, "text")
				used.add(c)
			}
		}
		say(bob, 5)
		if both {
			alice.start(lid)
			say(lid, 3)
			lid.say(alice, "back")
			say(lid, 3)
		}
		late := bob.encrypt(alice, "late")
		alice.store.hooks(func(_ ctxt, c call) error {
			if c.write {
				return errLocked
			}
			return nil
		}, nil)
		_, err := alice.MigrateToLID(t.Context(), bobMapping)
		wantError(t, "migration with a write that fails", err, errLocked)
		alice.store.heal()
		say(bob, 2)
		got := alice.migrate(bobMapping)
		if len(got.Devices) != 1 || got.Devices[0].Err != nil || got.Devices[0].Session == signal.MigrationNone {
			t.Fatalf("migration %+v", got.Devices)
		}
		rows := alice.rows()
		if _, ok := rows[store.Session(bob.addr.String())]; ok {
			t.Error("the row of the number is still on disk")
		}
		if _, ok := rows[store.Session(lid.addr.String())]; !ok {
			t.Error("the row of the LID is not on disk")
		}
		say(lid, 5)
		alice.crash()
		say(lid, 5)
		_, err = alice.Encrypt(t.Context(), bob.addr, []byte("x"))
		wantError(t, "under the number after a crash", err, signal.ErrNoSession)
		alice.decrypt(lid, late, "late")
		say(lid, 5)
		alice.restart()
		say(lid, 5)
		alice.talk(lid, 2)
		say(lid, 1)
	}
}

// testLeaseSweep: what a lease covers stays, and goes when the account was closed
// in between.
func testLeaseSweep(t *testing.T, open Open) {
	alice, bob := established(t, open)
	carol := newParty(t, bob.store.Backend, 3)
	alice.start(carol)
	alice.say(carol, "hello")
	carol.say(alice, "hello")
	alice.say(carol, "under a lease")
	carol.distribute(alice)
	live := signal.SweepOptions{Live: func(addr signal.Address) bool { return addr == bob.addr }}
	r := alice.sweep(live)
	if len(swept(r, store.Sessions)) != 0 || r.Leased != 1 || !slices.Equal(swept(r, store.SenderKeys), []signal.Address{carol.addr}) {
		t.Errorf("report %+v", r)
	}
	alice.say(carol, "still there")
	alice.restart()
	r = alice.sweep(live)
	if !slices.Equal(swept(r, store.Sessions), []signal.Address{carol.addr}) || r.Leased != 0 {
		t.Errorf("report %+v after a restart", r)
	}
	if ok, err := alice.HasSession(t.Context(), carol.addr); err != nil || ok {
		t.Errorf("a session that was swept: %v, %v", ok, err)
	}
	alice.crash()
	if ok, err := alice.HasSession(t.Context(), carol.addr); err != nil || ok {
		t.Errorf("a session that was swept, after a crash: %v, %v", ok, err)
	}
	alice.talk(bob, 2)
}

// testLeaseReads: what is not written later is read without a write.
func testLeaseReads(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	if _, err := alice.SetLIDs(ctx, []signal.LIDMapping{bobMapping}); err != nil {
		t.Fatal(err)
	}
	if err := alice.SaveBaseKey(ctx, bob.addr, "3EB0A", tomorrow()); err != nil {
		t.Fatal(err)
	}
	if err := alice.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		alice.say(bob, "text")
		alice.store.counts()
		if got, err := alice.ResolveLIDs(ctx, []signal.Address{bob.addr}); err != nil || got[0].Name != bobMapping.LID {
			t.Errorf("address %v, %v", got, err)
		}
		if same, err := alice.HasBaseKey(ctx, bob.addr, "3EB0A"); err != nil || !same {
			t.Errorf("the base key is another one: %v", err)
		}
		if s, err := alice.SignedPreKeyStatus(ctx); err != nil || !s.Exists {
			t.Errorf("signed prekeys %+v, %v", s, err)
		}
		if _, w := alice.store.counts(); w != 0 {
			t.Errorf("reading took %d writes", w)
		}
	}
}

// testLeaseUploads: marks of prekeys survive a crash.
func testLeaseUploads(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.toUpload(10)
	if err := alice.MarkUploaded(t.Context(), []uint32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	alice.say(bob, "text")
	alice.crash()
	alice.wantPool("after a crash", 3, 7)
	if got := preKeyIDs(alice.toUpload(8)); got[0] != 4 || got[7] != 11 {
		t.Errorf("offered %v", got)
	}
	// One that is used up is offered no more, though the row is still there.
	alice.use(50, 4)
	if got := preKeyIDs(alice.toUpload(2)); got[0] != 5 {
		t.Errorf("offered %v", got)
	}
	first, err := alice.RetryPreKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	alice.use(51, first.ID)
	next, err := alice.RetryPreKey(t.Context())
	if err != nil || next.ID == first.ID {
		t.Errorf("prekey %d after %d was used up: %v", next.ID, first.ID, err)
	}
}
