package accounttest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// tomorrow is later than any day on which a test has written.
func tomorrow() time.Time { return time.Now().Add(48 * time.Hour) }

func testUsage(t *testing.T, open Open) {
	ctx := t.Context()
	began := time.Now().UTC().Truncate(24 * time.Hour)
	alice, bob := established(t, open)
	carol := newParty(t, bob.store.Backend, 3)
	alice.start(carol)
	alice.start(bob) // the first session is archived
	alice.say(bob, "hello")
	bob.encrypt(alice, "lost")
	bob.encrypt(alice, "lost")
	bob.say(alice, "hello")
	bob.distribute(alice)
	alice.distribute(bob)
	bob.encryptGroup("lost")
	alice.decryptGroup(bob, bob.encryptGroup("read"), "read")
	if _, err := alice.GeneratePreKeys(ctx, 10); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.SetLIDs(ctx, []signal.LIDMapping{bobMapping}); err != nil {
		t.Fatal(err)
	}
	if err := alice.SaveBaseKey(ctx, bob.addr, "3EB0A", time.Now()); err != nil {
		t.Fatal(err)
	}
	info, err := alice.SenderKeyInfo(ctx, alice.senderKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.MarkSenderKeyDevices(ctx, alice.senderKey(), info.KeyID, []signal.Address{bob.addr}); err != nil {
		t.Fatal(err)
	}

	u, err := alice.Usage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := map[store.Table]*signal.RowUsage{
		store.Identities: &u.Identities, store.Sessions: &u.Sessions, store.PreKeys: &u.PreKeys,
		store.SignedPreKeys: &u.SignedPreKeys, store.SenderKeys: &u.SenderKeys,
		store.SenderKeyDevices: &u.SenderKeyDevices, store.LIDs: &u.LIDs, store.BaseKeys: &u.BaseKeys,
	}
	rows := alice.rows()
	total := int64(0)
	for table, got := range want {
		var have signal.RowUsage
		for k, v := range rows {
			if k.Table == table {
				have.Rows++
				have.Bytes += int64(len(v))
			}
		}
		if *got != have || have.Rows == 0 {
			t.Errorf("%v: %+v, want %+v", table, *got, have)
		}
		total += have.Bytes
	}
	if u.Bytes() != total || u.Archived != 1 || u.Pending != 1 || u.SkippedKeys != 3 || u.Unreadable != 0 {
		t.Errorf("usage %+v of %d bytes, want %d", u, u.Bytes(), total)
	}

	all, err := alice.AddressUsages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var addrs []signal.Address
	for _, one := range all {
		addrs = append(addrs, one.Addr)
		if again, err := alice.AddressUsage(ctx, one.Addr); err != nil || again != one {
			t.Errorf("usage %+v, and %+v by itself: %v", one, again, err)
		}
		if one.LastUse.Before(began) || one.LastUse.After(time.Now()) || !one.LastUse.Equal(one.LastUse.Truncate(24*time.Hour)) {
			t.Errorf("last use on %v", one.LastUse)
		}
	}
	if !slices.Equal(addrs, []signal.Address{alice.addr, bob.addr, carol.addr}) {
		t.Fatalf("usage of %v", addrs)
	}
	own, of, pending := all[0], all[1], all[2]
	if own.Session || own.SenderKeys != 1 || own.Identity {
		t.Errorf("usage of our own address: %+v", own)
	}
	if !of.Session || of.Archived != 1 || of.Pending || !of.Identity || of.SenderKeys != 1 || of.SkippedKeys != 3 || of.SessionBytes == 0 || of.SenderKeyBytes == 0 {
		t.Errorf("usage of bob: %+v", of)
	}
	if !pending.Session || !pending.Pending || pending.SenderKeys != 0 || pending.Archived != 0 {
		t.Errorf("usage of carol: %+v", pending)
	}

	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if (k.Table == store.Sessions || k.Table == store.SenderKeys) && r.Found {
			r.Value = r.Value[:len(r.Value)/2]
		}
		return r
	})
	if u, err := alice.Usage(ctx); err != nil || u.Unreadable != 4 || u.Sessions.Rows != 2 {
		t.Errorf("usage with damaged rows: %+v, %v", u, err)
	}
	alice.store.heal()
	for what, do := range map[string]func(context.Context) error{
		"usage":     func(ctx context.Context) error { _, err := alice.Usage(ctx); return err },
		"addresses": func(ctx context.Context) error { _, err := alice.AddressUsages(ctx); return err },
		"address":   func(ctx context.Context) error { _, err := alice.AddressUsage(ctx, bob.addr); return err },
	} {
		alice.failEverywhere(what, func(ctx context.Context) (any, error) { return true, do(ctx) })
	}
}

