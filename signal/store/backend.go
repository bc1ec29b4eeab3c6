package store

import "context"

// AccountID is the handle of one account of a backend. It is valid as long as
// the account exists, also after the database was closed and opened again, and
// is never given to another account of the same database.
type AccountID int64

// Account is what a backend knows about an account beside its rows.
type Account struct {
	ID AccountID

	// Row is the account row.
	Row Record

	// Generation counts the batches that were applied. A new account is of
	// generation 1.
	Generation uint64

	Owner Owner
}

// Record is the answer for one row.
type Record struct {
	// Value is the record. It may be empty, and it must not be modified: it may
	// be the stored value itself.
	Value []byte

	// Found is false if there is no such row.
	Found bool

	// Version is the generation of the account with which the row was written,
	// 0 if there is no such row. As generations only grow, a row that was put
	// back by other means than Apply is of a lower version than it was.
	Version uint64
}

// Query selects the rows that List returns.
type Query struct {
	Table Table

	// Prefix, if not empty, keeps the rows whose name begins with it. It is not
	// used for tables that are keyed by id.
	Prefix string

	// After, unless it is the zero Key, keeps the rows behind it. Its table is
	// Table.
	After Key

	// Limit, if above 0, is the most rows that are returned.
	Limit int
}

// Check panics unless a backend can answer q. Backends call it first in List.
func (q Query) Check() {
	if !q.Table.Valid() {
		panic("store: unknown table")
	}
	if q.After != (Key{}) {
		q.After.check()
		if q.After.Table != q.Table {
			panic("store: key of another table")
		}
	}
}

// Backend holds the records of any number of accounts. All methods are safe
// for concurrent use, also for the same account and by several processes.
//
// A method that returns an error has changed nothing, with one exception: if
// the connection to a database breaks during the commit of a write, nobody can
// tell whether the write took place. The caller then reads again.
//
// The context bounds the time that a method waits. An error because of the
// context satisfies errors.Is for the error of that context.
//
// Key and table arguments that no backend can hold are programmer errors and
// panic.
type Backend interface {
	// CreateAccount makes an account of that name with its account row, of
	// generation 1, and returns its handle, or ErrAccountExists.
	CreateAccount(ctx context.Context, name string, row []byte) (AccountID, error)

	// OpenAccount returns the account of that name, or ErrNoAccount.
	OpenAccount(ctx context.Context, name string) (Account, error)

	// Accounts returns the names of all accounts, sorted.
	Accounts(ctx context.Context) ([]string, error)

	// DeleteAccount deletes an account with all its rows, whoever owns it, or
	// returns ErrNoAccount.
	DeleteAccount(ctx context.Context, id AccountID) error

	// Read returns one Record for each key, in the order of keys, and the
	// generation of the account, all from the same state of the database. A key
	// may be named more than once. Read returns ErrNoAccount if there is no such
	// account.
	Read(ctx context.Context, id AccountID, keys []Key) (recs []Record, generation uint64, err error)

	// List returns the keys of the selected rows in ascending order.
	List(ctx context.Context, id AccountID, q Query) ([]Key, error)

	// Apply executes the operations of the batch in their order, in one
	// transaction: a reader sees none of them or all, and so does whoever opens
	// the database after a crash. When Apply has returned nil the batch is as
	// durable as the backend makes anything. The values of the batch belong to
	// the backend from the call on, and must not be modified any more, whatever
	// the outcome.
	//
	// The same transaction makes sure that the owner of the account is that of
	// the batch, or returns an *OwnedError, and then that the rows are as the
	// batch expects, or returns a *ConflictError. It counts the generation of
	// the account up by one, which becomes the version of every row that is
	// stored, and returns it. A batch that writes nothing changes nothing, is
	// checked all the same, and returns the generation as it is.
	Apply(ctx context.Context, id AccountID, b *Batch) (generation uint64, err error)

	// Acquire makes the caller the owner of the account and returns the fence of
	// its batches. If the account is held by another owner it returns an
	// *OwnedError, unless takeOver is set: then batches of the other one are
	// refused from now on. holder is stored, for people.
	Acquire(ctx context.Context, id AccountID, holder string, takeOver bool) (fence uint64, err error)

	// Release ends the ownership of that fence. It returns an *OwnedError if
	// that is not the owner.
	Release(ctx context.Context, id AccountID, fence uint64) error

	// Close releases what the backend holds. It waits for calls that are under
	// way; later calls return ErrClosed.
	Close() error
}
