package signal

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal/store"
)

// Durability says when an account writes what has changed.
type Durability uint8

const (
	// Durable writes every change before the operation returns what came of it.
	// Any number of processes may have a durable account open at once.
	Durable Durability = iota

	// Leased writes once for 64 messages of a chain: a record on disk says which
	// counters may have been used, and after a crash they are skipped. The
	// account has one owner, who keeps its records in memory. What was received
	// is written with what is sent, or by [Account.Flush]; after a crash a message
	// that the server delivers again is read again. Close a leased account, so
	// that nothing is skipped and the next one can open it.
	Leased
)

// OwnedError is the error of an account that is leased to another owner.
type OwnedError = store.OwnedError

// OpenOptions says how an account is used. The zero value is a durable account.
type OpenOptions struct {
	Durability Durability

	// TakeOver opens the account although somebody owns it: one who has crashed,
	// or is as good as dead. If that owner is alive after all, it writes nothing
	// any more, and its operations end with an *OwnedError. It is not needed if the
	// owner was a process of the same system that has ended, where the system is
	// Linux and was not started anew since.
	TakeOver bool

	// Holder is what others are told about the owner of a leased account, in
	// [store.Owner], before what names the process. Empty stands for the name of
	// the host.
	Holder string

	// CacheBytes bounds the memory of the records that a leased account keeps, in
	// bytes. 0 stands for DefaultCacheBytes. Records that are not on disk yet come
	// on top.
	CacheBytes int

	// Witness, if not nil, tells a database that was put back from a backup: the
	// account then begins with fresh sessions and sender keys, as by
	// [Account.Renew].
	Witness Witness
}

// AccountOptions says what CreateAccount does not make up itself.
type AccountOptions struct {
	Identity       *IdentityKeyPair // generated if nil
	RegistrationID uint32           // generated, from 1 to 16380, if 0

	OpenOptions
}

// maxRegistrationID bounds the registration ids that are generated, which have
// 14 bits as other implementations make them.
const maxRegistrationID = 16380

// CreateAccount makes an account of that name in the backend, and opens it. It
// draws 32 bytes for an identity that is not given, then 4 for a registration id
// that is not given, then what OpenAccount draws. The error is
// store.ErrAccountExists if the name is in use.
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
	return open(ctx, b, name, &row, store.Account{ID: id}, o.OpenOptions)
}

// OpenAccount opens the account of that name. The error is store.ErrNoAccount
// if there is none, and an *OwnedError if somebody owns it. It draws 16 bytes if
// it is leased, and 16 if it is unknown to a witness.
func OpenAccount(ctx context.Context, b store.Backend, name string, o OpenOptions) (*Account, error) {
	stored, err := b.OpenAccount(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("signal: open account: %w", err)
	}
	row, err := parseAccountRow(stored.Row.Value)
	if err != nil {
		return nil, err
	}
	return open(ctx, b, name, row, stored, o)
}

// open makes an Account of what is stored.
func open(ctx context.Context, b store.Backend, name string, row *accountRow, stored store.Account, o OpenOptions) (*Account, error) {
	o.TakeOver = o.TakeOver || dead(stored.Owner)
	locks := sharedLocks(b, stored.ID)
	a := &Account{backend: b, id: stored.ID, name: name, local: row.local, locks: locks, seen: locks.seen}
	var err error
	if o.Durability == Leased {
		err = a.lease(ctx, o)
	} else {
		err = a.free(ctx, stored.Owner, o)
	}
	if err == nil && o.Witness != nil {
		if err = a.meet(ctx, o.Witness); err != nil && a.fence != 0 {
			err = errors.Join(err, b.Release(context.WithoutCancel(ctx), a.id, a.fence))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("signal: open account: %w", err)
	}
	return a, nil
}

// lease makes a the owner of the account.
func (a *Account) lease(ctx context.Context, o OpenOptions) error {
	var incarnation [16]byte
	if err := random.Read(incarnation[:]); err != nil {
		return err
	}
	fence, err := a.backend.Acquire(ctx, a.id, o.holder(), o.TakeOver)
	if err != nil {
		return err
	}
	a.fence, a.cache = fence, newCache(o.CacheBytes, incarnation)
	return nil
}

// free makes sure that nobody owns the account.
func (a *Account) free(ctx context.Context, owner store.Owner, o OpenOptions) error {
	if !owner.Held {
		return nil
	}
	if !o.TakeOver {
		return &OwnedError{Owner: owner}
	}
	fence, err := a.backend.Acquire(ctx, a.id, o.holder(), true)
	if err != nil {
		return err
	}
	return a.backend.Release(ctx, a.id, fence)
}
