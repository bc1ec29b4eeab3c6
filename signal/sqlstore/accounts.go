package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/sigcore/sigcore/signal/store"
)

// blob returns b as a value that SQLite stores as a blob: nil would be NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// CreateAccount implements store.Backend.
func (s *SQLite) CreateAccount(ctx context.Context, name string, row []byte) (id store.AccountID, err error) {
	err = s.write(ctx, func(c *conn) error {
		res, err := c.exec(`INSERT INTO accounts (name, record) VALUES (?, ?) ON CONFLICT DO NOTHING`, []byte(name), blob(row))
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, store.ErrAccountExists)
		}
		n, err := res.LastInsertId()
		id = store.AccountID(n)
		return err
	})
	return id, wrap("create account", err)
}

// OpenAccount implements store.Backend.
func (s *SQLite) OpenAccount(ctx context.Context, name string) (id store.AccountID, row []byte, err error) {
	err = s.withReader(ctx, func(c *conn) error {
		found := false
		err := c.query(`SELECT id, record FROM accounts WHERE name = ?`, []any{[]byte(name)}, func(r *sql.Rows) error {
			found = true
			return r.Scan(&id, &row)
		})
		if err == nil && !found {
			err = store.ErrNoAccount
		}
		return err
	})
	return id, row, wrap("open account", err)
}

// Accounts implements store.Backend.
func (s *SQLite) Accounts(ctx context.Context) (names []string, err error) {
	err = s.withReader(ctx, func(c *conn) error {
		return c.query(`SELECT name FROM accounts ORDER BY name`, nil, func(r *sql.Rows) error {
			var name []byte
			err := r.Scan(&name)
			names = append(names, string(name))
			return err
		})
	})
	return names, wrap("list accounts", err)
}

// DeleteAccount implements store.Backend.
func (s *SQLite) DeleteAccount(ctx context.Context, id store.AccountID) error {
	err := s.write(ctx, func(c *conn) error {
		for t := store.Identities; t.Valid(); t++ {
			if _, err := c.exec(`DELETE FROM `+t.String()+` WHERE account = ?`, int64(id)); err != nil {
				return err
			}
		}
		res, err := c.exec(`DELETE FROM accounts WHERE id = ?`, int64(id))
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, store.ErrNoAccount)
		}
		return nil
	})
	return wrap("delete account", err)
}

// exists returns ErrNoAccount unless there is an account id.
func (c *conn) exists(id store.AccountID) error {
	var one int
	err := c.queryRow(`SELECT 1 FROM accounts WHERE id = ?`, &one, int64(id))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.ErrNoAccount
	}
	return err
}
