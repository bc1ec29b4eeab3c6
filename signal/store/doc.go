// Package store defines how the account layer of signal keeps its records:
// the Backend interface and the in-memory backend.
//
// A backend stores opaque records of many accounts. It never parses one, and
// it holds no locks for its callers beyond what makes each of its calls
// atomic: which rows may be read and written together is decided by the
// account layer. The interface is batch first: one Read takes every row that
// an operation needs, one Apply writes every row that it changed, in one
// transaction.
//
// Whoever needs a database without the account layer should use database/sql;
// this package has no queries beyond rows and lists of rows.
//
// Errors: a row that is absent, a row whose record is empty and a read that
// failed are three different answers. The first two are a Record, the third
// is an error, which wraps what the database reported.
package store
