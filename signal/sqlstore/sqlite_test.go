package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func open(t testing.TB, path string) *SQLite {
	t.Helper()
	s, err := OpenSQLite(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Backend { return open(t, filepath.Join(t.TempDir(), "test.db")) })
}

// TestPragmas reads back, on the connections in use, the settings that the
// promises of the package rest on.
func TestPragmas(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	pragma := func(with func(context.Context, func(*conn) error) error, name string) (v string) {
		t.Helper()
		err := with(t.Context(), func(c *conn) error { return c.queryRow("PRAGMA "+name, &v) })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct{ name, writer, reader string }{
		{"journal_mode", "wal", "wal"},
		{"synchronous", "2", ""}, // FULL
		{"secure_delete", "1", ""},
		{"busy_timeout", "100", "100"},
		{"query_only", "0", "1"},
		{"trusted_schema", "0", "0"},
	} {
		if got := pragma(s.withWriter, c.name); got != c.writer {
			t.Errorf("writer: %s is %s, want %s", c.name, got, c.writer)
		}
		if got := pragma(s.withReader, c.name); c.reader != "" && got != c.reader {
			t.Errorf("reader: %s is %s, want %s", c.name, got, c.reader)
		}
	}
	if n := cap(s.writer.free); n != 1 {
		t.Errorf("%d connections write", n)
	}
	// A connection that replaces a broken one has the same settings.
	if err := s.withWriter(t.Context(), func(c *conn) error { c.discard(); return nil }); err != nil {
		t.Fatal(err)
	}
	if got := pragma(s.withWriter, "synchronous"); got != "2" {
		t.Errorf("synchronous of a replaced writer is %s", got)
	}
}

func TestReopen(t *testing.T) {
	for _, name := range []string{"plain.db", "a b?c%41#d&e=f.db", "ünï.db"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, path)
		id, err := s.CreateAccount(t.Context(), "a", []byte("row"))
		if err != nil {
			t.Fatal(err)
		}
		var b store.Batch
		b.Put(store.Session("s"), []byte("v"))
		if _, err := s.Apply(t.Context(), id, &b); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(files) != 1 || files[0].Name() != name {
			t.Errorf("files after close: %v, %v", files, err)
		}
		s = open(t, path)
		again, err := s.OpenAccount(t.Context(), "a")
		if err != nil || again.ID != id || string(again.Row.Value) != "row" {
			t.Fatalf("account after reopening: %+v %v", again, err)
		}
		recs, _, err := s.Read(t.Context(), id, []store.Key{store.Session("s")})
		if err != nil || string(recs[0].Value) != "v" {
			t.Errorf("row after reopening: %v, %v", recs, err)
		}
	}
}

func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	if _, err := s.CreateAccount(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		st, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("mode of %q is %v", "test.db"+suffix, st.Mode())
		}
	}
}

func TestSchemaVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	err := s.withWriter(t.Context(), func(c *conn) error {
		_, err := c.exec(`UPDATE schema_version SET version = 999`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	_, err = OpenSQLite(t.Context(), path)
	var se *SchemaError
	if !errors.As(err, &se) || se.Got != 999 || se.Want != schemaVersion {
		t.Errorf("open of a database of schema 999: %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	if _, err := OpenSQLite(t.Context(), ""); err == nil {
		t.Error("empty path: no error")
	}
	_, err := OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "absent", "test.db"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent directory: %v", err)
	}
	path := filepath.Join(t.TempDir(), "not.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("this is not a database", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSQLite(t.Context(), path); err == nil {
		t.Error("a file that is not a database was opened")
	}
}

// TestPanic holds that a panic below Apply gives the connection back with the
// transaction rolled back.
func TestPanic(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	id, err := s.CreateAccount(t.Context(), "a", []byte("row"))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		s.withWriter(t.Context(), func(c *conn) error {
			return c.write(t.Context(), func() error {
				if _, err := c.exec(`UPDATE accounts SET record = x'00'`); err != nil {
					t.Error(err)
				}
				panic("in a transaction")
			})
		})
	}()
	if a, err := s.OpenAccount(t.Context(), "a"); err != nil || string(a.Row.Value) != "row" {
		t.Errorf("row after a panic: %q, %v", a.Row.Value, err)
	}
	var b store.Batch
	b.PutAccount([]byte("later"))
	if _, err := s.Apply(t.Context(), id, &b); err != nil {
		t.Errorf("write after a panic: %v", err)
	}
}

// TestForeignLock holds that a lock of another process is waited for as long
// as the context allows, and that the answer then is the context's.
func TestForeignLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s, other := open(t, path), open(t, path)
	id, err := s.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	b.Put(store.Session("s"), []byte("v"))
	locked, release := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- other.withWriter(context.Background(), func(c *conn) error {
			return c.write(context.Background(), func() error {
				close(locked)
				<-release
				return nil
			})
		})
	}()
	<-locked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Apply(ctx, id, &b); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write under a foreign lock: %v", err)
	}
	if recs, _, err := s.Read(t.Context(), id, []store.Key{store.Session("s")}); err != nil || recs[0].Found {
		t.Errorf("read under a foreign lock: %v, %v", recs, err)
	}
	go func() {
		time.Sleep(2 * busyTimeout)
		close(release)
	}()
	if _, err := s.Apply(t.Context(), id, &b); err != nil {
		t.Errorf("write after a foreign lock: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestStatementCache holds that batches of many shapes stay within the bound
// on prepared statements.
func TestStatementCache(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	id, err := s.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 * maxStatements {
		if _, _, err := s.Read(t.Context(), id, []store.Key{store.PreKey(1)}); err != nil {
			t.Fatal(err)
		}
		err := s.withReader(t.Context(), func(c *conn) error {
			var n int
			if err := c.queryRow(fmt.Sprintf("SELECT %d", i), &n); err != nil || n != i {
				return fmt.Errorf("%d, %w", n, err)
			}
			if len(c.stmts) > maxStatements {
				return fmt.Errorf("%d statements are prepared", len(c.stmts))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestKill kills a process that writes, and that process alone.
func TestKill(t *testing.T) {
	testKill(t, func(place string) (store.Backend, error) {
		return OpenSQLite(context.Background(), filepath.Join(place, "test.db"))
	})
}

func BenchmarkApply(b *testing.B) {
	for _, n := range []int{1, 2, 812} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "test.db"))
			id, err := s.CreateAccount(b.Context(), "a", nil)
			if err != nil {
				b.Fatal(err)
			}
			batch := storetest.PreKeyBatch(1, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Apply(b.Context(), id, batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "test.db"))
			id, err := s.CreateAccount(b.Context(), "a", nil)
			if err != nil {
				b.Fatal(err)
			}
			var batch store.Batch
			var keys []store.Key
			for i := range n {
				name := fmt.Sprint("1555000", i, "@c.us.0")
				batch.Put(store.Session(name), make([]byte, 800))
				batch.Put(store.Identity(name), make([]byte, 32))
				keys = append(keys, store.Session(name), store.Identity(name))
			}
			if _, err := s.Apply(b.Context(), id, &batch); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := s.Read(b.Context(), id, keys); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
