package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// wrap names the operation in an error of the database. The errors that
// package store and the context define are complete as they are.
func wrap(op string, err error) error {
	for _, plain := range []error{store.ErrNoAccount, store.ErrAccountExists, store.ErrClosed, store.ErrConflict, store.ErrOwned, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, plain) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("sqlstore: %s: %w", op, err)
}
