package signal_test

import (
	"errors"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// TestSenderPutBack: what an account receives from one whose session was put back
// to an earlier record is not taken for a message delivered twice, and asks for
// another session.
func TestSenderPutBack(t *testing.T) {
	ctx := t.Context()
	account := func(name string) (*signal.Account, signal.Address) {
		a, err := signal.CreateAccount(ctx, store.NewMemory(), name, signal.AccountOptions{})
		if err == nil {
			_, err = a.GenerateSignedPreKey(ctx, 1, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a, signal.Address{Name: name}
	}
	alice, aliceAddr := account("15550000001")
	bob, bobAddr := account("15550000002")
	bundle, err := bob.Bundle(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alice.ProcessBundle(ctx, bobAddr, bundle); err != nil {
		t.Fatal(err)
	}
	send := func(text string) signal.Ciphertext {
		t.Helper()
		c, err := alice.Encrypt(ctx, bobAddr, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	read := func(c signal.Ciphertext) error {
		_, err := bob.Decrypt(ctx, aliceAddr, c.Type, c.Body)
		return err
	}
	if err := read(send("hello")); err != nil {
		t.Fatal(err)
	}
	backup, err := alice.ExportSession(ctx, bobAddr, signal.FormatSigcore)
	if err != nil {
		t.Fatal(err)
	}
	first := send("before")
	if err := read(first); err != nil {
		t.Fatal(err)
	}
	if err := alice.ImportSession(ctx, bobAddr, signal.FormatSigcore, backup); err != nil {
		t.Fatal(err)
	}
	again := read(first)
	if _, ask := signal.RetryReasonOf(again); !errors.Is(again, signal.ErrDuplicate) || ask {
		t.Errorf("delivered twice: %v", again)
	}
	other := read(send("after"))
	if reason, ask := signal.RetryReasonOf(other); !errors.Is(other, signal.ErrRolledBack) || !ask || reason != signal.RetryInvalidSession {
		t.Errorf("from an earlier state: %v, reason %d", other, reason)
	}
	if err := read(send("behind what was read")); err != nil {
		t.Error(err)
	}
}
