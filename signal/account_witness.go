package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal/store"
)

// A Witness remembers, outside of a database, how far an account has come, so
// that a database which was put back from a backup is told from one that only
// crashed. It holds an incarnation, 16 bytes that an account draws when it first
// meets the witness and after each time that it was put back, and an epoch, which
// grows with every write before something is published.
//
// A Witness is of one account. What it holds is not secret. Put it where a backup
// of the database does not reach.
type Witness interface {
	// Load returns what Store has stored last, and zeros if it never has.
	Load(ctx context.Context) (incarnation [16]byte, epoch uint64, err error)

	// Store stores both, durably. If it fails, nothing of what it would have
	// witnessed is published. It must not replace a larger epoch of the same
	// incarnation: several processes may be at it.
	Store(ctx context.Context, incarnation [16]byte, epoch uint64) error
}

// witnessed has the witness, if there is one, know that a generation was
// reached, before something is published that it holds.
func (a *Account) witnessed(ctx context.Context, generation uint64) error {
	w := &a.witness
	if w.Witness == nil {
		return nil
	}
	if err := take(ctx, w.busy); err != nil {
		return fmt.Errorf("signal: witness: %w", err)
	}
	defer func() { <-w.busy }()
	if w.epoch >= generation {
		return nil
	}
	if err := w.Store(ctx, w.incarnation, generation); err != nil {
		return fmt.Errorf("signal: witness: %w", err)
	}
	w.epoch = generation
	return nil
}

// accountWitness is the witness of an open account.
type accountWitness struct {
	Witness
	busy        chan struct{} // full while somebody stores
	incarnation [16]byte
	epoch       uint64 // the last one stored
}

// meet compares the account with its witness.
func (a *Account) meet(ctx context.Context, w Witness) error {
	a.witness = accountWitness{Witness: w, busy: make(chan struct{}, 1)}
	incarnation, epoch, err := w.Load(ctx)
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	stored, err := a.backend.OpenAccount(ctx, a.name)
	if err != nil {
		return err
	}
	row, err := parseAccountRow(stored.Row.Value)
	if err != nil {
		return err
	}
	if row.incarnation == ([16]byte{}) && incarnation == row.incarnation && epoch == 0 {
		return a.introduce(ctx)
	}
	if row.incarnation != incarnation || stored.Generation < epoch {
		return a.renew(ctx)
	}
	a.witness.incarnation, a.witness.epoch = incarnation, epoch
	return nil
}

// introduce gives an account that has no incarnation one, and tells the witness.
func (a *Account) introduce(ctx context.Context) error {
	var incarnation [16]byte
	if err := random.Read(incarnation[:]); err != nil {
		return err
	}
	err := a.changeRow(ctx, "account", nil, func(row *accountRow, _ *store.Batch) (bool, error) {
		if row.incarnation == ([16]byte{}) {
			row.incarnation = incarnation
			return true, nil
		}
		incarnation = row.incarnation // another process was first
		return false, nil
	})
	if err != nil {
		return err
	}
	a.witness.incarnation = incarnation
	generation, err := a.seen.now()
	if err != nil {
		return err
	}
	return a.witnessed(ctx, generation)
}
