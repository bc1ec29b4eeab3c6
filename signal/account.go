package signal

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sigcore/sigcore/signal/store"
)

// An Account is one identity with its records in a backend: sessions,
// identities of others, prekeys, sender keys. Its methods are safe for
// concurrent use and callers never lock: each operation holds the locks of the
// rows that it changes from before it loads them until they are written, and
// waits for them no longer than its context lasts.
//
// A ciphertext whose message key is not known to be used up never leaves an
// Account. In a durable account every operation that changes a record has
// written it before it returns what came of it, in one transaction; in a leased
// one a record on disk says which counters may have been used, and most
// operations write nothing. See [Durability] and docs/durability.md. On an error
// of a write, what the backend then holds decides.
//
// Errors: those of the values, such as ErrNoSession and ErrBadMAC; an error of
// the backend wrapped, for errors.Is and errors.As; an error in the chain of
// which is ErrCorruptRecord for a record that does not parse, which is left as
// it is until it is deleted or imported anew.
//
// An operation that another process got in the way of is done over, and ends with
// a *store.ConflictError if that happens again and again. What such an operation
// calls, such as Wrap of a [GroupSend], may be called more than once.
type Account struct {
	backend store.Backend
	id      store.AccountID
	name    string
	local   Local
	locks   *lockTable
	seen    *seenVersions
	trust   atomic.Uint32 // a TrustPolicy
	life    life
	closing sync.Mutex // held by Close

	// Of a leased account; nil and 0 for one that is durable.
	cache *cache
	fence uint64

	witness accountWitness
}

// Identity returns the identity of the account.
func (a *Account) Identity() *IdentityKeyPair { return a.local.Identity }

// RegistrationID returns the registration id of the account.
func (a *Account) RegistrationID() uint32 { return a.local.RegistrationID }

// read reads rows past the cache. what names them in errors.
func (a *Account) read(ctx context.Context, what string, keys []store.Key) ([]store.Record, uint64, error) {
	least, err := a.seen.now()
	if err != nil {
		return nil, 0, err
	}
	recs, generation, err := a.backend.Read(ctx, a.id, keys)
	if err != nil {
		return nil, 0, fmt.Errorf("signal: load %s: %w", what, err)
	}
	if err := a.seen.see(least, generation); err != nil {
		return nil, 0, err
	}
	return recs, generation, nil
}

// apply writes a batch and returns its generation.
func (a *Account) apply(ctx context.Context, what string, b *store.Batch) (uint64, error) {
	least, err := a.seen.now()
	if err != nil {
		return 0, err
	}
	b.SetFence(a.fence)
	generation, err := a.backend.Apply(ctx, a.id, b)
	if err != nil {
		return 0, fmt.Errorf("signal: write %s: %w", what, err)
	}
	if b.Len() > 0 {
		least++
		a.seen.wrote(b, generation)
	}
	if err := a.seen.see(least, generation); err != nil {
		return 0, err
	}
	return generation, nil
}
