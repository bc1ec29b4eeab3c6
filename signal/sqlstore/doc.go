// Package sqlstore keeps the records of package store in an SQL database:
// SQLite, embedded and without cgo, by modernc.org/sqlite, or PostgreSQL, by
// github.com/jackc/pgx. Both have one schema, whose version the database holds.
//
// # SQLite
//
// One database file holds any number of accounts. The file is in WAL mode; the
// one connection that writes runs with synchronous=FULL, so that a batch that
// Apply acknowledged survives a power failure, and readers never wait for it.
// Batches that wait for the connection together share a transaction, each in a
// savepoint of its own: many accounts that write at once wait for the disk once.
//
// Records, private keys among them, are stored as they come. The file is
// created readable by its owner alone, and deleted records are overwritten in
// the file (secure_delete); the write-ahead log beside it may hold them until
// it is reused. What the disk below keeps is beyond this package.
//
// A database of this package is meant for a local file system: WAL needs shared
// memory between the processes that open it. Several processes may open one
// file; package signal says what that means for an account.
//
// # PostgreSQL
//
// One database, or one schema of it that the search path names, holds any number
// of accounts. A batch is one transaction at isolation level READ COMMITTED with
// synchronous_commit=on, which locks the row of its account: batches of one
// account follow each other, those of several wait for nobody. Each table takes
// at most one statement for the rows a batch stores and one for those it
// deletes, whatever their number; a Read is one statement.
//
// A transaction that the server gives up (serialization failure, deadlock,
// broken connection) is repeated, a bounded number of times, unless it may have
// been committed. Errors of the server are a *pgconn.PgError in the chain, those
// of reaching it a *pgconn.ConnectError.
//
// Names are keys of an index, which takes them up to 2,600 bytes; the server
// refuses longer ones that do not compress (code 54000).
//
// # The module
//
// The package is a module of its own, to be required beside that of package
// signal.
package sqlstore
