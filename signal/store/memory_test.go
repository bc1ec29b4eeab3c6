package store_test

import (
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Backend { return store.NewMemory() })
}

// TestMemoryDoesNotCopy holds that a batch of prekeys is stored as the slices
// of the one buffer that the caller cut it from.
func TestMemoryDoesNotCopy(t *testing.T) {
	m := store.NewMemory()
	id, err := m.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := storetest.PreKeyBatch(1, 3)
	if _, err := m.Apply(t.Context(), id, b); err != nil {
		t.Fatal(err)
	}
	recs, _, err := m.Read(t.Context(), id, []store.Key{store.PreKey(2)})
	if err != nil {
		t.Fatal(err)
	}
	if &recs[0].Value[0] != &b.Ops()[1].Value[0] {
		t.Error("the stored record is a copy")
	}
}

func BenchmarkMemoryPreKeys(b *testing.B) {
	for _, n := range []int{64, 812} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			batch := storetest.PreKeyBatch(1, n)
			m := store.NewMemory()
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				id, err := m.CreateAccount(b.Context(), "a", nil)
				b.StartTimer()
				if err == nil {
					_, err = m.Apply(b.Context(), id, batch)
				}
				b.StopTimer()
				if err == nil {
					err = m.DeleteAccount(b.Context(), id)
				}
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
