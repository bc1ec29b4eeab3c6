package signal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/accounttest"
)

// otherProcess is a Disk as another process has it: nothing that was seen of it is
// remembered.
type otherProcess struct{ *accounttest.Disk }

// TestRenewAfterBackup: records that were read from a backup before Renew send no
// more, in memory as on disk.
func TestRenewAfterBackup(t *testing.T) {
	for _, d := range []signal.Durability{signal.Durable, signal.Leased} {
		ctx := context.Background()
		disk := accounttest.NewDisk()
		bob, err := signal.CreateAccount(ctx, disk, "bob", signal.AccountOptions{})
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
		o := signal.OpenOptions{Durability: d}
		alice, err := signal.CreateAccount(ctx, disk, "alice", signal.AccountOptions{OpenOptions: o})
		if err != nil {
			t.Fatal(err)
		}
		to := signal.Address{Name: "15550000002@c.us"}
		name := signal.SenderKeyName{Group: "120363000000000001@g.us", Sender: signal.Address{Name: "15550000001@c.us"}}
		if _, err := alice.ProcessBundle(ctx, to, bundle); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.CreateSenderKey(ctx, name); err != nil {
			t.Fatal(err)
		}
		if err := alice.Close(ctx); err != nil {
			t.Fatal(err)
		}
		backup := disk.Snapshot("alice")
		if alice, err = signal.OpenAccount(ctx, disk, "alice", o); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Encrypt(ctx, to, []byte("one")); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.EncryptGroup(ctx, name, []byte("one")); err != nil {
			t.Fatal(err)
		}
		if err := alice.Close(ctx); err != nil {
			t.Fatal(err)
		}
		disk.PutBack("alice", backup)
		if alice, err = signal.OpenAccount(ctx, &otherProcess{disk}, "alice", o); err != nil {
			t.Fatal(err)
		}
		// Both are in the cache of a leased account then.
		if ok, err := alice.HasSession(ctx, to); err != nil || !ok {
			t.Fatal(ok, err)
		}
		if _, err := alice.SenderKeyInfo(ctx, name); err != nil {
			t.Fatal(err)
		}
		if err := alice.Renew(ctx); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := alice.Encrypt(ctx, to, []byte("two")); !errors.Is(err, signal.ErrNoSession) {
				t.Errorf("durability %v: a session of the backup sends: %v", d, err)
			}
			if _, err := alice.EncryptGroup(ctx, name, []byte("two")); !errors.Is(err, signal.ErrNoSenderKey) {
				t.Errorf("durability %v: a sender key of the backup sends: %v", d, err)
			}
			if err := alice.Close(ctx); err != nil {
				t.Fatal(err)
			}
			if alice, err = signal.OpenAccount(ctx, &otherProcess{disk}, "alice", o); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := alice.ProcessBundle(ctx, to, bundle); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Encrypt(ctx, to, []byte("three")); err != nil {
			t.Errorf("durability %v: a fresh session: %v", d, err)
		}
	}
}
