package accounttest

import (
	"context"

	"github.com/sigcore/sigcore/signal/store"
)

// other makes a call of the backend that is neither Read nor Apply. Such calls
// can be made to fail, and are not counted as reads.
func (f *Faulty) other(ctx context.Context, do func() error) error {
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, call{}); err != nil {
			return err
		}
	}
	err := do()
	if after != nil {
		err = after(ctx, call{}, err)
	}
	return err
}

// List implements store.Backend.
func (f *Faulty) List(ctx context.Context, id store.AccountID, q store.Query) (keys []store.Key, err error) {
	err = f.other(ctx, func() error {
		keys, err = f.Backend.List(ctx, id, q)
		return err
	})
	return keys, err
}

// OpenAccount implements store.Backend.
func (f *Faulty) OpenAccount(ctx context.Context, name string) (acc store.Account, err error) {
	err = f.other(ctx, func() error {
		acc, err = f.Backend.OpenAccount(ctx, name)
		return err
	})
	return acc, err
}
