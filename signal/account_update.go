package signal

import (
	"context"

	"github.com/sigcore/sigcore/signal/store"
)

// update locks the rows, and those that are named besides, loads them, calls f
// with their records and an empty batch, and writes the batch. If f fails nothing
// is written. f may be called again if somebody else wrote the rows meanwhile, so
// that it begins anew each time. what names the rows in errors.
func (a *Account) update(ctx context.Context, what string, rows, alsoLock []store.Key, f func(recs []store.Record, b *store.Batch) error) error {
	locked := rows
	if len(alsoLock) > 0 {
		locked = append(append(make([]store.Key, 0, len(rows)+len(alsoLock)), rows...), alsoLock...)
	}
	locks, err := a.lock(ctx, locked...)
	if err != nil {
		return err
	}
	defer locks.release()
	var recs []store.Record
	if len(rows) > 0 {
		if recs, err = a.load(ctx, what, rows...); err != nil {
			return err
		}
	}
	var b store.Batch
	if err := f(recs, &b); err != nil {
		return err
	}
	return a.save(ctx, what, &b)
}
