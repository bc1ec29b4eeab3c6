package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// readers is the number of connections that read. More of them than processors
// gain nothing: the database is a local file.
const readers = 4

// SQLite is a store.Backend on one SQLite database file.
type SQLite struct {
	writer  *pool // of one connection
	readers *pool
	queue   writeQueue
	groups  atomic.Int64 // transactions so far; tests compare them with the writes
	closed  chan struct{}
	once    sync.Once
}

var _ store.Backend = (*SQLite)(nil)

// OpenSQLite opens the database file at path and creates it, with its tables,
// if there is none. It returns a *SchemaError if the database was written by a
// version of this package with another schema.
func OpenSQLite(ctx context.Context, path string) (*SQLite, error) {
	if path == "" {
		return nil, errors.New("sqlstore: empty path")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	// SQLite would create the file readable by all; its log gets the mode of
	// the file.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	s := &SQLite{closed: make(chan struct{})}
	write, err := sql.Open("sqlite", dataSource(path,
		"journal_mode(WAL)", "synchronous(FULL)", "secure_delete(ON)", "temp_store(MEMORY)", "trusted_schema(OFF)"))
	if err != nil {
		return nil, fmt.Errorf("sqlstore: open: %w", err)
	}
	read, err := sql.Open("sqlite", dataSource(path, "query_only(ON)", "temp_store(MEMORY)", "trusted_schema(OFF)"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: open: %w", err), write.Close())
	}
	write.SetMaxOpenConns(1)
	read.SetMaxOpenConns(readers)
	s.writer = newPool(write, 1, s.closed)
	s.readers = newPool(read, readers, s.closed)
	if err := s.withWriter(ctx, func(c *conn) error { return c.migrate(ctx) }); err != nil {
		return nil, errors.Join(fmt.Errorf("sqlstore: open: %w", err), s.Close())
	}
	return s, nil
}

// migrate brings the schema to its present version.
func (c *conn) migrate(ctx context.Context) error {
	exec := func(statement string) error {
		_, err := c.sql.ExecContext(context.Background(), statement)
		return err
	}
	number := func(query string) (n int, err error) {
		return n, c.queryRow(query, &n)
	}
	return c.write(ctx, func() error { return migrate(dialectSQLite, exec, number) })
}

// dataSource returns the name that the driver opens path by. Pragmas are a
// part of it because they belong to a connection, not to the file.
func dataSource(path string, pragmas ...string) string {
	q := url.Values{"_pragma": append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout/time.Millisecond)}, pragmas...)}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// withWriter calls f with the connection that writes.
func (s *SQLite) withWriter(ctx context.Context, f func(*conn) error) error {
	return with(ctx, s.writer, f)
}

// withReader calls f with a connection that only reads.
func (s *SQLite) withReader(ctx context.Context, f func(*conn) error) error {
	return with(ctx, s.readers, f)
}

func with(ctx context.Context, p *pool, f func(*conn) error) error {
	c, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(c)
	return f(c)
}

// Close implements store.Backend.
func (s *SQLite) Close() error {
	err := store.ErrClosed
	s.once.Do(func() {
		close(s.closed)
		// The writer goes last: the last connection of a database writes its log
		// back into the file and removes it.
		err = errors.Join(s.readers.close(), s.writer.close())
	})
	return err
}
