package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/signal/store"
)

// settleLeased makes what has changed the state of the account, and writes it if
// something waits for that: a message key that no lease on disk covers, or a
// change that must be on disk. What does not wait is written with what does, or
// after flushEvery operations.
func (t *txn) settleLeased(ctx context.Context) error {
	c := t.a.cache
	if t.through() {
		return t.writeThrough(ctx)
	}
	c.take(t)
	for {
		c.mu.Lock()
		ready, due := t.ready(), c.operations >= flushEvery
		c.mu.Unlock()
		switch {
		case ready && due:
			// The operation is done. If this fails, the next one that must wait
			// for the disk has the error.
			_ = t.a.flush(ctx, nil)
			return nil
		case ready:
			return nil
		}
		if err := t.a.flush(ctx, t.ready); err != nil {
			return err
		}
	}
}

// ready reports whether nothing of the txn waits for the disk. The caller holds
// the lock of the cache.
func (t *txn) ready() bool {
	for _, r := range t.rows {
		if r.sent && !r.covered() {
			return false
		}
		if t.sync && r.flushed < r.seq {
			return false
		}
	}
	return true
}

// through reports whether a txn does nothing but store and delete records that
// must be on disk: then it can fail without having changed anything.
func (t *txn) through() bool {
	return t.sync && !slices.ContainsFunc(t.rows, func(r *row) bool { return r.changed })
}

// writeThrough writes what is staged, and then has the cache know it.
func (t *txn) writeThrough(ctx context.Context) error {
	if len(t.staged) == 0 {
		return nil
	}
	c := t.a.cache
	// A write that is under way may be of an earlier form of the rows.
	if err := take(ctx, c.flushing); err != nil {
		return fmt.Errorf("signal: write %s: %w", t.what, err)
	}
	defer func() { <-c.flushing }()
	var b store.Batch
	t.put(&b)
	generation, err := t.a.apply(ctx, t.what, &b)
	if errors.Is(err, store.ErrOwned) {
		c.lose(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range t.staged {
		r := s.row
		if err != nil {
			// The write may have taken place, and then the disk has no lease.
			r.disk = diskLease{}
			continue
		}
		c.clean(r)
		r.set(s.value, !s.delete)
		c.seq++
		r.seq, r.flushed, r.version, r.disk, r.with = c.seq, c.seq, generation, r.current(), nil
		if !r.exists {
			r.version = 0
		}
		if keeps(r.key.Table) {
			c.keep(r)
		} else {
			c.drop(r)
		}
	}
	return err
}

// put adds what is staged to a batch.
func (t *txn) put(b *store.Batch) {
	for _, s := range t.staged {
		if s.delete {
			b.Delete(s.row.key)
		} else {
			b.Put(s.row.key, s.value)
		}
	}
}

// flush writes everything that has changed and is checked in, in one
// transaction, unless done reports that there is no need any more. Flushes
// come one after the other, so that no row is overwritten by an earlier form of
// it. On an error all stays as it is: what has changed is still to be written,
// and what waits for it still waits.
func (a *Account) flush(ctx context.Context, done func() bool) error {
	c := a.cache
	if err := take(ctx, c.flushing); err != nil {
		return fmt.Errorf("signal: write: %w", err)
	}
	defer func() { <-c.flushing }()
	b, written, err := c.collect(done)
	if err != nil || len(written) == 0 {
		return err
	}
	generation, err := a.apply(ctx, "changes", b)
	if err == nil {
		err = a.witnessed(ctx, generation)
	}
	if err != nil {
		if errors.Is(err, store.ErrOwned) {
			c.lose(err)
		}
		return err
	}
	c.flushed(written, generation)
	return nil
}

// lose is for an account that another one owns: nothing can be written, and so
// nothing may be used any more.
func (c *cache) lose(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lost = err
}

// written is a row as it went into a batch.
type written struct {
	row  *row
	seq  uint64
	disk diskLease
}

// collect puts the rows that have changed into a batch.
func (c *cache) collect(done func() bool) (*store.Batch, []written, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if done != nil && done() {
		return nil, nil, nil
	}
	c.operations = 0
	var b store.Batch
	b.Grow(len(c.dirty))
	out := make([]written, 0, len(c.dirty))
	add := func(r *row) error {
		c.renew(r)
		c.stamp(r)
		if err := r.store(&b); err != nil {
			return err
		}
		if r.live() {
			r.value = nil
		}
		out = append(out, written{r, r.seq, r.current()})
		return nil
	}
	// By table, so that a backend can write many rows at once.
	for table := store.Identities; table.Valid(); table++ {
		for _, r := range c.dirty {
			if r.key.Table != table || r.out && inPlace(r.key.Table) || !c.mayGo(r) {
				continue
			}
			if err := add(r); err != nil {
				return nil, nil, err
			}
		}
	}
	return &b, out, nil
}

// inPlace reports whether the rows of a table change in place while they are
// checked out: nobody else may look at them then, not even at what form they have.
func inPlace(t store.Table) bool { return t == store.Sessions || t == store.SenderKeys }

// live reports whether a row has a form that changes in place.
func (r *row) live() bool { return r.session != nil || r.senderKey != nil }

// lease returns the lease of the live form of a row.
func (r *row) lease() *lease {
	switch {
	case r.session != nil:
		return &r.session.lease
	case r.senderKey != nil:
		return &r.senderKey.lease
	}
	return nil
}

// mayGo reports whether a row can be written: a prekey that was used up is
// deleted together with the write of the session that it went into, or after
// it.
func (c *cache) mayGo(r *row) bool {
	return r.with == nil || r.with.flushed >= r.withSeq || !r.with.out
}

// flushed takes in that rows are on disk.
func (c *cache) flushed(rows []written, generation uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range rows {
		r := w.row
		r.flushed, r.version, r.disk = w.seq, generation, w.disk
		if !r.exists {
			r.version = 0
		}
		if r.seq != w.seq {
			continue
		}
		r.queued, r.with = false, nil
		c.dirtyBytes -= r.size
		if !keeps(r.key.Table) {
			c.drop(r)
		}
	}
	kept := c.dirty[:0]
	for _, r := range c.dirty {
		if r.queued {
			kept = append(kept, r)
		}
	}
	clear(c.dirty[len(kept):])
	c.dirty = kept
	c.evict()
}
