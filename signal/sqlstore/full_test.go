package sqlstore

import (
	"bytes"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sigcore/sigcore/signal/store"
)

// TestFull holds that a database without room refuses what does not fit, keeps
// what was said to be written and nothing of what was refused, goes on reading,
// and writes again once there is room.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	id, err := s.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages string) {
		t.Helper()
		err := s.withWriter(t.Context(), func(c *conn) error {
			var n int
			return c.queryRow("PRAGMA max_page_count = "+pages, &n)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit("60")

	// Many write at once, so that some share a transaction with one that does
	// not fit. Each write has two rows, both or none of which must be there.
	const writers, writes = 8, 12
	value := bytes.Repeat([]byte{1}, 3000)
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		written = map[uint32]bool{}
		refused atomic.Int64
	)
	for w := range uint32(writers) {
		wg.Go(func() {
			for i := range uint32(writes) {
				key := 1 + w*writes + i
				var b store.Batch
				b.Put(store.SignedPreKey(key), []byte("small"))
				b.Put(store.PreKey(key), value)
				_, err := s.Apply(t.Context(), id, &b)
				var code *sqlite.Error
				switch {
				case err == nil:
					mu.Lock()
					written[key] = true
					mu.Unlock()
				case errors.As(err, &code) && code.Code()&0xff == sqlite3.SQLITE_FULL:
					refused.Add(1)
				default:
					t.Errorf("write to a full database: %v", err)
				}
			}
		})
	}
	wg.Wait()
	if len(written) == 0 || refused.Load() == 0 {
		t.Fatalf("%d writes done, %d refused", len(written), refused.Load())
	}
	check := func(when string) {
		t.Helper()
		for _, db := range []*SQLite{s, open(t, path)} {
			for _, table := range []store.Table{store.PreKeys, store.SignedPreKeys} {
				keys, err := db.List(t.Context(), id, store.Query{Table: table})
				if err != nil {
					t.Fatal(err)
				}
				for _, k := range keys {
					if !written[k.ID] {
						t.Errorf("%s: %v holds row %d of a refused write", when, table, k.ID)
					}
				}
				if len(keys) != len(written) {
					t.Errorf("%s: %d rows in %v, want %d", when, len(keys), table, len(written))
				}
			}
		}
	}
	check("full")

	limit("1000000")
	var b store.Batch
	b.Put(store.SignedPreKey(1000), []byte("small"))
	b.Put(store.PreKey(1000), value)
	if _, err := s.Apply(t.Context(), id, &b); err != nil {
		t.Fatalf("write after there is room again: %v", err)
	}
	written[1000] = true
	check("with room")
}

// TestCloseAfterLostTransaction holds that a connection that was discarded can
// be closed, also if nobody used it since.
func TestCloseAfterLostTransaction(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	err := s.write(t.Context(), func(c *conn) error {
		// As SQLite does after a full disk.
		if _, err := c.exec("ROLLBACK"); err != nil {
			t.Error(err)
		}
		return errors.New("on purpose")
	})
	if err == nil {
		t.Error("no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
