package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// How an operation on rows is made: [Account.run] takes the locks, a txn loads
// the rows, the operation changes them in memory through the txn, and the txn
// settles what has changed before the operation returns. What settling means is
// the durability of the account, and nothing that an operation has to know.

// maxConflicts is how often an operation is tried because another process has
// written one of its rows in between.
const maxConflicts = 32

// txn is one attempt at an operation: the rows that it has loaded and what it
// changes.
type txn struct {
	a     *Account
	what  string     // names the rows in errors
	rows  []*row     // each once
	asked []*row     // in the order of the keys that were asked for
	few   [2][3]*row // backs rows and asked for the common case
	byKey map[store.Key]*row

	staged     []staged
	generation uint64 // with which all rows were read, 0 if there were several
	sync       bool   // what changes must be on disk when the operation returns
	returned   bool   // the operation has, with or without an error
	taken      bool   // the cache has taken in what changed
}

// staged is a raw record to store, or a row to delete.
type staged struct {
	row    *row
	value  []byte
	delete bool
	with   *row // the session that the change must not be on disk without
}

// row is a record of an account in memory: a session or a sender key as what it
// says, any other one as it is stored. It belongs to the holder of its lock.
type row struct {
	key     store.Key
	exists  bool
	version uint64 // of the row on disk, 0 if there is none
	value   []byte // as stored; not of a live session or sender key in the cache
	err     error  // the record does not parse

	session   *Session
	senderKey *SenderKey

	changed bool // the session or sender key, by the txn
	sent    bool // a key of its sending chain is about to be published

	cached
}

// run executes f on the rows of keys, under the locks of locked, and settles
// what it changed. If another process has written one of the rows in between,
// all is loaded anew and f is called again: what it did before is void.
func (a *Account) run(ctx context.Context, what string, locked, keys []store.Key, f func(*txn) error) error {
	if err := a.life.enter(); err != nil {
		return err
	}
	defer a.life.leave()
	locks, err := a.locks.acquire(ctx, locked...)
	if err != nil {
		return fmt.Errorf("signal: lock %s: %w", what, err)
	}
	defer locks.release()
	return retry(ctx, func() error { return a.attempt(ctx, what, keys, f) })
}

// view executes f on the rows of keys, of which those in locked are cached. f
// changes nothing.
func (a *Account) view(ctx context.Context, what string, locked, keys []store.Key, f func(*txn) error) error {
	if a.cache == nil {
		locked = nil // what is read is one state of the database by itself
	}
	return a.run(ctx, what, locked, keys, f)
}

// retry calls f until it fails for another reason than a conflict, at most
// maxConflicts times.
func retry(ctx context.Context, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if !errors.Is(err, store.ErrConflict) || n == maxConflicts {
			return err
		}
		if n < 3 {
			continue
		}
		// Others are at the same rows: step aside for a moment.
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Duration(time.Now().Nanosecond()%n) * 200 * time.Microsecond):
		}
	}
}

func (a *Account) attempt(ctx context.Context, what string, keys []store.Key, f func(*txn) error) error {
	t := &txn{a: a, what: what}
	t.rows, t.asked = t.few[0][:0], t.few[1][:0]
	if a.cache != nil {
		if err := a.cache.makeRoom(ctx, a); err != nil {
			return err
		}
		defer a.cache.checkIn(t)
	}
	if err := t.load(ctx, keys...); err != nil {
		return err
	}
	err := f(t)
	t.returned = true
	if err != nil {
		return err
	}
	if a.cache != nil {
		return t.settleLeased(ctx)
	}
	return t.settle(ctx)
}

// load loads the rows of keys, unless the txn has them, and appends them to
// t.asked.
func (t *txn) load(ctx context.Context, keys ...store.Key) error {
	if len(keys) > 16 && t.byKey == nil {
		t.byKey = make(map[store.Key]*row, len(keys))
		for _, r := range t.rows {
			t.byKey[r.key] = r
		}
	}
	before := len(t.rows)
	for _, k := range keys {
		r := t.find(k)
		if r == nil {
			if t.a.cache != nil {
				r = t.a.cache.checkOut(k)
			}
			if r == nil {
				r = &row{key: k}
			}
			t.rows = append(t.rows, r)
			if t.byKey != nil {
				t.byKey[k] = r
			}
		}
		t.asked = append(t.asked, r)
	}
	missing := t.rows[before:]
	if t.a.cache != nil {
		missing = coldRows(missing)
	}
	if len(missing) == 0 {
		return nil
	}
	names := make([]store.Key, len(missing))
	for i, r := range missing {
		names[i] = r.key
	}
	recs, generation, err := t.a.read(ctx, t.what, names)
	if err != nil {
		return err
	}
	if before == 0 {
		t.generation = generation
	} else if t.generation != generation {
		t.generation = 0
	}
	var damaged []*row
	for i, r := range missing {
		if t.a.adopt(r, recs[i], generation) {
			damaged = append(damaged, r)
		}
	}
	if err := t.a.mend(ctx, damaged); err != nil {
		return err
	}
	if t.a.cache != nil {
		t.a.cache.insert(missing)
	}
	return nil
}

