package signal

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/sigcore/sigcore/signal/store"
)

// lockTable holds a lock for each row that an operation loads in order to
// change it. Its entries exist only while somebody holds or awaits them.
//
// Locks are named by the row that they guard: a session row for everything
// about one address, its identity included; a prekey row; a sender-key row.
// Whoever takes several takes them in the order of store.Key.Compare, at once
// or one after the other, so that no two can wait for each other.
type lockTable struct {
	mu      sync.Mutex
	entries map[store.Key]*lockEntry
	seen    *seenVersions // of what was read and written under the locks
}

// lockEntry is one lock. Waiting in a channel and not in a sync.Mutex lets a
// context end the wait; the channel serves waiters in their order.
type lockEntry struct {
	users int           // holders and waiters, guarded by lockTable.mu
	token chan struct{} // full while the lock is held
}

var lockEntries = sync.Pool{New: func() any { return &lockEntry{token: make(chan struct{}, 1)} }}

// heldLocks are locks that their holder must release, by a deferred call so
// that a panic releases them too.
type heldLocks struct {
	table *lockTable
	keys  []store.Key
	one   [2]store.Key // backs keys for the common case
}

// acquire takes the locks of keys, each once even if named twice. It gives up
// when ctx ends, and then holds none of them.
func (t *lockTable) acquire(ctx context.Context, keys ...store.Key) (*heldLocks, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := &heldLocks{table: t}
	h.keys = append(h.one[:0], keys...)
	slices.SortFunc(h.keys, store.Key.Compare)
	h.keys = slices.Compact(h.keys)
	for i, k := range h.keys {
		if err := t.lock(ctx, k); err != nil {
			h.keys = h.keys[:i]
			h.release()
			return nil, err
		}
	}
	return h, nil
}

// release gives the locks back. A second call does nothing.
func (h *heldLocks) release() {
	for _, k := range slices.Backward(h.keys) {
		h.table.unlock(k)
	}
	h.keys = nil
}

func (t *lockTable) lock(ctx context.Context, k store.Key) error {
	t.mu.Lock()
	e := t.entries[k]
	if e == nil {
		if t.entries == nil {
			t.entries = map[store.Key]*lockEntry{}
		}
		e = lockEntries.Get().(*lockEntry)
		t.entries[k] = e
	}
	e.users++
	t.mu.Unlock()
	if err := take(ctx, e.token); err != nil {
		t.leave(k)
		return err
	}
	return nil
}

// take puts a token into a channel that has room for one. It waits for the room
// as long as ctx allows; if there is room it does not look at ctx.
func take(ctx context.Context, token chan struct{}) error {
	select {
	case token <- struct{}{}:
		return nil
	default:
	}
	select {
	case token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *lockTable) unlock(k store.Key) {
	t.mu.Lock()
	e := t.entries[k]
	t.mu.Unlock()
	<-e.token
	t.leave(k)
}

// leave forgets one user of the lock of k, and the lock after the last one.
func (t *lockTable) leave(k store.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.entries[k]
	if e.users--; e.users == 0 {
		delete(t.entries, k)
		lockEntries.Put(e)
	}
}

// lockTables finds the lock table of an account that is open already, so that
// several Accounts made over one account of one backend exclude each other as
// one does.
var lockTables struct {
	mu     sync.Mutex
	tables map[accountKey]weak.Pointer[lockTable]
}

// accountKey names an account of this process.
type accountKey struct {
	backend store.Backend
	id      store.AccountID
}

// sharedLocks returns the lock table of an account.
func sharedLocks(b store.Backend, id store.AccountID) *lockTable {
	if !reflect.ValueOf(b).Comparable() {
		return &lockTable{seen: newSeenVersions()}
	}
	lockTables.mu.Lock()
	defer lockTables.mu.Unlock()
	k := accountKey{b, id}
	if t := lockTables.tables[k].Value(); t != nil {
		return t
	}
	if lockTables.tables == nil {
		lockTables.tables = map[accountKey]weak.Pointer[lockTable]{}
	}
	t := &lockTable{seen: newSeenVersions()}
	lockTables.tables[k] = weak.Make(t)
	runtime.AddCleanup(t, forgetLocks, k)
	return t
}

// forgetLocks removes the table of k once it was collected, unless the account
// was opened again since.
func forgetLocks(k accountKey) {
	lockTables.mu.Lock()
	defer lockTables.mu.Unlock()
	if lockTables.tables[k].Value() == nil {
		delete(lockTables.tables, k)
	}
}
