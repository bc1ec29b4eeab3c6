package store

import (
	"context"
	"errors"
)

var (
	// ErrNoAccount is returned for an account that the backend does not hold.
	ErrNoAccount = errors.New("store: no such account")

	// ErrAccountExists is returned by CreateAccount for a name in use.
	ErrAccountExists = errors.New("store: account exists")

	// ErrClosed is returned by every method of a closed backend.
	ErrClosed = errors.New("store: backend is closed")
)

// AccountID is the handle of one account of a backend. It is valid as long as
// the account exists, also after the database was closed and opened again, and
// is never given to another account of the same database.
type AccountID int64

// Record is the answer for one row.
type Record struct {
	// Value is the record. It may be empty, and it must not be modified: it may
	// be the stored value itself.
	Value []byte

	// Found is false if there is no such row.
	Found bool
}

// Query selects the rows that List returns.
type Query struct {
	Table Table

	// Prefix, if not empty, keeps the rows whose name begins with it. It is not
	// used for tables that are keyed by id.
	Prefix string
}

// Backend holds the records of any number of accounts. All methods are safe
// for concurrent use, also for the same account.
//
// A method that returns an error has changed nothing, with one exception: if
// the connection to a database breaks during the commit of Apply or of
// CreateAccount, nobody can tell whether the write took place. The caller
// then reads again.
//
// The context bounds the time that a method waits. An error because of the
// context satisfies errors.Is for the error of that context.
//
// Key and table arguments that no backend can hold are programmer errors and
// panic.
type Backend interface {
	// CreateAccount makes an account of that name with its account row, and
	// returns its handle, or ErrAccountExists.
	CreateAccount(ctx context.Context, name string, row []byte) (AccountID, error)

	// OpenAccount returns the handle and the account row of the account of that
	// name, or ErrNoAccount.
	OpenAccount(ctx context.Context, name string) (AccountID, []byte, error)

	// Accounts returns the names of all accounts, sorted.
	Accounts(ctx context.Context) ([]string, error)

	// DeleteAccount deletes an account with all its rows, or returns
	// ErrNoAccount.
	DeleteAccount(ctx context.Context, id AccountID) error

	// Read returns one Record for each key, in the order of keys, all from the
	// same state of the database. A key may be named more than once. Read
	// returns ErrNoAccount if there is no such account.
	Read(ctx context.Context, id AccountID, keys []Key) ([]Record, error)

	// List returns the keys of the selected rows in ascending order.
	List(ctx context.Context, id AccountID, q Query) ([]Key, error)

	// Apply executes the operations of the batch in their order, in one
	// transaction: a reader sees none of them or all, and so does whoever opens
	// the database after a crash. When Apply has returned nil the batch is as
	// durable as the backend makes anything. The values of the batch belong to
	// the backend from the call on, and must not be modified any more, whatever
	// the outcome.
	Apply(ctx context.Context, id AccountID, b *Batch) error

	// Close releases what the backend holds. It waits for calls that are under
	// way; later calls return ErrClosed.
	Close() error
}
