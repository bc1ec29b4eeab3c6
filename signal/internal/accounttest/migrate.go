package accounttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// at returns p as others see it at another address.
func (p *party) at(name string) *party {
	q := *p
	q.addr = signal.Address{Name: name}
	return &q
}

// migrate has p move a phone number to a LID.
func (p *party) migrate(m signal.LIDMapping) signal.LIDMigration {
	p.t.Helper()
	got, err := p.MigrateToLID(p.t.Context(), m)
	if err != nil {
		p.t.Fatal(err)
	}
	if got.LIDMapping != m {
		p.t.Error("the result is of another mapping")
	}
	return got
}

// named counts the rows of p whose names contain text.
func (p *party) named(text string) (n int) {
	for k := range p.rows() {
		if k.Table != store.LIDs && strings.Contains(k.Name, text) {
			n++
		}
	}
	return n
}

var bobMapping = signal.LIDMapping{PN: "15550000002@c.us", LID: "100000000000002@lid"}

func testLIDs(t *testing.T, open Open) {
	ctx := t.Context()
	b, reopen := open(t)
	alice := newParty(t, b, 1)
	set := func(want int, m ...signal.LIDMapping) {
		t.Helper()
		if n, err := alice.SetLIDs(ctx, m); err != nil || n != want {
			t.Errorf("%d mappings changed, want %d: %v", n, want, err)
		}
	}
	names := []string{"15550000002@c.us", "", "100000000000002@lid", "15550000003@c.us", "100000000000003@lid", "15550000002@c.us"}
	counterparts := func(what string, want ...string) {
		t.Helper()
		if got, err := alice.Counterparts(ctx, names); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q: %v", what, got, want, err)
		}
	}
	counterparts("at first", "", "", "", "", "", "")
	set(2, bobMapping, signal.LIDMapping{PN: names[3], LID: names[4]})
	counterparts("two users", names[2], "", names[0], names[4], names[3], names[2])
	alice.store.counts()
	set(0, bobMapping, bobMapping)
	if r, w := alice.store.counts(); r != 1 || w != 0 {
		t.Errorf("a mapping that is there took %d reads and %d writes", r, w)
	}
	alice.store.Backend = reopen()
	// Bob gets a new LID, and then carol's number.
	set(1, signal.LIDMapping{PN: names[0], LID: "100000000000009@lid"})
	counterparts("a new LID", "100000000000009@lid", "", "", names[4], names[3], "100000000000009@lid")
	set(1, signal.LIDMapping{PN: names[3], LID: "100000000000009@lid"})
	counterparts("another number", "", "", "", "100000000000009@lid", "", "")
	set(2, signal.LIDMapping{PN: names[3], LID: names[2]}, signal.LIDMapping{PN: names[0], LID: names[2]})
	counterparts("two in one call", names[2], "", names[0], "", "", names[2])

	var addrs, want []signal.Address
	for from, to := range map[string]string{
		"15550000002@c.us":      "100000000000002@lid",
		"15550000002:5@c.us":    "100000000000002:5@lid",
		"15550000002:99@hosted": "100000000000002:99@hosted.lid",
		"100000000000002:5@lid": "100000000000002:5@lid",
		"15550000004:5@c.us":    "15550000004:5@c.us",
		"15550000002:5@g.us":    "15550000002:5@g.us",
		"15550000002":           "15550000002",
		"":                      "",
	} {
		addrs = append(addrs, signal.Address{Name: from, Device: 3})
		want = append(want, signal.Address{Name: to, Device: 3})
	}
	alice.store.counts()
	if got, err := alice.ResolveLIDs(ctx, addrs); err != nil || !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v: %v", got, want, err)
	}
	if r, _ := alice.store.counts(); r != 1 {
		t.Errorf("addresses were resolved with %d reads", r)
	}

	alice.unchanged("mappings of other names", func() {
		for _, m := range []signal.LIDMapping{
			{},
			{PN: names[0]},
			{LID: names[2]},
			{PN: names[2], LID: names[0]},
			{PN: "15550000005:1@c.us", LID: "100000000000005@lid"},
			{PN: "15550000005@c.us", LID: "100000000000005:1@lid"},
			{PN: "15550000005@s.whatsapp.net", LID: "100000000000005@lid"},
			{PN: "@c.us", LID: "@lid"},
			{PN: "15550000005@", LID: "100000000000005@lid"},
		} {
			_, err := alice.SetLIDs(ctx, []signal.LIDMapping{bobMapping, m})
			wantError(t, "mapping", err, signal.ErrMalformed)
			_, err = alice.MigrateToLID(ctx, m)
			wantError(t, "migration", err, signal.ErrMalformed)
		}
	})
	alice.failEverywhere("set", func(ctx context.Context) (any, error) {
		n, err := alice.SetLIDs(ctx, []signal.LIDMapping{{PN: "15550000005@c.us", LID: "100000000000005@lid"}})
		return n == 0, err
	})
}

