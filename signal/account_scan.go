package signal

import (
	"context"

	"github.com/sigcore/sigcore/signal/store"
)

// scanSize is how many rows a scan of a table takes at a time.
const scanSize = 256

// eachPage calls f with the keys of a table that begin with prefix, in ascending
// order, at most scanSize at a time. What is written meanwhile may be missed.
func (a *Account) eachPage(ctx context.Context, t store.Table, prefix string, f func(keys []store.Key) error) error {
	q := store.Query{Table: t, Prefix: prefix, Limit: scanSize}
	for {
		keys, err := a.list(ctx, q)
		if err != nil {
			return err
		}
		if len(keys) > 0 {
			if err := f(keys); err != nil {
				return err
			}
			q.After = keys[len(keys)-1]
		}
		if len(keys) < scanSize {
			return nil
		}
	}
}

// eachKey is eachPage for one key at a time.
func (a *Account) eachKey(ctx context.Context, t store.Table, f func(store.Key) error) error {
	return a.eachPage(ctx, t, "", func(keys []store.Key) error {
		for _, k := range keys {
			if err := f(k); err != nil {
				return err
			}
		}
		return nil
	})
}
