package signal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// countingBackend counts calls, and fails writes on demand.
type countingBackend struct {
	store.Backend
	reads, writes int
	fail          bool
}

func (c *countingBackend) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	c.reads++
	return c.Backend.Read(ctx, id, keys)
}

func (c *countingBackend) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	c.writes++
	if c.fail {
		return 0, errInjected
	}
	return c.Backend.Apply(ctx, id, b)
}

// TestAccountDecryptGroupMany gives a backlog to one account at once and to
// another one message by message.
func TestAccountDecryptGroupMany(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(31, 32))
	account := func(b store.Backend, name string) *signal.Account {
		t.Helper()
		a, err := signal.CreateAccount(ctx, b, name, signal.AccountOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	backend := &countingBackend{Backend: store.NewMemory()}
	reader, twin := account(backend, "15550000001"), account(store.NewMemory(), "15550000002")
	var items []signal.GroupIncoming
	for i := range 3 {
		name := signal.SenderKeyName{Group: "120363000000000001@g.us", Sender: signal.Address{Name: fmt.Sprint("1555000001", i)}}
		sender := account(store.NewMemory(), name.Sender.Name)
		skdm, err := sender.CreateSenderKey(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		if i < 2 { // the key of the last one has not come
			for _, a := range []*signal.Account{reader, twin} {
				if _, err := a.ProcessSenderKey(ctx, name, skdm); err != nil {
					t.Fatal(err)
				}
			}
		}
		for n := range 20 {
			body, err := sender.EncryptGroup(ctx, name, fmt.Append(nil, "message ", n))
			if err != nil {
				t.Fatal(err)
			}
			items = append(items, signal.GroupIncoming{Name: name, Body: body})
		}
	}
	for range 10 {
		items = append(items, items[r.IntN(len(items))])
	}
	r.Shuffle(len(items), func(i, k int) { items[i], items[k] = items[k], items[i] })
	for i := range items {
		if r.IntN(6) == 0 {
			items[i].Body = bytes.Clone(items[i].Body)
			items[i].Body[r.IntN(len(items[i].Body))] ^= 1
		}
	}
	export := func(a *signal.Account, name signal.SenderKeyName) []byte {
		b, err := a.ExportSenderKey(ctx, name, signal.FormatSigcore)
		if err != nil && !errors.Is(err, signal.ErrNoSenderKey) {
			t.Fatal(err)
		}
		return b
	}

	backend.fail = true
	before := export(reader, items[0].Name)
	if out, err := reader.DecryptGroupMany(ctx, items); !errors.Is(err, errInjected) || out != nil {
		t.Fatalf("a failed write: %v, %v", out, err)
	}
	if !bytes.Equal(export(reader, items[0].Name), before) {
		t.Fatal("a failed write has changed a key")
	}
	backend.fail, backend.reads, backend.writes = false, 0, 0
	out, err := reader.DecryptGroupMany(ctx, items)
	if err != nil || len(out) != len(items) {
		t.Fatalf("%d results of %d: %v", len(out), len(items), err)
	}
	if backend.reads != 1 || backend.writes != 1 {
		t.Errorf("%d reads and %d writes", backend.reads, backend.writes)
	}
	read := 0
	for i, item := range items {
		plaintext, err := twin.DecryptGroup(ctx, item.Name, item.Body)
		if !bytes.Equal(out[i].Plaintext, plaintext) || fmt.Sprint(out[i].Err) != fmt.Sprint(err) {
			t.Fatalf("message %d: %q, %v; want %q, %v", i, out[i].Plaintext, out[i].Err, plaintext, err)
		}
		if err == nil {
			read++
		}
	}
	for i, item := range items {
		if !bytes.Equal(export(reader, item.Name), export(twin, item.Name)) {
			t.Fatalf("the key of message %d differs", i)
		}
	}
	if read < 20 || read > len(items)-15 {
		t.Errorf("%d of %d messages read: the test does not do what it is for", read, len(items))
	}
	backend.reads, backend.writes = 0, 0
	if out, err := reader.DecryptGroupMany(ctx, items); err != nil || backend.writes != 0 {
		t.Errorf("the same again: %v, %d writes", err, backend.writes)
	} else {
		for i := range out {
			if out[i].Err == nil {
				t.Fatal("a message is read twice")
			}
		}
	}
	if out, err := reader.DecryptGroupMany(ctx, nil); err != nil || len(out) != 0 {
		t.Errorf("no messages: %v, %v", out, err)
	}
}
