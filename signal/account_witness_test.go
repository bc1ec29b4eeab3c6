package signal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/accounttest"
)

func TestFileWitness(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "witness")
	want := func(w signal.Witness, incarnation byte, epoch uint64) {
		t.Helper()
		i, e, err := w.Load(ctx)
		if err != nil || i != [16]byte{incarnation} || e != epoch {
			t.Fatalf("load: %v %d %v, want %d %d", i, e, err, incarnation, epoch)
		}
	}
	w := signal.NewFileWitness(path)
	want(w, 0, 0)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a file was made by looking")
	}
	for epoch := uint64(1); epoch < 20; epoch++ {
		if err := w.Store(ctx, [16]byte{1}, epoch); err != nil {
			t.Fatal(err)
		}
		want(w, 1, epoch)
		want(signal.NewFileWitness(path), 1, epoch)
	}
	// An epoch is not set back, but that of another incarnation is another one.
	if err := w.Store(ctx, [16]byte{1}, 5); err != nil {
		t.Fatal(err)
	}
	want(signal.NewFileWitness(path), 1, 19)
	if err := w.Store(ctx, [16]byte{2}, 5); err != nil {
		t.Fatal(err)
	}
	want(signal.NewFileWitness(path), 2, 5)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := w.Store(cancelled, [16]byte{2}, 6); !errors.Is(err, context.Canceled) {
		t.Errorf("store: %v", err)
	}
	if _, _, err := w.Load(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
	want(w, 2, 5)
}

// TestFileWitnessTorn cuts and spoils the slot that was written last: the one
// before is still there. With none left it is an error and not a fresh start.
func TestFileWitnessTorn(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "witness")
	w := signal.NewFileWitness(path)
	for epoch := range uint64(4) {
		if err := w.Store(ctx, [16]byte{1}, epoch+1); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	last := 0 // the fourth is in the first slot
	for i := range 44 {
		b := append([]byte(nil), whole...)
		b[last+i] ^= 0x40
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, epoch, err := signal.NewFileWitness(path).Load(ctx); err != nil || epoch != 3 {
			t.Fatalf("byte %d: epoch %d, %v", i, epoch, err)
		}
		b[4096+i] ^= 0x40
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := signal.NewFileWitness(path).Load(ctx); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Fatalf("byte %d of both: %v", i, err)
		}
	}
	for _, n := range []int{1, 63, 4095} {
		if err := os.WriteFile(path, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := signal.NewFileWitness(path).Load(ctx); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := signal.NewFileWitness(path).Store(ctx, [16]byte{1}, 1); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Errorf("store over %d bytes: %v", n, err)
		}
	}
}

// TestWitness puts a database back while nobody has it open: with a witness the
// account begins anew, without one nobody can tell; a crash is no mismatch.
func TestWitness(t *testing.T) {
	for _, d := range []signal.Durability{signal.Durable, signal.Leased} {
		t.Run(fmt.Sprint(d), func(t *testing.T) { testWitness(t, d) })
	}
}

func testWitness(t *testing.T, d signal.Durability) {
	ctx := t.Context()
	disk := accounttest.NewDisk()
	path := filepath.Join(t.TempDir(), "witness")
	options := func() signal.OpenOptions {
		return signal.OpenOptions{Durability: d, TakeOver: true, Witness: signal.NewFileWitness(path)}
	}
	alice, err := signal.CreateAccount(ctx, disk, "alice", signal.AccountOptions{OpenOptions: options()})
	if err != nil {
		t.Fatal(err)
	}
	bob, err := signal.CreateAccount(ctx, disk, "bob", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bob.GenerateSignedPreKey(ctx, 1, 0); err != nil {
		t.Fatal(err)
	}
	a, b := signal.Address{Name: "alice"}, signal.Address{Name: "bob"}
	start := func() {
		t.Helper()
		bundle, err := bob.Bundle(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alice.ProcessBundle(ctx, b, bundle); err != nil {
			t.Fatal(err)
		}
	}
	name := signal.SenderKeyName{Group: "g", Sender: a}
	say := func() error {
		c, err := alice.Encrypt(ctx, b, []byte("text"))
		if err != nil {
			return err
		}
		_, err = bob.Decrypt(ctx, a, c.Type, c.Body)
		return err
	}
	reopen := func() {
		t.Helper()
		if alice, err = signal.OpenAccount(ctx, disk, "alice", options()); err != nil {
			t.Fatal(err)
		}
	}
	start()
	if err := say(); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.CreateSenderKey(ctx, name); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		backup := disk.Snapshot("alice")
		for range 70 {
			if err := say(); err != nil {
				t.Fatal(err)
			}
		}
		reopen() // as after a crash
		if err := say(); err != nil {
			t.Fatalf("round %d: after a crash: %v", round, err)
		}
		disk.PutBack("alice", backup)
		reopen()
		if err := say(); !errors.Is(err, signal.ErrNoSession) {
			t.Errorf("round %d: after the database was put back: %v", round, err)
		}
		if _, err := alice.EncryptGroup(ctx, name, nil); !errors.Is(err, signal.ErrNoSenderKey) {
			t.Errorf("round %d: group after the database was put back: %v", round, err)
		}
		if _, err := alice.CreateSenderKey(ctx, name); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		start()
		if err := say(); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
	}
	// A witness that is lost, or is another's, is a mismatch too.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	reopen()
	if err := say(); !errors.Is(err, signal.ErrNoSession) {
		t.Errorf("with a fresh witness: %v", err)
	}
}