// swept returns the addresses of the rows of a table that were removed.
func swept(r signal.SweepReport, table store.Table) (addrs []signal.Address) {
	for _, row := range r.Removed {
		if row.Table == table {
			addrs = append(addrs, row.Addr)
		}
	}
	return addrs
}

func (p *party) sweep(o signal.SweepOptions) signal.SweepReport {
	p.t.Helper()
	r, err := p.Sweep(p.t.Context(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// testSweep: a sweep removes what it was asked to, and nothing that is in use.
func testSweep(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	carol, dora := newParty(t, bob.store.Backend, 3), newParty(t, bob.store.Backend, 4)
	alice.start(carol)
	alice.say(carol, "hello")
	carol.say(alice, "hello")
	alice.start(dora) // not answered
	for _, p := range []*party{bob, carol, dora} {
		p.distribute(alice)
	}
	alice.distribute(bob)

	alice.store.counts()
	alice.unchanged("sweeps that ask for nothing", func() {
		if r := alice.sweep(signal.SweepOptions{}); len(r.Removed) != 0 {
			t.Errorf("removed %+v", r.Removed)
		}
		if r := alice.sweep(signal.SweepOptions{Identities: true}); len(r.Removed) != 0 {
			t.Errorf("removed %+v", r.Removed)
		}
		if r := alice.sweep(signal.SweepOptions{Before: time.Now().Add(-24 * time.Hour)}); len(r.Removed) != 0 || r.Pending != 0 {
			t.Errorf("removed %+v of what was used today", r.Removed)
		}
		if r := alice.sweep(signal.SweepOptions{Live: func(signal.Address) bool { return true }, Identities: true}); len(r.Removed) != 0 {
			t.Errorf("removed %+v of live devices", r.Removed)
		}
	})
	if _, w := alice.store.counts(); w != 0 {
		t.Errorf("nothing was removed in %d writes", w)
	}

	// Carol and dora are gone; dora may have our first message.
	before := alice.rows()
	live := func(addr signal.Address) bool { return addr == bob.addr }
	r := alice.sweep(signal.SweepOptions{Live: live})
	if !slices.Equal(swept(r, store.Sessions), []signal.Address{carol.addr}) || !slices.Equal(swept(r, store.SenderKeys), []signal.Address{carol.addr, dora.addr}) ||
		len(swept(r, store.Identities)) != 0 || r.Pending != 1 || r.Own != 1 || r.Leased != 0 || r.Unreadable != 0 {
		t.Errorf("report %+v", r)
	}
	after, bytes := alice.rows(), int64(0)
	for _, row := range r.Removed {
		k := store.Session(row.Addr.String())
		if row.Table == store.SenderKeys {
			k = store.SenderKey(signal.SenderKeyName{Group: row.Group, Sender: row.Addr}.String())
		}
		if _, ok := after[k]; ok || len(before[k]) != row.Bytes {
			t.Errorf("%v of %d bytes is reported, there: %v", row.Table, row.Bytes, ok)
		}
		bytes += int64(row.Bytes)
	}
	if len(before)-len(after) != len(r.Removed) || r.Bytes != bytes {
		t.Errorf("%d rows of %d bytes were removed, %d of %d reported", len(before)-len(after), bytes, len(r.Removed), r.Bytes)
	}
	r = alice.sweep(signal.SweepOptions{Live: live, Identities: true})
	if got := swept(r, store.Identities); !slices.Equal(got, []signal.Address{carol.addr}) || len(r.Removed) != 1 {
		t.Errorf("removed %+v", r.Removed)
	}
	alice.talk(bob, 1)
	alice.decryptGroup(bob, bob.encryptGroup("x"), "x")
	dora.decrypt(alice, alice.encrypt(dora, "the pending session stayed"), "the pending session stayed")

	// A row that does not say when it was used is not old.
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if (k.Table == store.Sessions || k.Table == store.SenderKeys) && r.Found {
			r.Value = r.Value[5:] // the day
		}
		return r
	})
	if r := alice.sweep(signal.SweepOptions{Before: tomorrow()}); len(r.Removed) != 0 {
		t.Errorf("removed %+v of an age that is not known", r.Removed)
	}
	if u, err := alice.AddressUsage(ctx, bob.addr); err != nil || !u.LastUse.IsZero() || !u.Session {
		t.Errorf("last use on %v: %v", u.LastUse, err)
	}
	alice.store.heal()

	// By age: all was used by tomorrow, but what is in use stays.
	r = alice.sweep(signal.SweepOptions{Before: tomorrow()})
	if !slices.Equal(swept(r, store.Sessions), []signal.Address{bob.addr}) || !slices.Equal(swept(r, store.SenderKeys), []signal.Address{bob.addr}) || r.Pending != 1 || r.Own != 1 {
		t.Errorf("report %+v", r)
	}
	bob.decryptGroup(alice, alice.encryptGroup("our own key stayed"), "our own key stayed")
	_, err := alice.Encrypt(ctx, bob.addr, []byte("x"))
	wantError(t, "a session that was swept", err, signal.ErrNoSession)

	// What cannot be read is not taken for old or dead.
	alice.start(bob)
	alice.say(bob, "hello")
	bob.say(alice, "hello")
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k.Table == store.Sessions && r.Found {
			r.Value = r.Value[:len(r.Value)/2]
		}
		return r
	})
	if r := alice.sweep(signal.SweepOptions{Live: func(signal.Address) bool { return false }}); len(r.Removed) != 0 || r.Unreadable != 2 {
		t.Errorf("report %+v with damaged rows", r)
	}
	alice.store.heal()
	alice.talk(bob, 1)
	alice.failEverywhere("sweep", func(ctx context.Context) (any, error) {
		r, err := alice.Sweep(ctx, signal.SweepOptions{Before: tomorrow()})
		return len(r.Removed) == 0, err
	})
}

