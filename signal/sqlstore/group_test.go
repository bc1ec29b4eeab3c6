package sqlstore

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// hold occupies the connection that writes until release is called.
func hold(t *testing.T, s *SQLite) (release func()) {
	t.Helper()
	c, err := s.writer.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return func() { s.writer.release(c) }
}

// waiting waits until n writes are queued.
func waiting(t *testing.T, s *SQLite, n int) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		s.queue.mu.Lock()
		have := len(s.queue.waiting)
		s.queue.mu.Unlock()
		if have == n {
			return
		}
		if time.Since(start) > 10*time.Second {
			t.Fatalf("%d writes are queued, want %d", have, n)
		}
	}
}

// TestGroupCommit holds that writes that wait together share a transaction, and
// that one that fails, panics or is cancelled leaves no trace and hinders none.
func TestGroupCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	id, err := s.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	const good = 20
	errOwn := errors.New("on purpose")
	put := func(c *conn, key uint32) error {
		return c.writeRows(id, 2, []store.Op{{Key: store.PreKey(key), Value: []byte("v")}})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	release := hold(t, s)
	var wg sync.WaitGroup
	for i := range uint32(good) {
		wg.Go(func() {
			var b store.Batch
			b.Put(store.PreKey(1+i), []byte("v"))
			if _, err := s.Apply(t.Context(), id, &b); err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wg.Go(func() {
		err := s.write(t.Context(), func(c *conn) error { return errors.Join(put(c, 101), errOwn) })
		if !errors.Is(err, errOwn) {
			t.Errorf("failing write: %v", err)
		}
	})
	wg.Go(func() {
		defer func() {
			if v := recover(); v != "on purpose" {
				t.Errorf("panic %v did not reach its caller", v)
			}
		}()
		s.write(t.Context(), func(c *conn) error { put(c, 102); panic("on purpose") })
	})
	ended, end := context.WithCancel(t.Context())
	wg.Go(func() {
		err := s.write(ended, func(c *conn) error { defer end(); return put(c, 103) })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("write whose context ends meanwhile: %v", err)
		}
	})
	wg.Go(func() {
		var b store.Batch
		b.Put(store.PreKey(104), []byte("v"))
		if _, err := s.Apply(cancelled, id, &b); !errors.Is(err, context.Canceled) {
			t.Errorf("write cancelled in the queue: %v", err)
		}
	})
	waiting(t, s, good+4)
	cancel()
	waiting(t, s, good+3)
	before := s.groups.Load()
	release()
	wg.Wait()
	if n := s.groups.Load() - before; n != 1 {
		t.Errorf("%d transactions for writes that waited together", n)
	}
	for _, db := range []*SQLite{s, open(t, path)} {
		keys, err := db.List(t.Context(), id, store.Query{Table: store.PreKeys})
		if err != nil || len(keys) != good || keys[good-1].ID != good {
			t.Errorf("%d rows, want %d: %v", len(keys), good, err)
		}
	}
	// The connection is as it was.
	var b store.Batch
	b.Put(store.PreKey(200), bytes.Repeat([]byte{1}, 100))
	if _, err := s.Apply(t.Context(), id, &b); err != nil {
		t.Error(err)
	}
}

// TestLostTransaction holds that nothing of a group is said to be written if
// its transaction is lost.
func TestLostTransaction(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	id, err := s.CreateAccount(t.Context(), "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	release := hold(t, s)
	errs := make(chan error, 3)
	write := func(f func(*conn) error) {
		go func() { errs <- s.write(t.Context(), f) }()
	}
	put := func(key uint32) func(*conn) error {
		return func(c *conn) error {
			return c.writeRows(id, 2, []store.Op{{Key: store.PreKey(key), Value: []byte("v")}})
		}
	}
	write(put(1))
	waiting(t, s, 1)
	write(func(c *conn) error {
		// As SQLite does after a full disk.
		if _, err := c.exec("ROLLBACK"); err != nil {
			t.Error(err)
		}
		return errors.New("on purpose")
	})
	waiting(t, s, 2)
	write(put(3))
	waiting(t, s, 3)
	release()
	for range 3 {
		if err := <-errs; err == nil {
			t.Error("a write of a lost transaction has no error")
		}
	}
	keys, err := s.List(t.Context(), id, store.Query{Table: store.PreKeys})
	if err != nil || len(keys) != 0 {
		t.Errorf("%d rows of a lost transaction: %v", len(keys), err)
	}
	var b store.Batch
	b.Put(store.PreKey(4), []byte("v"))
	if _, err := s.Apply(t.Context(), id, &b); err != nil {
		t.Errorf("write after a lost transaction: %v", err)
	}
}

// TestCloseEndsQueuedWrites holds that whoever waits when the backend is closed
// is told so, and that what is under way is waited for.
func TestCloseEndsQueuedWrites(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"))
	release := hold(t, s)
	errs := make(chan error, 1)
	go func() { errs <- s.write(t.Context(), func(*conn) error { return nil }) }()
	waiting(t, s, 1)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	if err := <-errs; !errors.Is(err, store.ErrClosed) {
		t.Errorf("queued write of a closed backend: %v", err)
	}
	release()
	if err := <-closed; err != nil {
		t.Error(err)
	}
}
