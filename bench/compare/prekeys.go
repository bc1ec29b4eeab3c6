package main

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

// storePreKeys is a subject that stores batch in memory, each time in an account
// of its own that holds the rows of before.
func storePreKeys(before, batch *store.Batch) subject {
	ctx := context.Background()
	var (
		m   *store.Memory
		ids []store.AccountID
	)
	return subject{
		prepare: func(n int) error {
			m, ids = store.NewMemory(), ids[:0]
			for i := range n {
				id, err := m.CreateAccount(ctx, fmt.Sprint(i), nil)
				if err != nil {
					return err
				}
				if before != nil {
					if _, err := m.Apply(ctx, id, before); err != nil {
						return err
					}
				}
				ids = append(ids, id)
			}
			return nil
		},
		run: func(n int) error {
			for _, id := range ids[:n] {
				if _, err := m.Apply(ctx, id, batch); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func init() {
	contend("prekeys_memory_64", "sigcore", func() (subject, error) {
		return storePreKeys(nil, storetest.PreKeyBatch(1, 64)), nil
	})
	contend("prekeys_memory_812", "sigcore", func() (subject, error) {
		return storePreKeys(nil, storetest.PreKeyBatch(1, 812)), nil
	})
	// A second batch, with other ids, beside the first one.
	contend("prekeys_memory_populated", "sigcore", func() (subject, error) {
		return storePreKeys(storetest.PreKeyBatch(1, 812), storetest.PreKeyBatch(813, 812)), nil
	})
}
