// Package sqlstore keeps the records of package store in an SQL database:
// SQLite, embedded and without cgo, by modernc.org/sqlite.
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
// file, but each account belongs to one of them, and to one [SQLite] in it: the
// locks of package signal do not reach further. This is not checked.
//
// The package is a module of its own, to be required beside that of package
// signal.
package sqlstore
