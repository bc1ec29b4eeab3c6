package signal

import (
	"context"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/signal/store"
)

// This file is for operations on records as they are stored.

// update locks the rows, and those that are named besides, loads them, calls f
// with their records and an empty batch, and writes the batch, which is on disk
// when update returns. If f fails nothing is written. f may be called again if
// somebody else wrote the rows meanwhile, so that it begins anew each time. what
// names the rows in errors.
func (a *Account) update(ctx context.Context, what string, rows, alsoLock []store.Key, f func(recs []store.Record, b *store.Batch) error) error {
	locked := make([]store.Key, 0, len(rows)+len(alsoLock))
	for _, k := range rows {
		locked = append(locked, lockOf(k))
	}
	for _, k := range alsoLock {
		locked = append(locked, lockOf(k))
	}
	return a.run(ctx, what, locked, rows, func(t *txn) error {
		recs, err := t.records()
		if err != nil {
			return err
		}
		var b store.Batch
		if err := f(recs, &b); err != nil {
			return err
		}
		t.sync = true
		for _, op := range b.Ops() {
			if op.Delete {
				t.Delete(op.Key)
			} else {
				t.Put(op.Key, op.Value)
			}
		}
		return nil
	})
}

// lockOf returns the lock that guards a row: an identity goes with the session
// of its address, and the holders of a sender key with the key.
func lockOf(k store.Key) store.Key {
	switch k.Table {
	case store.Identities:
		return store.Session(k.Name)
	case store.SenderKeyDevices:
		return store.SenderKey(k.Name)
	}
	return k
}

// parsePeer reads the records of an address, in the order of peerKeys.
func parsePeer(addr Address, recs []store.Record) (*peer, error) {
	rows := []*row{{key: store.Session(addr.String())}, {key: store.Identity(addr.String())}}
	for i, r := range rows {
		r.set(recs[i].Value, recs[i].Found)
	}
	return newPeer(addr, rows)
}

// records returns the rows that were asked for as they would be stored.
func (t *txn) records() ([]store.Record, error) {
	recs := make([]store.Record, len(t.asked))
	for i, r := range t.asked {
		recs[i] = r.record()
		if !r.exists || !r.live() || r.err != nil {
			continue
		}
		if t.a.cache != nil {
			t.a.cache.stamp(r)
		}
		var err error
		if recs[i].Value, err = r.encode(); err != nil {
			return nil, err
		}
	}
	return recs, nil
}

// load reads rows as they are, or will be, stored. It must not be called with
// the lock of a session or of a sender key held.
func (a *Account) load(ctx context.Context, what string, keys ...store.Key) ([]store.Record, error) {
	if a.cache == nil {
		recs, _, err := a.read(ctx, what, keys)
		return recs, err
	}
	out := make([]store.Record, len(keys))
	var kept, others, locked []store.Key
	var keptAt, othersAt []int
	for i, k := range keys {
		if keeps(k.Table) {
			kept, keptAt, locked = append(kept, k), append(keptAt, i), append(locked, lockOf(k))
		} else {
			others, othersAt = append(others, k), append(othersAt, i)
		}
	}
	if len(kept) > 0 {
		err := a.view(ctx, what, locked, kept, func(t *txn) error {
			recs, err := t.records()
			for i, r := range recs {
				out[keptAt[i]] = r
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(others) > 0 {
		if slices.ContainsFunc(others, func(k store.Key) bool { return writtenLater(k.Table) }) {
			if err := a.onDisk(ctx); err != nil {
				return nil, err
			}
		}
		recs, _, err := a.read(ctx, what, others)
		if err != nil {
			return nil, err
		}
		for i, r := range recs {
			out[othersAt[i]] = r
		}
	}
	return out, nil
}

// list returns the keys of the rows that q selects.
func (a *Account) list(ctx context.Context, q store.Query) ([]store.Key, error) {
	if writtenLater(q.Table) {
		if err := a.onDisk(ctx); err != nil {
			return nil, err
		}
	}
	keys, err := a.backend.List(ctx, a.id, q)
	if err != nil {
		return nil, fmt.Errorf("signal: list %v: %w", q.Table, err)
	}
	return keys, nil
}

// writtenLater reports whether an operation can leave rows of t to be written
// later than it returns: what it works with, the prekey that it uses up and the
// devices that it sends a sender key to. Rows of all other tables are only changed
// by update.
func writtenLater(t store.Table) bool {
	return keeps(t) || t == store.PreKeys || t == store.SenderKeyDevices
}

// onDisk writes what earlier operations have changed, before something is read
// past the cache.
func (a *Account) onDisk(ctx context.Context) error {
	if a.cache == nil || !a.cache.unwritten() {
		return nil
	}
	return a.flush(ctx, nil)
}

// save writes a batch past the cache. what names it in the error. The caller
// holds the locks of the rows.
func (a *Account) save(ctx context.Context, what string, b *store.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if a.cache != nil {
		defer a.cache.overwritten(b)
	}
	_, err := a.apply(ctx, what, b)
	return err
}
