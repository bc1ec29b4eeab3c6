package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/sigcore/sigcore/signal/store"
)

const (
	// busyTimeout is how long SQLite itself waits for a lock that another
	// process holds, in one attempt. It is short because a wait inside SQLite
	// does not end when the context does.
	busyTimeout = 100 * time.Millisecond

	// lockPatience is how long the attempts go on.
	lockPatience = 30 * time.Second

	// maxStatements bounds the prepared statements that a connection keeps.
	maxStatements = 256
)

// conn is one connection with its prepared statements. It has one user at a
// time. Its statements run without a context: what a caller may have to wait
// for, a free connection or a lock of another process, is waited for outside
// of SQLite, and so the outcome of a statement is always known.
type conn struct {
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

// stmt returns the prepared statement of query.
func (c *conn) stmt(query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	s, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	if len(c.stmts) >= maxStatements {
		for q, old := range c.stmts {
			old.Close()
			delete(c.stmts, q)
			break
		}
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) exec(query string, args ...any) (sql.Result, error) {
	s, err := c.stmt(query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(context.Background(), args...)
}

// query calls scan for each row of the answer.
func (c *conn) query(query string, args []any, scan func(*sql.Rows) error) error {
	s, err := c.stmt(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// queryRow reads the only column of the first row into dest.
func (c *conn) queryRow(query string, dest any, args ...any) error {
	found := false
	err := c.query(query, args, func(r *sql.Rows) error {
		found = true
		return r.Scan(dest)
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// write runs f inside a transaction that holds the write lock from its begin,
// so that nothing f has read can change before its commit. If f or the commit
// fails or panics, or the context has ended when f returns, the transaction is
// rolled back.
func (c *conn) write(ctx context.Context, f func() error) error {
	return c.transaction(ctx, "BEGIN IMMEDIATE", func() error {
		if err := f(); err != nil {
			return err
		}
		return ctx.Err()
	})
}

// read runs f inside a transaction that sees one state of the database.
func (c *conn) read(ctx context.Context, f func() error) error {
	return c.transaction(ctx, "BEGIN", f)
}

// transaction waits for the begin as long as ctx allows, and then runs f.
func (c *conn) transaction(ctx context.Context, begin string, f func() error) (err error) {
	if err := waitBusy(ctx, func() error { _, err := c.exec(begin); return err }); err != nil {
		return err
	}
	open := true
	defer func() {
		if !open {
			return
		}
		if _, e := c.exec("ROLLBACK"); e != nil {
			// SQLite ends a transaction by itself after some errors, and then a
			// rollback fails. A new connection is in a known state for certain.
			c.discard()
		}
	}()
	if err := f(); err != nil {
		return err
	}
	if _, err := c.exec("COMMIT"); err != nil {
		return err
	}
	open = false
	return nil
}

// discard closes the connection below; pool.acquire replaces it. Its statements
// go first: they cannot be closed after it.
func (c *conn) discard() {
	for _, s := range c.stmts {
		s.Close()
	}
	clear(c.stmts)
	c.sql.Raw(func(any) error { return driver.ErrBadConn })
	c.sql.Close()
	c.sql = nil
}

// waitBusy calls f until it does not fail because of a lock that another
// process holds, for as long as ctx and lockPatience allow.
func waitBusy(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(lockPatience)
	for {
		err := f()
		if err == nil || !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// pool hands out a fixed number of connections.
type pool struct {
	db     *sql.DB
	free   chan *conn
	closed chan struct{}
}

// newPool returns a pool of n connections of db, which are opened when they
// are first used.
func newPool(db *sql.DB, n int, closed chan struct{}) *pool {
	p := &pool{db: db, free: make(chan *conn, n), closed: closed}
	for range n {
		p.free <- &conn{stmts: map[string]*sql.Stmt{}}
	}
	return p
}

// acquire waits for a connection. Each one must be given back by release.
func (p *pool) acquire(ctx context.Context) (*conn, error) { return p.acquireUntil(ctx, nil) }

// acquireUntil is acquire that gives up when done is closed. It then returns
// neither a connection nor an error.
func (p *pool) acquireUntil(ctx context.Context, done <-chan struct{}) (*conn, error) {
	select {
	case <-p.closed:
		return nil, store.ErrClosed
	default:
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-p.closed:
		return nil, store.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-done:
		return nil, nil
	case c := <-p.free:
		if c.sql == nil {
			err := waitBusy(ctx, func() (err error) {
				c.sql, err = p.db.Conn(context.Background())
				return err
			})
			if err != nil {
				c.sql = nil
				p.free <- c
				return nil, err
			}
		}
		return c, nil
	}
}

func (p *pool) release(c *conn) { p.free <- c }

// close waits for all connections to be given back and closes them.
func (p *pool) close() error {
	var errs []error
	for range cap(p.free) {
		c := <-p.free
		for _, s := range c.stmts {
			errs = append(errs, s.Close())
		}
		if c.sql != nil {
			errs = append(errs, c.sql.Close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}
