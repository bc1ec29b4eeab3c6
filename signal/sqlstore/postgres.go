package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/sigcore/sigcore/signal/store"
)

// connections is the most connections that a backend opens to a PostgreSQL
// server, so that a few processes stay within the 100 that a server allows.
const connections = 8

// migrationLock is the advisory lock of whoever changes the schema. Its number
// has no meaning.
const migrationLock = 0x736967636f7265

// Postgres is a store.Backend on one PostgreSQL database.
type Postgres struct {
	db *sql.DB

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup // those under way
}

var _ store.Backend = (*Postgres)(nil)

// OpenPostgres opens the database that dataSource names, a URL
// (postgres://user:password@host/database) or a list of keywords and values,
// as libpq and pgx read them, and creates the tables if there are none, in the
// first schema of the search path. It returns a *SchemaError if the database
// was written by a version of this package with another schema.
func OpenPostgres(ctx context.Context, dataSource string) (*Postgres, error) {
	if dataSource == "" {
		return nil, errors.New("sqlstore: empty data source")
	}
	config, err := pgx.ParseConfig(dataSource)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	return openPostgres(ctx, config)
}

func openPostgres(ctx context.Context, config *pgx.ConnConfig) (*Postgres, error) {
	p := &Postgres{db: stdlib.OpenDB(*config)}
	p.db.SetMaxOpenConns(connections)
	p.db.SetMaxIdleConns(connections)
	if err := p.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: open: %w", err), p.Close())
	}
	return p, nil
}

// migrate brings the schema to its present version.
func (p *Postgres) migrate(ctx context.Context) error {
	return p.write(ctx, func(c *pgConn) error {
		exec := func(statement string) error {
			_, err := c.exec(statement)
			return err
		}
		number := func(query string) (n int, err error) {
			found, err := c.queryRow(query, nil, &n)
			if err == nil && !found {
				err = sql.ErrNoRows
			}
			return n, err
		}
		if _, err := c.exec(`SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		return migrate(dialectPostgres, exec, number)
	})
}

// enter counts a call as under way until leave, unless the backend is closed.
func (p *Postgres) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return store.ErrClosed
	}
	p.calls.Add(1)
	return nil
}

func (p *Postgres) leave() { p.calls.Done() }

// Close implements store.Backend.
func (p *Postgres) Close() error {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return store.ErrClosed
	}
	p.calls.Wait()
	return p.db.Close()
}
