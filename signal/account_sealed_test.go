package signal_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// TestCloseSealed: a row that cannot be opened does not keep a leased account from
// being given back, with the other rows exact.
func TestCloseSealed(t *testing.T) {
	ctx := t.Context()
	raw := store.NewMemory()
	sealed, err := store.Seal(raw, store.SealKey{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	bob, err := signal.CreateAccount(ctx, raw, "bob", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.GenerateSignedPreKey(ctx, 1, 0); err != nil {
		t.Fatal(err)
	}
	bundle, err := bob.Bundle(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := signal.OpenOptions{Durability: signal.Leased, CacheBytes: 1} // nothing stays
	alice, err := signal.CreateAccount(ctx, sealed, "alice", signal.AccountOptions{OpenOptions: o})
	if err != nil {
		t.Fatal(err)
	}
	to := []signal.Address{{Name: "15550000002@c.us"}, {Name: "15550000003@c.us"}, {Name: "15550000004@c.us"}}
	for _, addr := range to {
		if _, err := alice.ProcessBundle(ctx, addr, bundle); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Encrypt(ctx, addr, []byte("one")); err != nil {
			t.Fatal(err)
		}
	}
	if err := alice.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	stored, err := raw.OpenAccount(ctx, "alice")
	if err != nil {
		t.Fatal(err)
	}
	key := store.Session(to[1].String())
	recs, _, err := raw.Read(ctx, stored.ID, []store.Key{key})
	if err != nil || !recs[0].Found {
		t.Fatal(err, recs)
	}
	damaged := bytes.Clone(recs[0].Value)
	damaged[len(damaged)-1] ^= 1
	var b store.Batch
	b.SetFence(stored.Owner.Fence)
	b.Put(key, damaged)
	if _, err := raw.Apply(ctx, stored.ID, &b); err != nil {
		t.Fatal(err)
	}
	if err := alice.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if alice, err = signal.OpenAccount(ctx, sealed, "alice", o); err != nil {
		t.Fatal(err)
	}
	for i, addr := range to {
		c, err := alice.Encrypt(ctx, addr, []byte("two"))
		if i == 1 {
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Errorf("the damaged session: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		m, err := signal.ParsePreKeySignalMessage(c.Body)
		if err != nil {
			t.Fatal(err)
		}
		if m.Message.Counter != 1 {
			t.Errorf("session %d goes on at %d", i, m.Message.Counter)
		}
	}
	if err := alice.DeleteSession(ctx, to[1]); err != nil {
		t.Errorf("delete the damaged session: %v", err)
	}
}
