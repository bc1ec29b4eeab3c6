package accounttest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal"
)

// testProcessesKeys has one process write between a read and the write of another
// one: both changes are there afterwards.
func testProcessesKeys(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	second := alice.process()
	alice.toUpload(6)
	alice.once(func() {
		if _, err := second.GeneratePreKeys(ctx, 3); err != nil {
			t.Error(err)
		}
	})
	if err := alice.MarkUploaded(ctx, []uint32{1, 2}); err != nil {
		t.Error(err)
	}
	alice.wantPool("a mark and three more", 2, 7)
	alice.once(func() {
		if err := second.MarkUploaded(ctx, []uint32{3, 4}); err != nil {
			t.Error(err)
		}
	})
	if got := preKeyIDs(alice.toUpload(8)); !slices.Equal(got, []uint32{5, 6, 7, 8, 9, 10, 11, 12}) {
		t.Errorf("offered %v", got)
	}
	alice.once(func() {
		if _, err := second.RotateSignedPreKey(ctx, time.Unix(1, 0), signal.DefaultSignedPreKeyRetention); err != nil {
			t.Error(err)
		}
	})
	if r, err := alice.RotateSignedPreKey(ctx, time.Unix(1, 0), signal.DefaultSignedPreKeyRetention); err != nil || r.Current.ID != 3 {
		t.Errorf("two rotations: %+v, %v", r.Current.ID, err)
	}
	if s, err := second.SignedPreKeyStatus(ctx); err != nil || s.ID != 3 || !slices.Equal(s.Retained, []uint32{1, 2}) {
		t.Errorf("two rotations: %+v, %v", s, err)
	}

	// Marks of devices.
	alice.distribute(bob)
	key := alice.wantDevices("at first", alice.senderKey())
	mark := func(p *party, device signal.Address) {
		if err := p.MarkSenderKeyDevices(ctx, alice.senderKey(), key, []signal.Address{device}); err != nil {
			t.Error(err)
		}
	}
	alice.once(func() { mark(second, deviceOf(7, 0)) })
	mark(alice, deviceOf(8, 0))
	alice.wantDevices("marks of two processes", alice.senderKey(), deviceOf(7, 0), deviceOf(8, 0))
	alice.once(func() {
		if _, err := second.RotateSenderKey(ctx, alice.senderKey()); err != nil {
			t.Error(err)
		}
	})
	mark(alice, deviceOf(9, 0))
	alice.wantDevices("a mark beside a rotation", alice.senderKey())

	// A message that another process sends while a session is moved.
	used := newKeySet(t)
	lid := bob.at("100000000000002@lid")
	sent := 0
	alice.store.hooks(nil, func(_ ctxt, c call, err error) error {
		if len(c.keys) > 2 && !c.write && sent == 0 {
			sent++
			c, _ := second.say(bob, "beside the migration")
			used.add(c)
		}
		return err
	})
	alice.migrate(bobMapping)
	if sent == 0 {
		t.Error("nothing was sent beside the migration")
	}
	for range 3 {
		c, _ := alice.say(lid, "after it")
		used.add(c)
		c, _ = second.say(lid, "after it")
		used.add(c)
	}
	// One that is used while it is swept stays, or is started anew.
	sent = 0
	alice.store.hooks(nil, func(_ ctxt, c call, err error) error {
		if len(c.keys) > 0 && !c.write && sent == 0 {
			sent++
			second.start(lid)
		}
		return err
	})
	r := alice.sweep(signal.SweepOptions{Live: func(signal.Address) bool { return false }})
	if len(r.Removed) != 0 || r.Pending != 1 {
		t.Errorf("removed %+v", r.Removed)
	}
	alice.store.heal()

	// Many at once give no id twice.
	var mu sync.Mutex
	var ids []uint32
	var wg sync.WaitGroup
	for _, p := range []*party{alice, second, alice.process()} {
		wg.Go(func() {
			for range 4 {
				keys, err := p.GeneratePreKeys(ctx, 3)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				ids = append(ids, preKeyIDs(keys)...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.Sort(ids)
	if n := len(slices.Compact(ids)); n != 36 {
		t.Errorf("%d ids of 36 prekeys", n)
	}
}
