package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func sealKey(id uint32) store.SealKey {
	return store.SealKey{ID: id, Key: [32]byte(bytes.Repeat([]byte{byte(id)}, 32))}
}

func sealed(t *testing.T, b store.Backend, current uint32, older ...uint32) *store.Sealed {
	t.Helper()
	var keys []store.SealKey
	for _, id := range older {
		keys = append(keys, sealKey(id))
	}
	s, err := store.Seal(b, sealKey(current), keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealedConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Backend { return sealed(t, store.NewMemory(), 1) })
}

// rows are one of each table.
func rows() (keys []store.Key) {
	for table := store.Identities; table.Valid(); table++ {
		k := store.Key{Table: table, Name: "15550000001:1"}
		if table.ByID() {
			k = store.Key{Table: table, ID: 7}
		}
		keys = append(keys, k)
	}
	return keys
}

func fill(t *testing.T, s *store.Sealed, name string) store.AccountID {
	t.Helper()
	id, err := s.CreateAccount(t.Context(), name, []byte("secret of "+name))
	if err != nil {
		t.Fatal(err)
	}
	b := new(store.Batch)
	for _, k := range rows() {
		b.Put(k, fmt.Appendf(nil, "secret of %v of %s", k.Table, name))
	}
	if _, err := s.Apply(t.Context(), id, b); err != nil {
		t.Fatal(err)
	}
	return id
}

