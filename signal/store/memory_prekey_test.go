package store_test

import (
	"runtime"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

// preKeyAllocs applies each batch to an account of its own after the batches of
// before, and returns the allocations and bytes of one call.
func preKeyAllocs(t *testing.T, before []*store.Batch, batch *store.Batch) (allocs, bytes float64) {
	t.Helper()
	const runs = 50
	m := store.NewMemory()
	ids := make([]store.AccountID, runs)
	for i := range ids {
		var err error
		if ids[i], err = m.CreateAccount(t.Context(), string(rune('a'+i)), nil); err != nil {
			t.Fatal(err)
		}
		for _, b := range before {
			if _, err := m.Apply(t.Context(), ids[i], b); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx := t.Context()
	var start, end runtime.MemStats
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	runtime.ReadMemStats(&start)
	for _, id := range ids {
		if _, err := m.Apply(ctx, id, batch); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&end)
	return float64(end.Mallocs-start.Mallocs) / runs, float64(end.TotalAlloc-start.TotalAlloc) / runs
}

// TestMemoryPreKeyGrowth holds that a batch of prekeys grows the table at most
// once, and one without rows of its own not at all.
func TestMemoryPreKeyGrowth(t *testing.T) {
	all := storetest.PreKeyBatch(1, 812)
	var repeated store.Batch
	for range 812 {
		repeated.Put(store.PreKey(7), all.Ops()[0].Value)
	}
	for _, c := range []struct {
		name   string
		before []*store.Batch
		batch  *store.Batch
		allocs float64
		bytes  float64
	}{
		{"812 into an empty table", nil, all, 4, 100_000},
		{"the same 812 again", []*store.Batch{all}, all, 0.5, 1_000},
		{"one id 812 times", nil, &repeated, 4, 2_000},
	} {
		if allocs, bytes := preKeyAllocs(t, c.before, c.batch); allocs > c.allocs || bytes > c.bytes {
			t.Errorf("%s: %.1f allocations of %.0f bytes, at most %.1f of %.0f are allowed", c.name, allocs, bytes, c.allocs, c.bytes)
		}
	}
}

// TestMemoryPreKeyReplay holds what is stored after batches that repeat ids.
func TestMemoryPreKeyReplay(t *testing.T) {
	m := store.NewMemory()
	id, err := m.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	apply := func(b *store.Batch, want int) {
		t.Helper()
		if _, err := m.Apply(t.Context(), id, b); err != nil {
			t.Fatal(err)
		}
		keys, err := m.List(t.Context(), id, store.Query{Table: store.PreKeys})
		if err != nil || len(keys) != want {
			t.Fatalf("%d prekeys are stored, want %d (%v)", len(keys), want, err)
		}
	}
	apply(storetest.PreKeyBatch(1, 812), 812)
	apply(storetest.PreKeyBatch(1, 812), 812)
	var seven store.Batch
	seven.Put(store.PreKey(7), []byte("other"))
	apply(&seven, 812)
	apply(storetest.PreKeyBatch(813, 812), 1624)
	recs, _, err := m.Read(t.Context(), id, []store.Key{store.PreKey(7)})
	if err != nil || string(recs[0].Value) != "other" {
		t.Errorf("prekey 7 is %q, %v", recs[0].Value, err)
	}
	var again store.Batch
	for range 100 {
		again.Put(store.PreKey(9000), []byte("x"))
	}
	apply(&again, 1625)
}
