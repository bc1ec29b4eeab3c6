package signal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// held reports whether somebody holds the lock of k.
func (t *lockTable) held(k store.Key) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[k]
	return e != nil && len(e.token) == 1
}

// idle fails the test unless the table is empty.
func (t *lockTable) idle(tb testing.TB) {
	tb.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.entries); n != 0 {
		tb.Errorf("%d locks are left", n)
	}
}

// TestLockExclusion has goroutines take random sets of locks, in the order in
// which they think of them, and checks that none is held twice. A wrong order
// inside would deadlock.
func TestLockExclusion(t *testing.T) {
	var (
		table   lockTable
		wg      sync.WaitGroup
		counter [6]int // each guarded by the lock of its index; -race checks it
		total   [6]int
	)
	var mu sync.Mutex
	key := func(i int) store.Key {
		if i%2 == 0 {
			return store.Session(fmt.Sprint(i))
		}
		return store.SenderKey(fmt.Sprint(i))
	}
	for g := range 8 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			var own [6]int
			for range 500 {
				set := rng.Perm(6)[:1+rng.IntN(4)]
				set = append(set, set[0])
				var keys []store.Key
				for _, i := range set {
					keys = append(keys, key(i))
				}
				h, err := table.acquire(t.Context(), keys...)
				if err != nil {
					t.Error(err)
					return
				}
				for _, i := range set[:len(set)-1] {
					counter[i]++
					own[i]++
				}
				h.release()
				h.release()
			}
			mu.Lock()
			for i := range own {
				total[i] += own[i]
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	if counter != total {
		t.Errorf("counters are %v, want %v", counter, total)
	}
	table.idle(t)
}

// TestLockCancel holds that a wait ends with its context, that the locks taken
// before it are given back, and that the next waiter is not affected.
func TestLockCancel(t *testing.T) {
	var table lockTable
	a, b := store.Session("a"), store.Session("b")
	holder, err := table.acquire(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := table.acquire(ctx, b, a)
		done <- err
	}()
	for !table.held(a) {
		time.Sleep(time.Millisecond)
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait: %v", err)
	}
	if table.held(a) {
		t.Error("a cancelled wait kept a lock")
	}
	if _, err := table.acquire(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("free lock, cancelled context: %v", err)
	}
	go func() {
		h, err := table.acquire(t.Context(), b)
		if err == nil {
			h.release()
		}
		done <- err
	}()
	holder.release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	table.idle(t)
}

func TestLockPanic(t *testing.T) {
	var table lockTable
	func() {
		defer func() { _ = recover() }()
		h, err := table.acquire(t.Context(), store.Session("a"), store.PreKey(1))
		if err != nil {
			t.Fatal(err)
		}
		defer h.release()
		panic("while locks are held")
	}()
	table.idle(t)
}

// sliceBackend is a backend that cannot be a key of a map.
type sliceBackend struct {
	store.Backend
	_ []int
}

// TestSharedLocks holds that all Accounts over one account of one backend have
// one lock table, for as long as one of them exists.
func TestSharedLocks(t *testing.T) {
	b, other := store.NewMemory(), store.NewMemory()
	one := sharedLocks(b, 1)
	if sharedLocks(b, 1) != one {
		t.Error("an account has two lock tables")
	}
	if sharedLocks(b, 2) == one || sharedLocks(other, 1) == one {
		t.Error("two accounts have one lock table")
	}
	if s := (sliceBackend{Backend: b}); sharedLocks(s, 1) == nil {
		t.Error("no lock table for a backend that cannot be compared")
	}
	// Its type could be a key of a map, what is in it could not.
	if s := (struct{ store.Backend }{sliceBackend{Backend: b}}); sharedLocks(s, 1) == nil {
		t.Error("no lock table for a backend that holds one that cannot be compared")
	}
	runtime.KeepAlive(one)
	one = nil
	left := func() bool {
		lockTables.mu.Lock()
		defer lockTables.mu.Unlock()
		_, ok := lockTables.tables[accountKey{b, 1}]
		return ok
	}
	for deadline := time.Now().Add(10 * time.Second); left(); runtime.GC() {
		if time.Now().After(deadline) {
			t.Fatal("the lock table of an account that nobody uses is left")
		}
	}
}
