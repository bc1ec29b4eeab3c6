package signal

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal/store"
)

// An Account is one identity with its records in a backend: sessions,
// identities of others, prekeys, sender keys. Its methods are safe for
// concurrent use and callers never lock: each operation holds the locks of the
// rows that it changes from before it loads them until they are written, and
// waits for them no longer than its context lasts.
//
// Every operation that changes a record has written it before it returns what
// came of it, in one transaction. On an error nothing is written; if the error
// came from the write itself, what the backend then holds decides, and the
// next operation loads it. So a ciphertext whose message key is not known to
// be used up never leaves an Account. See docs/durability.md.
//
// Errors: those of the values, such as ErrNoSession and ErrBadMAC; an error of
// the backend wrapped, for errors.Is and errors.As; an error in the chain of
// which is ErrCorruptRecord for a record that does not parse, which is left as
// it is until it is deleted or imported anew.
//
// Only one process may use an account of a database at a time.
type Account struct {
	backend store.Backend
	id      store.AccountID
	name    string
	local   Local
	locks   *lockTable
	trust   atomic.Uint32 // a TrustPolicy
}

// AccountOptions says what CreateAccount does not make up itself.
type AccountOptions struct {
	Identity       *IdentityKeyPair // generated if nil
	RegistrationID uint32           // generated, from 1 to 16380, if 0
}

// maxRegistrationID bounds the registration ids that are generated, which have
// 14 bits as other implementations make them.
const maxRegistrationID = 16380

// CreateAccount makes an account of that name in the backend. It draws 32
// bytes for an identity that is not given, then 4 for a registration id that is
// not given. The error is store.ErrAccountExists if the name is in use.
func CreateAccount(ctx context.Context, b store.Backend, name string, o AccountOptions) (*Account, error) {
	identity, registration := o.Identity, o.RegistrationID
	if identity == nil {
		var err error
		if identity, err = GenerateIdentityKeyPair(); err != nil {
			return nil, err
		}
	}
	if registration == 0 {
		var r [4]byte
		if err := random.Read(r[:]); err != nil {
			return nil, err
		}
		n := uint32(r[0]) | uint32(r[1])<<8 | uint32(r[2])<<16 | uint32(r[3])<<24
		registration = n%maxRegistrationID + 1
	}
	row := accountRow{local: Local{Identity: identity, RegistrationID: registration}, nextPreKey: 1}
	id, err := b.CreateAccount(ctx, name, row.append(nil))
	if err != nil {
		return nil, fmt.Errorf("signal: create account: %w", err)
	}
	return newAccount(b, id, name, row.local), nil
}

// OpenAccount opens the account of that name. The error is store.ErrNoAccount
// if there is none.
func OpenAccount(ctx context.Context, b store.Backend, name string) (*Account, error) {
	stored, err := b.OpenAccount(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("signal: open account: %w", err)
	}
	row, err := parseAccountRow(stored.Row.Value)
	if err != nil {
		return nil, err
	}
	return newAccount(b, stored.ID, name, row.local), nil
}

func newAccount(b store.Backend, id store.AccountID, name string, local Local) *Account {
	return &Account{backend: b, id: id, name: name, local: local, locks: sharedLocks(b, id)}
}

// Identity returns the identity of the account.
func (a *Account) Identity() *IdentityKeyPair { return a.local.Identity }

// RegistrationID returns the registration id of the account.
func (a *Account) RegistrationID() uint32 { return a.local.RegistrationID }

// load reads rows. what names them in the error.
func (a *Account) load(ctx context.Context, what string, keys ...store.Key) ([]store.Record, error) {
	recs, _, err := a.backend.Read(ctx, a.id, keys)
	if err != nil {
		return nil, fmt.Errorf("signal: load %s: %w", what, err)
	}
	return recs, nil
}

// save writes a batch. what names it in the error.
func (a *Account) save(ctx context.Context, what string, b *store.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if _, err := a.backend.Apply(ctx, a.id, b); err != nil {
		return fmt.Errorf("signal: write %s: %w", what, err)
	}
	return nil
}