func (t *txn) find(k store.Key) *row {
	if t.byKey != nil {
		return t.byKey[k]
	}
	for _, r := range t.rows {
		if r.key == k {
			return r
		}
	}
	return nil
}

// adopt makes r what was read, and brings it to where none of its message keys
// can have been published. It reports whether the row was put back to an earlier
// state: then r is not what is stored, and has to be.
func (a *Account) adopt(r *row, rec store.Record, generation uint64) (damaged bool) {
	r.set(rec.Value, rec.Found)
	r.version, r.value = rec.Version, rec.Value
	if r.err == nil && a.seen.putBack(r.key, rec, generation) {
		r.closeSending()
		return true
	}
	switch l := r.lease(); {
	case r.err != nil || l == nil || l.ceiling == 0:
	case a.cache != nil && a.cache.wrote(l):
		r.disk = r.current()
	case r.session != nil:
		r.session.waive()
	default:
		r.err = r.senderKey.waive()
	}
	return false
}

// closeSending is for a row that was put back to an earlier state. A session
// still receives, and sends when the peer has made a ratchet step. A sender key
// of ours is gone, and so is a prekey, which was used up or deleted.
func (r *row) closeSending() {
	switch {
	case r.session != nil:
		r.session.closeSenders()
	case r.senderKey != nil && r.senderKey.CanEncrypt(), r.key.Table == store.PreKeys:
		r.set(nil, false)
	}
}

// mend stores rows that were put back as they are to be, before anything is done
// with them: nobody but this process may know.
func (a *Account) mend(ctx context.Context, rows []*row) error {
	if len(rows) == 0 {
		return nil
	}
	var b store.Batch
	for _, r := range rows {
		b.Expect(r.key, r.version)
		if err := r.store(&b); err != nil {
			return err
		}
	}
	generation, err := a.apply(ctx, "row that was put back", &b)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.version = 0; r.exists {
			r.version = generation
		}
	}
	return nil
}

// store adds the row to a batch.
func (r *row) store(b *store.Batch) error {
	if !r.exists {
		b.Delete(r.key)
		return nil
	}
	rec, err := r.encode()
	if err != nil {
		return err
	}
	r.value = rec
	b.Put(r.key, rec)
	return nil
}

// record returns a row as it is stored, unless it is one of a live form.
func (r *row) record() store.Record {
	return store.Record{Value: r.value, Found: r.exists, Version: r.version}
}

// Put stores a raw record when the txn settles. The value must not be modified
// any more.
func (t *txn) Put(k store.Key, value []byte) {
	t.staged = append(t.staged, staged{row: t.target(k), value: value})
}

// Delete deletes a row, whatever its form, when the txn settles.
func (t *txn) Delete(k store.Key) {
	t.staged = append(t.staged, staged{row: t.target(k), delete: true})
}

// target returns the row of k. One that was not loaded is written whatever it
// is.
func (t *txn) target(k store.Key) *row {
	r := t.find(k)
	if r == nil {
		if t.a.cache != nil {
			r = t.a.cache.checkOut(k)
		}
		if r == nil {
			r = &row{key: k}
		}
		t.rows = append(t.rows, r)
		if t.byKey != nil {
			t.byKey[k] = r
		}
	}
	return r
}

// setSession makes s the session of a row.
func (r *row) setSession(s *Session) { r.session, r.exists, r.err, r.changed = s, true, nil, true }

// setSenderKey makes k the sender key of a row.
func (r *row) setSenderKey(k *SenderKey) {
	r.senderKey, r.exists, r.err, r.changed = k, true, nil, true
}

// encode returns the record of a row.
func (r *row) encode() ([]byte, error) {
	switch {
	case r.session != nil:
		return r.session.AppendBinary(r.session.used.append(r.room()))
	case r.senderKey != nil:
		return r.senderKey.AppendBinary(r.senderKey.used.append(r.room()))
	}
	return r.value, nil
}

// settle writes what has changed, exactly, before anybody sees what came of it.
func (t *txn) settle(ctx context.Context) error {
	var b store.Batch
	b.Grow(len(t.staged) + len(t.rows))
	t.put(&b)
	published := false
	for _, r := range t.rows {
		if !r.changed {
			continue
		}
		rec, err := r.encode()
		if err != nil {
			return err
		}
		published = published || r.sent
		if r.version != 0 && bytes.Equal(rec, r.value) {
			continue
		}
		if r.use() {
			if rec, err = r.encode(); err != nil {
				return err
			}
		}
		b.Put(r.key, rec)
	}
	if b.Len() == 0 {
		return nil
	}
	for _, r := range t.rows {
		if r.loaded {
			b.Expect(r.key, r.version)
		}
	}
	b.ReadAt(t.generation)
	generation, err := t.a.apply(ctx, t.what, &b)
	if err != nil || !published {
		return err
	}
	return t.a.witnessed(ctx, generation)
}