// testMigration: what was kept under a phone number goes on under the LID.
func testMigration(t *testing.T, open Open) {
	ctx := t.Context()
	b, _ := open(t)
	alice, bob, phone2 := newParty(t, b, 1), newParty(t, b, 2), newParty(t, b, 3)
	stranger := newParty(t, b, 4)
	companion := phone2.at("15550000002:5@c.us")
	hosted := newParty(t, b, 5).at("15550000002:99@hosted")
	longer := stranger.at("155500000021@c.us") // begins as bob does
	for _, p := range []*party{bob, companion, hosted, longer} {
		alice.start(p)
		alice.say(p, "hello")
		p.say(alice, "hello yourself")
	}
	companion.distribute(alice)
	bob.distribute(alice)
	other := signal.SenderKeyName{Group: "120363000000000002@g.us", Sender: bob.addr}
	skdm, err := bob.CreateSenderKey(ctx, other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alice.ProcessSenderKey(ctx, other, skdm); err != nil {
		t.Fatal(err)
	}
	early, late, lateGroup := bob.encrypt(alice, "early"), bob.encrypt(alice, "late"), bob.encryptGroup("to the group")
	alice.decrypt(bob, late, "late")
	if found, err := alice.HasUser(ctx, bobMapping.PN); err != nil || !found {
		t.Errorf("bob is known: %v, %v", found, err)
	}

	alice.store.counts()
	got := alice.migrate(bobMapping)
	if _, w := alice.store.counts(); w != 1 {
		t.Errorf("a migration took %d writes", w)
	}
	var names []string
	keys := 0
	for _, d := range got.Devices {
		if d.Session != signal.MigrationMoved || d.IdentityConflict || d.Dropped != 0 || d.Err != nil {
			t.Errorf("migration %+v", d)
		}
		names = append(names, d.From.Name, d.To.Name)
		keys += d.SenderKeys
	}
	if want := []string{
		"15550000002:5@c.us", "100000000000002:5@lid",
		"15550000002:99@hosted", "100000000000002:99@hosted.lid",
		"15550000002@c.us", "100000000000002@lid",
	}; !slices.Equal(names, want) || keys != 3 {
		t.Errorf("%d sender keys of the devices %q", keys, names)
	}
	if n := alice.named("15550000002@") + alice.named("15550000002:"); n != 0 {
		t.Errorf("%d rows are left under the number", n)
	}
	if c, err := alice.Counterparts(ctx, []string{bobMapping.PN}); err != nil || c[0] != bobMapping.LID {
		t.Errorf("the number is mapped to %q: %v", c, err)
	}
	for name, want := range map[string]bool{bobMapping.PN: false, bobMapping.LID: true, "155500000021@c.us": true} {
		if found, err := alice.HasUser(ctx, name); err != nil || found != want {
			t.Errorf("a user is known: %v, want %v: %v", found, want, err)
		}
	}

	lid := bob.at("100000000000002@lid")
	alice.decrypt(lid, early, "early")
	alice.decryptGroup(lid, lateGroup, "to the group")
	alice.talk(lid, 2)
	alice.talk(companion.at("100000000000002:5@lid"), 2)
	alice.talk(hosted.at("100000000000002:99@hosted.lid"), 2)
	alice.talk(longer, 2)
	if key, ok, err := alice.RemoteIdentity(ctx, lid.addr); err != nil || !ok || key != bob.Identity().PublicKey() {
		t.Errorf("the identity under the LID: %v, %v", ok, err)
	}

	// Again: nothing to do and nothing done.
	alice.store.counts()
	alice.unchanged("a second migration", func() {
		if got := alice.migrate(bobMapping); len(got.Devices) != 0 {
			t.Errorf("a second migration: %+v", got.Devices)
		}
	})
	if _, w := alice.store.counts(); w != 0 {
		t.Errorf("a second migration took %d writes", w)
	}
}

// testMigrationMerge: with sessions under both names no message is lost and no
// key is used twice.
func testMigrationMerge(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	lid := bob.at("100000000000002@lid")
	bob.distribute(alice)
	oldGroup := bob.encryptGroup("old")
	old := alice.sendingChain(bob)
	underWay := []signal.Ciphertext{bob.encrypt(alice, "first"), bob.encrypt(alice, "second")}
	// Another session, under the LID, and a sender key that is ahead.
	alice.start(lid)
	alice.say(lid, "from the LID")
	lid.say(alice, "to the LID")
	if _, err := bob.RotateSenderKey(ctx, bob.senderKey()); err != nil {
		t.Fatal(err)
	}
	skdm, err := bob.CreateSenderKey(ctx, bob.senderKey())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alice.ProcessSenderKey(ctx, lid.senderKey(), skdm); err != nil {
		t.Fatal(err)
	}
	current := alice.sendingChain(lid)

	got := alice.migrate(bobMapping)
	if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationMerged || got.Devices[0].SenderKeys != 1 || got.Devices[0].Dropped != 0 {
		t.Fatalf("migration %+v", got.Devices)
	}
	if !bytes.Equal(alice.sendingChain(lid).ratchet, current.ratchet) {
		t.Error("the session of the LID is no longer the current one")
	}
	alice.decryptGroup(lid, oldGroup, "old")
	alice.decryptGroup(lid, bob.encryptGroup("new"), "new")
	alice.decrypt(lid, underWay[1], "second")
	// It is current now. What it sends continues where it was.
	if now := alice.sendingChain(lid); bytes.Equal(now.ratchet, old.ratchet) && now.counter < old.counter {
		t.Errorf("counter %d after %d", now.counter, old.counter)
	}
	alice.decrypt(lid, underWay[0], "first")
	_, err = alice.Decrypt(ctx, lid.addr, underWay[0].Type, underWay[0].Body)
	wantError(t, "a message twice", err, signal.ErrDuplicate)
	alice.talk(lid, 3)
	if info, err := alice.SessionInfo(ctx, lid.addr); err != nil || !info.Exists || info.Archived != 1 {
		t.Errorf("session %+v, %v", info, err)
	}
}

// testMigrationCopy: the same session under both names does not use its keys
// twice.
func testMigrationCopy(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	lid := bob.at("100000000000002@lid")
	alice.talk(bob, 1)
	rec, err := alice.ExportSession(ctx, bob.addr, signal.FormatSigcore)
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.ImportSession(ctx, lid.addr, signal.FormatSigcore, rec); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		alice.say(bob, fmt.Sprint("under the number ", i))
	}
	used := alice.sendingChain(bob)
	got := alice.migrate(bobMapping)
	if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationMerged {
		t.Fatalf("migration %+v", got.Devices)
	}
	if info, err := alice.SessionInfo(ctx, lid.addr); err != nil || info.Archived != 0 {
		t.Errorf("a copy was archived: %+v, %v", info, err)
	}
	if now := alice.sendingChain(lid); !bytes.Equal(now.ratchet, used.ratchet) || now.counter < used.counter {
		t.Errorf("counter %d after %d were used", now.counter, used.counter)
	}
	alice.talk(lid, 2)

	// The copy has gone on through ratchet steps: the other one's chain is not
	// used any more.
	rec, err = alice.ExportSession(ctx, lid.addr, signal.FormatSigcore)
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.ImportSession(ctx, bob.addr, signal.FormatSigcore, rec); err != nil {
		t.Fatal(err)
	}
	alice.talk(bob, 2)
	alice.migrate(bobMapping)
	_, err = alice.Encrypt(ctx, lid.addr, []byte("x"))
	wantError(t, "a session that was copied", err, signal.ErrSenderClosed)
}

