package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// Flush writes everything that operations which have returned have changed. A
// durable account has nothing to write.
func (a *Account) Flush(ctx context.Context) error {
	if err := a.life.enter(); err != nil {
		return err
	}
	defer a.life.leave()
	if a.cache == nil {
		return nil
	}
	if err := a.flush(ctx, nil); err != nil {
		return err
	}
	// What was checked out meanwhile had no part in it.
	locks, err := a.locks.acquire(ctx, a.cache.unwrittenLocks()...)
	if err != nil {
		return fmt.Errorf("signal: lock changes: %w", err)
	}
	defer locks.release()
	return a.flush(ctx, nil)
}

// Close waits for the operations that are under way, writes what has changed and
// gives a leased account back: its records are exact then, no counter is
// skipped by the next owner. Operations that begin later end with
// ErrAccountClosed. If Close fails, it can be called again; until it has
// succeeded nobody else can open a leased account, but by taking it over. The
// backend stays open.
func (a *Account) Close(ctx context.Context) error {
	if err := a.life.end(ctx); err != nil {
		return fmt.Errorf("signal: close account: %w", err)
	}
	if a.cache == nil {
		return nil
	}
	a.closing.Lock()
	defer a.closing.Unlock()
	if err := a.giveBack(ctx); err != nil {
		return fmt.Errorf("signal: close account: %w", err)
	}
	return nil
}

func (a *Account) giveBack(ctx context.Context) error {
	c := a.cache
	if lost, over := c.end(); lost != nil || over {
		return lost
	}
	if err := a.flush(ctx, nil); err != nil {
		return err
	}
	if c.left() {
		for _, table := range []store.Table{store.Sessions, store.SenderKeys} {
			if err := a.eachPage(ctx, table, "", func(keys []store.Key) error { return a.dropLeases(ctx, keys) }); err != nil {
				return err
			}
		}
	}
	if err := a.backend.Release(ctx, a.id, a.fence); err != nil {
		return err
	}
	c.release()
	return nil
}

// dropLeases removes the leases of this account from the rows of keys. They
// are those of rows that were evicted, whose records are exact, unless they were
// put back since.
func (a *Account) dropLeases(ctx context.Context, keys []store.Key) error {
	recs, generation, err := a.read(ctx, "leases", keys)
	if err != nil {
		return err
	}
	var b store.Batch
	for i, rec := range recs {
		r := &row{key: keys[i]}
		r.set(rec.Value, rec.Found)
		if r.err == nil && a.seen.putBack(keys[i], rec, generation) {
			r.closeSending()
			if err := r.store(&b); err != nil {
				return err
			}
			continue
		}
		l := r.lease()
		if l == nil || l.ceiling == 0 || !a.cache.wrote(l) {
			continue
		}
		*l = lease{}
		if err := r.store(&b); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err = a.apply(ctx, "leases", &b)
	return err
}

// unwrittenLocks returns the locks of the rows that have changed and are not on
// disk.
func (c *cache) unwrittenLocks() []store.Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := make([]store.Key, len(c.dirty))
	for i, r := range c.dirty {
		keys[i] = lockOf(r.key)
	}
	return keys
}

// end removes the leases of all rows, as nothing is sent any more, and has all of
// them written, so that what is on disk is what was here, whatever became of it
// in the meantime. It reports why there is nothing to write: another owner has
// come, or all is done.
func (c *cache) end() (lost error, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.rows {
		if !r.sends() || r.err != nil {
			continue
		}
		if l := r.lease(); l != nil {
			*l = lease{}
		}
		c.change(r)
	}
	return c.lost, c.over
}

// left reports whether sessions or sender keys were evicted.
func (c *cache) left() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.evicted
}

// release lets go of everything.
func (c *cache) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	c.rows, c.dirty, c.first, c.last, c.bytes, c.dirtyBytes = nil, nil, nil, nil, 0, 0
}
