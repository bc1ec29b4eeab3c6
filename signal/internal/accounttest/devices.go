package accounttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// deviceOf returns the address of a device of a made-up user.
func deviceOf(user, device int) signal.Address {
	if device == 0 {
		return signal.Address{Name: fmt.Sprintf("1555000%04d@c.us", user)}
	}
	return signal.Address{Name: fmt.Sprintf("1555000%04d:%d@c.us", user, device)}
}

func (p *party) wantDevices(what string, name signal.SenderKeyName, want ...signal.Address) uint32 {
	p.t.Helper()
	d, err := p.SenderKeyDevices(p.t.Context(), name)
	slices.SortFunc(want, func(a, b signal.Address) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	if err != nil || !slices.Equal(d.Devices, want) {
		p.t.Errorf("%s: %d devices hold the sender key, want %d: %v", what, len(d.Devices), len(want), err)
	}
	for _, addr := range want {
		if !d.Has(addr) {
			p.t.Errorf("%s: a device does not hold the sender key", what)
		}
	}
	return d.KeyID
}

// testDevices: marks are about one sender key, and a rotation voids them.
func testDevices(t *testing.T, open Open) {
	ctx := t.Context()
	alice, _ := pair(t, open)
	name := alice.senderKey()
	other := signal.SenderKeyName{Group: "120363000000000002@g.us", Sender: alice.addr}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if d, err := alice.SenderKeyDevices(ctx, name); err != nil || d.Exists || len(d.Devices) > 0 {
		t.Errorf("devices without a sender key: %+v, %v", d, err)
	}
	check(alice.MarkSenderKeyDevices(ctx, name, 0, []signal.Address{deviceOf(1, 0)}))
	for _, n := range []signal.SenderKeyName{name, other} {
		if _, err := alice.CreateSenderKey(ctx, n); err != nil {
			t.Fatal(err)
		}
	}
	key := alice.wantDevices("a fresh key", name)
	a, b, c, d := deviceOf(1, 0), deviceOf(1, 5), deviceOf(2, 0), deviceOf(3, 0)
	check(alice.MarkSenderKeyDevices(ctx, name, key, []signal.Address{c, a}))
	check(alice.MarkSenderKeyDevices(ctx, name, key+1, []signal.Address{d}))
	alice.wantDevices("after a mark of another key", name, a, c)
	check(alice.MarkSenderKeyDevices(ctx, name, key, []signal.Address{b, a, b, d}))
	alice.wantDevices("after two marks", name, a, b, c, d)
	alice.wantDevices("another group", other)
	alice.store.counts()
	check(alice.MarkSenderKeyDevices(ctx, name, key, []signal.Address{d, a}))
	check(alice.ForgetSenderKeyDevices(ctx, name, []signal.Address{deviceOf(9, 0)}))
	if r, w := alice.store.counts(); r != 2 || w != 0 {
		t.Errorf("marks that are there took %d reads and %d writes", r, w)
	}
	have, err := alice.SenderKeyDevices(ctx, name)
	check(err)
	if got := have.Missing([]signal.Address{deviceOf(9, 0), b, deviceOf(1, 6)}); !slices.Equal(got, []signal.Address{deviceOf(9, 0), deviceOf(1, 6)}) {
		t.Errorf("%v are missing", got)
	}
	check(alice.ForgetSenderKeyDevices(ctx, name, []signal.Address{c, a}))
	alice.wantDevices("after two were forgotten", name, b, d)

	// A mark for the key before a rotation comes too late.
	if _, err := alice.RotateSenderKey(ctx, name); err != nil {
		t.Fatal(err)
	}
	fresh := alice.wantDevices("after a rotation", name)
	check(alice.MarkSenderKeyDevices(ctx, name, key, []signal.Address{a}))
	alice.wantDevices("after a late mark", name)
	check(alice.MarkSenderKeyDevices(ctx, name, fresh, []signal.Address{c}))
	alice.wantDevices("after a mark of the fresh key", name, c)

	key = alice.wantDevices("another group", other)
	check(alice.MarkSenderKeyDevices(ctx, other, key, []signal.Address{a, b, c}))
	if n, err := alice.ForgetDevices(ctx, []signal.Address{a, d}); err != nil || n != 1 {
		t.Errorf("two devices were forgotten in %d groups: %v", n, err)
	}
	alice.wantDevices("one that has registered again", other, b, c)
	alice.wantDevices("one that has registered again", name, c)
	if n, err := alice.ForgetDevices(ctx, []signal.Address{c}); err != nil || n != 2 {
		t.Errorf("a device was forgotten in %d groups: %v", n, err)
	}
	alice.wantDevices("the last one", name)
	check(alice.ClearSenderKeyDevices(ctx, other))
	alice.wantDevices("after clearing", other)
	check(alice.MarkSenderKeyDevices(ctx, name, fresh, []signal.Address{c}))
	check(alice.ClearAllSenderKeyDevices(ctx))
	alice.wantDevices("after clearing all", name)

	// Many at once.
	var wg sync.WaitGroup
	var all []signal.Address
	for i := range 8 {
		devices := []signal.Address{deviceOf(i, 0), deviceOf(i, 1), deviceOf(i, 2)}
		all = append(all, devices...)
		wg.Go(func() {
			if err := alice.MarkSenderKeyDevices(ctx, name, fresh, devices); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	alice.wantDevices("marks at once", name, all...)

	// A row that cannot be read is an error until it is cleared.
	for _, cut := range []int{0, 1, 9} {
		alice.store.replace(func(k store.Key, r store.Record) store.Record {
			if k.Table == store.SenderKeyDevices && r.Found {
				r.Value = r.Value[:min(cut, len(r.Value)-1)]
			}
			return r
		})
		_, err := alice.SenderKeyDevices(ctx, name)
		wantError(t, "a device row that was cut", err, signal.ErrCorruptRecord)
		alice.unchanged("a device row that was cut", func() {
			wantError(t, "a mark", alice.MarkSenderKeyDevices(ctx, name, fresh, []signal.Address{a}), signal.ErrCorruptRecord)
		})
	}
	check(alice.ClearSenderKeyDevices(ctx, name))
	alice.store.heal()
	alice.wantDevices("after mending", name)

	check(alice.MarkSenderKeyDevices(ctx, name, fresh, []signal.Address{a, b}))
	for what, do := range map[string]func(context.Context) error{
		"mark": func(ctx context.Context) error {
			return alice.MarkSenderKeyDevices(ctx, name, fresh, []signal.Address{c})
		},
		"forget":    func(ctx context.Context) error { return alice.ForgetSenderKeyDevices(ctx, name, []signal.Address{a}) },
		"clear":     func(ctx context.Context) error { return alice.ClearSenderKeyDevices(ctx, name) },
		"clear all": func(ctx context.Context) error { return alice.ClearAllSenderKeyDevices(ctx) },
		"forget everywhere": func(ctx context.Context) error {
			_, err := alice.ForgetDevices(ctx, []signal.Address{a})
			return err
		},
	} {
		alice.failEverywhere(what, func(ctx context.Context) (any, error) { return true, do(ctx) })
	}
	check(alice.DeleteSenderKey(ctx, name))
	if n := alice.named(name.String()); n != 0 {
		t.Errorf("%d rows are left of a sender key that was deleted", n)
	}
}

// testBaseKeys: what is remembered tells whether the session was replaced.
func testBaseKeys(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	at := time.Unix(1_700_000_000, 0)
	same := func(what string, addr signal.Address, id string, want bool) {
		t.Helper()
		if got, err := alice.HasBaseKey(ctx, addr, id); err != nil || got != want {
			t.Errorf("%s: the base key is the same: %v, want %v: %v", what, got, want, err)
		}
	}
	save := func(id string, after time.Duration) {
		t.Helper()
		if err := alice.SaveBaseKey(ctx, bob.addr, id, at.Add(after)); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, "no session", alice.SaveBaseKey(ctx, deviceOf(99, 0), "3EB0A", at), signal.ErrNoSession)
	same("before", bob.addr, "3EB0A", false)
	save("3EB0A", 0)
	same("after", bob.addr, "3EB0A", true)
	same("another message", bob.addr, "3EB0", false)
	same("another address", deviceOf(99, 0), "3EB0A", false)
	alice.talk(bob, 2)
	same("after ratchet steps", bob.addr, "3EB0A", true)
	alice.start(bob)
	same("after a new session", bob.addr, "3EB0A", false)
	save("3EB0A", 0)
	same("saved again", bob.addr, "3EB0A", true)
	if err := alice.DeleteSession(ctx, bob.addr); err != nil {
		t.Fatal(err)
	}
	same("without a session", bob.addr, "3EB0A", false)
	alice.start(bob)
	save("3EB0B", time.Hour)
	if err := alice.DeleteBaseKey(ctx, bob.addr, "3EB0B"); err != nil {
		t.Fatal(err)
	}
	same("deleted", bob.addr, "3EB0B", false)
	save("3EB0B", time.Hour)
	save("3EB0C", 2*time.Hour)
	if n, err := alice.SweepBaseKeys(ctx, at.Add(time.Hour)); err != nil || n != 1 {
		t.Errorf("a sweep removed %d, want 1: %v", n, err)
	}
	same("not old enough", bob.addr, "3EB0B", true)
	// An id of a hostile length is one like others.
	long := strings.Repeat("3EB0", 100_000)
	save(long, 2*time.Hour)
	same("a long id", bob.addr, long, true)
	same("another long id", bob.addr, long+"0", false)
	for k := range alice.rows() {
		if len(k.Name) > 300 {
			t.Errorf("a name of %d bytes", len(k.Name))
		}
	}
	if err := alice.DeleteBaseKey(ctx, bob.addr, long); err != nil {
		t.Error(err)
	}
	for what, do := range map[string]func(context.Context) error{
		"save":   func(ctx context.Context) error { return alice.SaveBaseKey(ctx, bob.addr, "3EB0D", at) },
		"delete": func(ctx context.Context) error { return alice.DeleteBaseKey(ctx, bob.addr, "3EB0C") },
		"sweep": func(ctx context.Context) error {
			n, err := alice.SweepBaseKeys(ctx, at.Add(3*time.Hour))
			if n != 0 {
				t.Errorf("a sweep that failed removed %d", n)
			}
			return err
		},
	} {
		alice.failEverywhere(what, func(ctx context.Context) (any, error) { return true, do(ctx) })
	}
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k.Table == store.BaseKeys && r.Found {
			r.Value = r.Value[:len(r.Value)-1]
		}
		return r
	})
	_, err := alice.HasBaseKey(ctx, bob.addr, "3EB0C")
	wantError(t, "a row that was cut", err, signal.ErrCorruptRecord)
	if n, err := alice.SweepBaseKeys(ctx, at); err != nil || n != 2 {
		t.Errorf("a sweep removed %d that cannot be read, want 2: %v", n, err)
	}
}