// testMigrationConflict: another identity under each name.
func testMigrationConflict(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	again := newParty(t, bob.store.Backend, 99).at("100000000000002@lid")
	alice.start(again)
	alice.say(again, "hello")
	again.say(alice, "hello")
	stale := bob.encrypt(alice, "from the old device")

	alice.SetTrust(signal.TrustPinned)
	got := alice.migrate(bobMapping)
	if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationNone || !errors.Is(got.Devices[0].Err, signal.ErrUntrustedIdentity) {
		t.Fatalf("migration with pinned identities: %+v", got.Devices)
	}
	alice.say(bob, "it goes on")
	alice.SetTrust(signal.TrustAlways)
	got = alice.migrate(bobMapping)
	if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationDrop || !got.Devices[0].IdentityConflict || got.Devices[0].Dropped == 0 || got.Devices[0].Err != nil {
		t.Fatalf("migration: %+v", got.Devices)
	}
	_, err := alice.Decrypt(ctx, again.addr, stale.Type, stale.Body)
	wantError(t, "a message of the old device", err, signal.ErrBadMAC)
	if key, _, err := alice.RemoteIdentity(ctx, again.addr); err != nil || key != again.Identity().PublicKey() {
		t.Errorf("the identity of the LID was replaced: %v", err)
	}
	alice.talk(again, 2)
	if n := alice.named("15550000002@"); n != 0 {
		t.Errorf("%d rows are left under the number", n)
	}
}

