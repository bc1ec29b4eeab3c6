package signal_test

import (
	"errors"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// TestStoredSenderKeyWithoutAKey: a row whose key is lost is not taken for none;
// only a rotation, which every member is told of, puts a key in its place.
func TestStoredSenderKeyWithoutAKey(t *testing.T) {
	ctx := t.Context()
	backend := store.NewMemory()
	if _, err := signal.CreateAccount(ctx, backend, "15550000001", signal.AccountOptions{}); err != nil {
		t.Fatal(err)
	}
	name := signal.SenderKeyName{Group: "120363000000000001@g.us", Sender: signal.Address{Name: "15550000001"}}
	var b store.Batch
	b.Put(store.SenderKey(name.String()), []byte{})
	stored, err := backend.OpenAccount(ctx, "15550000001")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Apply(ctx, stored.ID, &b); err != nil {
		t.Fatal(err)
	}
	a, err := signal.OpenAccount(ctx, backend, "15550000001", signal.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateSenderKey(ctx, name); !errors.Is(err, signal.ErrCorruptRecord) {
		t.Errorf("CreateSenderKey: %v", err)
	}
	if _, err := a.SendGroup(ctx, &signal.GroupSend{Name: name, Plaintext: []byte("x")}); !errors.Is(err, signal.ErrCorruptRecord) {
		t.Errorf("SendGroup: %v", err)
	}
	if _, err := a.EncryptGroup(ctx, name, []byte("x")); !errors.Is(err, signal.ErrNoSenderKey) {
		t.Errorf("EncryptGroup: %v", err)
	}
	if _, err := a.RotateSenderKey(ctx, name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.CreateSenderKey(ctx, name); err != nil {
		t.Error(err)
	}
}