// TestSealedHides: nothing of a record is in the backend, and each is of another
// form each time.
func TestSealedHides(t *testing.T) {
	m := store.NewMemory()
	id := fill(t, sealed(t, m, 1), "a")
	a, err := m.OpenAccount(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	recs, _, err := m.Read(t.Context(), id, rows())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range append(recs, a.Row) {
		if !r.Found || bytes.Contains(r.Value, []byte("secret")) || seen[string(r.Value[:29])] {
			t.Errorf("a record of %d bytes shows something", len(r.Value))
		}
		seen[string(r.Value[:29])] = true
	}
}

// TestSealedRefuses: a record that was changed, cut, taken from another row or
// account, or is not sealed, is not opened; with the key alone it cannot be either.
func TestSealedRefuses(t *testing.T) {
	ctx := t.Context()
	m := store.NewMemory()
	s := sealed(t, m, 1)
	one, two := fill(t, s, "a"), fill(t, s, "b")
	recs, _, err := m.Read(ctx, one, rows())
	if err != nil {
		t.Fatal(err)
	}
	put := func(id store.AccountID, k store.Key, value []byte) {
		t.Helper()
		b := new(store.Batch)
		b.Put(k, value)
		if _, err := m.Apply(ctx, id, b); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, id store.AccountID, k store.Key, value []byte) {
		t.Helper()
		put(id, k, value)
		got, _, err := s.Read(ctx, id, []store.Key{k})
		var se *store.SealError
		if errors.As(err, &se) && errors.Is(err, store.ErrSeal) && se.Table == k.Table {
			return // a number of a key that is not there
		}
		if err != nil || !got[0].Found || string(got[0].Value) != "\xff" {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, k := range rows() {
		value := recs[i].Value
		refused("another account", two, k, value)
		refused("not sealed", one, k, []byte("record"))
		refused("empty", one, k, nil)
		refused("another row", one, k, recs[(i+1)%len(recs)].Value)
		for j := range value {
			changed := bytes.Clone(value)
			changed[j] ^= 1
			refused(fmt.Sprint("byte ", j), one, k, changed)
			refused(fmt.Sprint("cut at ", j), one, k, value[:j])
		}
		put(one, k, value)
		if got, _, err := s.Read(ctx, one, []store.Key{k}); err != nil || !bytes.HasPrefix(got[0].Value, []byte("secret of ")) {
			t.Errorf("the genuine record: %v", err)
		}
	}
	other, err := store.Seal(m, store.SealKey{ID: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := other.Read(ctx, one, rows()); err != nil || string(got[0].Value) != "\xff" {
		t.Errorf("another key: %v", err)
	}
	if _, err := other.OpenAccount(ctx, "a"); !errors.Is(err, store.ErrSeal) {
		t.Errorf("another key: %v", err)
	}
	// The row of another account.
	b, err := m.OpenAccount(ctx, "b")
	if err != nil {
		t.Fatal(err)
	}
	batch := new(store.Batch)
	batch.PutAccount(b.Row.Value)
	if _, err := m.Apply(ctx, one, batch); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenAccount(ctx, "a"); !errors.Is(err, store.ErrSeal) {
		t.Errorf("the row of another account: %v", err)
	}
}

// TestReseal: after Reseal the older key is not needed, and nothing else has
// changed.
func TestReseal(t *testing.T) {
	ctx := t.Context()
	m := store.NewMemory()
	old := sealed(t, m, 1)
	id := fill(t, old, "a")
	many := new(store.Batch)
	for i := range 700 {
		many.Put(store.Session(fmt.Sprint(i)), []byte("s"))
	}
	if _, err := old.Apply(ctx, id, many); err != nil {
		t.Fatal(err)
	}
	both := sealed(t, m, 2, 1)
	want := 1 + len(rows()) + 700
	if n, err := both.Reseal(ctx, "a"); err != nil || n != want {
		t.Fatalf("%d of %d rows, %v", n, want, err)
	}
	if n, err := both.Reseal(ctx, "a"); err != nil || n != 0 {
		t.Errorf("%d rows the second time, %v", n, err)
	}
	s := sealed(t, m, 2)
	if a, err := s.OpenAccount(ctx, "a"); err != nil || string(a.Row.Value) != "secret of a" {
		t.Errorf("%v", err)
	}
	recs, _, err := s.Read(ctx, id, rows())
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range rows() {
		if string(recs[i].Value) != fmt.Sprintf("secret of %v of a", k.Table) {
			t.Errorf("%v: %q", k.Table, recs[i].Value)
		}
	}
	if _, err := old.OpenAccount(ctx, "a"); !errors.Is(err, store.ErrSeal) {
		t.Errorf("with the older key: %v", err)
	}
}

// meddler changes a row between the reading and the writing of Reseal.
type meddler struct {
	store.Backend
	meddle func()
}

func (m *meddler) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	recs, generation, err := m.Backend.Read(ctx, id, keys)
	if f := m.meddle; f != nil {
		m.meddle = nil
		f()
	}
	return recs, generation, err
}

// TestResealConflict: a row that changes meanwhile keeps its change.
func TestResealConflict(t *testing.T) {
	ctx := t.Context()
	m := store.NewMemory()
	id := fill(t, sealed(t, m, 1), "a")
	current := sealed(t, m, 2, 1)
	mid := &meddler{Backend: m}
	mid.meddle = func() {
		b := new(store.Batch)
		b.Put(rows()[0], []byte("changed"))
		if _, err := current.OpenAccount(ctx, "a"); err != nil {
			t.Error(err)
		}
		if _, err := current.Apply(ctx, id, b); err != nil {
			t.Error(err)
		}
	}
	if n, err := sealed(t, mid, 2, 1).Reseal(ctx, "a"); err != nil || n != len(rows()) {
		t.Errorf("%d rows, %v", n, err)
	}
	recs, _, err := sealed(t, m, 2).Read(ctx, id, rows())
	if err != nil || string(recs[0].Value) != "changed" {
		t.Errorf("%v, %v", recs, err)
	}
}

func TestSealErrors(t *testing.T) {
	if _, err := store.Seal(store.NewMemory(), sealKey(1), sealKey(1)); err == nil {
		t.Error("two keys of one number")
	}
	if text := fmt.Sprintf("%v %+v %#v %x %s", sealKey(65), sealKey(65), sealKey(65), sealKey(65), sealKey(65)); text != "[redacted] [redacted] [redacted] [redacted] [redacted]" {
		t.Errorf("a key prints as %s", text)
	}
}
