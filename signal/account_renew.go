package signal

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal/store"
)

// renewChunk is how many rows are renewed in one transaction.
const renewChunk = 64

// Renew is for an account whose database was put back from a backup: it makes
// sure that no message key is used that may have been used after the backup was
// made. No session sends until a new one was started or the peer has made a
// ratchet step; that is ErrSenderClosed, which is an ErrNoSession. Sender keys of
// our own are deleted. What is received with what is left is still read. After
// ErrPutBack the records that a leased account has in memory are newer than the
// database, and stay; without it they may have been read from the backup.
//
// A Renew that fails can be called again.
func (a *Account) Renew(ctx context.Context) error {
	if err := a.life.enter(); err != nil {
		return err
	}
	defer a.life.leave()
	err := a.renew(ctx)
	if err == nil && a.cache != nil {
		err = a.flush(ctx, nil)
	}
	if err != nil {
		return fmt.Errorf("signal: renew account: %w", err)
	}
	return nil
}

func (a *Account) renew(ctx context.Context) error {
	_, err := a.seen.now()
	newer := errors.Is(err, ErrPutBack)
	for _, table := range []store.Table{store.Sessions, store.SenderKeys} {
		q := store.Query{Table: table, Limit: renewChunk}
		for {
			keys, err := a.backend.List(ctx, a.id, q)
			if err != nil {
				return err
			}
			if len(keys) == 0 {
				break
			}
			if err := a.renewRows(ctx, keys, newer); err != nil {
				return err
			}
			q.After = keys[len(keys)-1]
		}
	}
	var incarnation [16]byte
	if a.witness.Witness != nil {
		if err := random.Read(incarnation[:]); err != nil {
			return err
		}
	}
	locks, err := a.locks.acquire(ctx, accountLock)
	if err != nil {
		return err
	}
	defer locks.release()
	return retry(ctx, func() error {
		row, err := a.row(ctx)
		if err != nil {
			return err
		}
		var b store.Batch
		if a.witness.Witness != nil {
			row.incarnation = incarnation
		}
		row.put(&b)
		b.Expect(store.Key{}, row.version)
		b.SetFence(a.fence)
		generation, err := a.backend.Apply(ctx, a.id, &b)
		if err != nil {
			return err
		}
		if a.witness.Witness != nil {
			if err := a.witness.Store(ctx, incarnation, generation); err != nil {
				return err
			}
			a.witness.incarnation, a.witness.epoch = incarnation, generation
		}
		a.seen.restart(generation)
		return nil
	})
}

// renewRows renews sessions or sender keys. newer says that what is in memory is
// newer than the database.
func (a *Account) renewRows(ctx context.Context, keys []store.Key, newer bool) error {
	locks, err := a.locks.acquire(ctx, keys...)
	if err != nil {
		return err
	}
	defer locks.release()
	return retry(ctx, func() error {
		recs, _, err := a.backend.Read(ctx, a.id, keys)
		if err != nil {
			return err
		}
		var b store.Batch
		b.SetFence(a.fence)
		for i, rec := range recs {
			if a.cache != nil && a.cache.renewRow(keys[i], newer) {
				continue
			}
			r := &row{key: keys[i]}
			r.set(rec.Value, rec.Found)
			b.Expect(r.key, rec.Version)
			if r.err != nil || !r.live() || r.senderKey != nil && !r.senderKey.CanEncrypt() {
				continue
			}
			r.closeSending()
			if err := r.store(&b); err != nil {
				return err
			}
		}
		if b.Len() == 0 {
			return nil
		}
		_, err = a.backend.Apply(ctx, a.id, &b)
		return err
	})
}

// renewRow reports whether the cache has the row k, whose lock the caller holds,
// and if so has it written again: what is on disk is not what was written. Unless
// it is newer than the database it is renewed.
func (c *cache) renewRow(k store.Key, newer bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rows[k]
	if r == nil || !r.loaded {
		return false
	}
	if !newer && r.err == nil {
		r.closeSending()
	}
	r.disk = diskLease{}
	c.change(r)
	return true
}