// testMigrationRows: what cannot be read stays, and our own sender key too.
func testMigrationRows(t *testing.T, open Open) {
	alice, bob := established(t, open)
	lid := bob.at("100000000000002@lid")
	bob.distribute(alice)
	alice.distribute(bob)
	alice.unchanged("failures", func() {
		alice.failEverywhere("migration", func(ctx context.Context) (any, error) {
			m, err := alice.MigrateToLID(ctx, bobMapping)
			return m.Devices == nil, err
		})
	})
	for _, table := range []store.Table{store.Sessions, store.Identities} {
		alice.store.replace(func(k store.Key, r store.Record) store.Record {
			if k.Table == table && r.Found && strings.HasPrefix(k.Name, "15550000002") {
				r.Value = r.Value[:len(r.Value)/2]
			}
			return r
		})
		got := alice.migrate(bobMapping)
		if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationNone || !errors.Is(got.Devices[0].Err, signal.ErrCorruptRecord) {
			t.Errorf("migration of a damaged row: %+v", got.Devices)
		}
	}
	alice.store.heal()
	alice.say(bob, "not moved")
	// The sender key went, as it was sound.
	alice.decryptGroup(lid, bob.encryptGroup("moved"), "moved")
	bob.distribute(alice) // and comes again under the number
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k.Table == store.SenderKeys && r.Found && strings.Contains(k.Name, "15550000002") {
			r.Value = r.Value[:len(r.Value)/2]
		}
		return r
	})
	got := alice.migrate(bobMapping)
	if len(got.Devices) != 1 || got.Devices[0].Session != signal.MigrationMoved || got.Devices[0].SenderKeys != 0 || !errors.Is(got.Devices[0].Err, signal.ErrCorruptRecord) {
		t.Errorf("migration of a damaged sender key: %+v", got.Devices)
	}
	alice.store.heal()
	alice.talk(lid, 1)

	own := signal.LIDMapping{PN: alice.addr.Name, LID: "100000000000001@lid"}
	if got := alice.migrate(own); len(got.Devices) != 0 {
		t.Errorf("our own sender key was moved: %+v", got.Devices)
	}
	bob.decryptGroup(alice, alice.encryptGroup("still ours"), "still ours")
}

// testMigrationRace: a migration among sends and receives under both names.
func testMigrationRace(t *testing.T, open Open) {
	for range steps(6, 2) {
		alice, bob := established(t, open)
		lid := bob.at("100000000000002@lid")
		var wg sync.WaitGroup
		sent := make(chan signal.Ciphertext, 100)
		for _, to := range []*party{bob, lid} {
			wg.Go(func() {
				for range 10 {
					c, err := alice.Encrypt(context.Background(), to.addr, []byte("x"))
					if err == nil {
						sent <- c
					} else if !errors.Is(err, signal.ErrNoSession) {
						t.Error(err)
					}
				}
			})
		}
		wg.Go(func() {
			for range 3 {
				if _, err := alice.MigrateToLID(context.Background(), bobMapping); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Wait()
		close(sent)
		n := 0
		for c := range sent {
			n++
			if _, err := bob.Decrypt(t.Context(), alice.addr, c.Type, c.Body); err != nil {
				t.Errorf("message %d: %v", n, err)
			}
		}
		alice.talk(lid, 1)
	}
}