// testSweepBounds: transactions are bounded, a failure keeps what was done and
// says so, and what comes into use meanwhile stays.
func testSweepBounds(t *testing.T, open Open) {
	alice, bob := established(t, open)
	rec, err := alice.ExportSession(t.Context(), bob.addr, signal.FormatSigcore)
	if err != nil {
		t.Fatal(err)
	}
	const devices = 150
	imported := deviceOf(1000, 0)
	for i := range devices {
		if err := alice.ImportSession(t.Context(), deviceOf(1000+i, 0), signal.FormatSigcore, rec); err != nil {
			t.Fatal(err)
		}
	}
	if u, err := alice.AddressUsage(t.Context(), imported); err != nil || u.LastUse.IsZero() {
		t.Errorf("an imported session was used on %v: %v", u.LastUse, err)
	}
	live := func(addr signal.Address) bool { return addr == bob.addr }
	writes, most := 0, 0
	alice.store.hooks(func(_ ctxt, c call) error {
		if c.write {
			if writes++; writes == 2 {
				return errLocked
			}
			most = max(most, len(c.keys))
		}
		return nil
	}, nil)
	r, err := alice.Sweep(t.Context(), signal.SweepOptions{Live: live})
	wantError(t, "a sweep whose second write fails", err, errLocked)
	if len(r.Removed) == 0 || len(r.Removed) != most {
		t.Errorf("%d rows are reported after a write of %d", len(r.Removed), most)
	}
	more := alice.sweep(signal.SweepOptions{Live: live})
	if len(r.Removed)+len(more.Removed) != devices || most > 64 {
		t.Errorf("%d and %d rows were removed, at most %d at once", len(r.Removed), len(more.Removed), most)
	}
	alice.store.heal()
	alice.talk(bob, 1)

	// A sweep by age while the session is in use: it goes or stays whole.
	for range steps(4, 1) {
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := alice.Sweep(context.Background(), signal.SweepOptions{Before: tomorrow()}); err != nil {
				t.Error(err)
			}
		})
		for range 20 {
			c, err := alice.Encrypt(context.Background(), bob.addr, []byte("x"))
			if errors.Is(err, signal.ErrNoSession) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := bob.Decrypt(context.Background(), alice.addr, c.Type, c.Body); err != nil {
				t.Fatal(err)
			}
		}
		wg.Wait()
		alice.start(bob)
		alice.say(bob, "hello")
		bob.say(alice, "hello")
	}
}
