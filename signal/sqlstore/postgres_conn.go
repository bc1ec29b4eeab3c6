package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sigcore/sigcore/signal/store"
)

const (
	// begin starts every transaction that writes. What the promises of the
	// package rest on is said in each of them: a setting of the connection could
	// be lost behind a pool of connections, and one of the server, the database
	// or the role can be anything.
	begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on"

	// maxAttempts bounds how often an operation is tried that the server ended
	// for no fault of its own. It exceeds the number of connections: after a
	// restart of the server each of them may turn out to be broken.
	maxAttempts = connections + 4

	// maxWait is the longest wait between two attempts.
	maxWait = 50 * time.Millisecond

	// endPatience bounds the wait for the answer to a COMMIT or ROLLBACK, which
	// does not end with the context, so that the outcome is known.
	endPatience = 30 * time.Second
)

// pgConn is one connection, for the time of one transaction.
type pgConn struct {
	sql *sql.Conn
	ctx context.Context
}

func (c *pgConn) exec(statement string, args ...any) (rows int64, err error) {
	res, err := c.sql.ExecContext(c.ctx, statement, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// queryRow reads the first row of the answer into dest, and reports whether
// there is one.
func (c *pgConn) queryRow(query string, args []any, dest ...any) (found bool, err error) {
	err = c.sql.QueryRowContext(c.ctx, query, args...).Scan(dest...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// commitError is a failed COMMIT: what the transaction did may be in the
// database or not, unless the server said that it is not.
type commitError struct{ err error }

func (e *commitError) Error() string { return fmt.Sprintf("commit: %v", e.err) }
func (e *commitError) Unwrap() error { return e.err }

// write calls f inside a transaction and commits it. It repeats f if the server
// ended the transaction for no fault of f's and it is certain that nothing was
// written. If f fails or panics, or the context has ended when f returns, what f
// did is undone.
func (p *Postgres) write(ctx context.Context, f func(*pgConn) error) error {
	return p.repeat(ctx, func() error { return p.transaction(ctx, f) })
}

// read calls f with a connection outside of a transaction: each statement sees
// one state of the database. It repeats f as write does.
func (p *Postgres) read(ctx context.Context, f func(*pgConn) error) error {
	return p.repeat(ctx, func() error {
		c, err := p.db.Conn(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		if err := f(&pgConn{sql: c, ctx: ctx}); err != nil {
			return brokenBy(c, err)
		}
		return nil
	})
}

// repeat calls try until it succeeds, the context ends or maxAttempts is
// reached.
func (p *Postgres) repeat(ctx context.Context, try func() error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for attempt := 1; ; attempt++ {
		err := try()
		if err == nil {
			return nil
		}
		var commit *commitError
		if ctx.Err() != nil && !errors.As(err, &commit) && !isAnswer(err) {
			return ctx.Err() // which the driver words in its own way
		}
		again, wait := transient(err)
		if !again || attempt == maxAttempts {
			return err
		}
		if wait {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(min(time.Millisecond<<attempt, maxWait)):
			}
		}
	}
}

// transient reports whether err says that nothing was written and that another
// attempt may succeed, and whether to wait before it.
func transient(err error) (again, wait bool) {
	var (
		commit  *commitError
		server  *pgconn.PgError
		dialing *pgconn.ConnectError
	)
	committing := errors.As(err, &commit)
	if errors.As(err, &server) {
		switch server.Code {
		case "40001", "40P01": // serialization failure, deadlock: rolled back
			return true, true
		case "57P01", "57P02": // the server is going down and takes the connection along
			return !committing && !errors.As(err, &dialing), false
		}
		return false, false
	}
	if committing || errors.As(err, &dialing) || isAnswer(err) {
		return false, false
	}
	return errors.Is(err, errBroken), false
}

// isAnswer reports whether err is one of package store.
func isAnswer(err error) bool {
	for _, answer := range []error{store.ErrNoAccount, store.ErrAccountExists, store.ErrClosed, store.ErrConflict, store.ErrOwned} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// errBroken marks the error of a connection that broke before it was asked to
// commit anything, often while it lay in the pool.
var errBroken = errors.New("connection is broken")

// brokenBy marks err with errBroken if c is closed after it.
func brokenBy(c *sql.Conn, err error) error {
	raw := c.Raw(func(conn any) error {
		if conn.(*stdlib.Conn).Conn().IsClosed() {
			return driver.ErrBadConn
		}
		return nil
	})
	if raw != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	return err
}

// transaction is write without the repetition.
func (p *Postgres) transaction(ctx context.Context, f func(*pgConn) error) error {
	c, err := p.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	committed := false
	defer func() {
		if committed {
			return
		}
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
		defer cancel()
		if _, err := c.ExecContext(end, "ROLLBACK"); err != nil {
			discard(c)
		}
	}()
	if _, err := c.ExecContext(ctx, begin); err != nil {
		return brokenBy(c, err)
	}
	if err := f(&pgConn{sql: c, ctx: ctx}); err != nil {
		return brokenBy(c, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if _, err := c.ExecContext(end, "COMMIT"); err != nil {
		if end.Err() != nil { // not the caller's context, so not its error
			err = fmt.Errorf("no answer within %v", endPatience)
		}
		return &commitError{err}
	}
	committed = true
	return nil
}

// discard closes the connection below, which the pool then does not reuse. The
// server rolls back what it had open.
func discard(c *sql.Conn) {
	c.Raw(func(any) error { return driver.ErrBadConn })
}
