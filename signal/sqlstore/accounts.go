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
		res, err := c.exec(`INSERT INTO accounts (name, record, version, generation, fence, held, holder) VALUES (?, ?, 1, 1, 0, 0, '') ON CONFLICT DO NOTHING`, []byte(name), blob(row))
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
func (s *SQLite) OpenAccount(ctx context.Context, name string) (a store.Account, err error) {
	err = s.withReader(ctx, func(c *conn) error {
		err := c.query(`SELECT id, record, version, generation, fence, held, holder FROM accounts WHERE name = ?`, []any{[]byte(name)}, func(r *sql.Rows) error {
			a.Row.Found = true
			return r.Scan(&a.ID, &a.Row.Value, &a.Row.Version, &a.Generation, &a.Owner.Fence, &a.Owner.Held, &a.Owner.Holder)
		})
		if err == nil && !a.Row.Found {
			err = store.ErrNoAccount
		}
		return err
	})
	if err != nil {
		return store.Account{}, wrap("open account", err)
	}
	return a, nil
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

// Acquire implements store.Backend.
func (s *SQLite) Acquire(ctx context.Context, id store.AccountID, holder string, takeOver bool) (fence uint64, err error) {
	err = s.write(ctx, func(c *conn) error {
		owner, err := c.owner(id)
		if err != nil {
			return err
		}
		if owner.Held && !takeOver {
			return &store.OwnedError{Owner: owner}
		}
		fence = owner.Fence + 1
		_, err = c.exec(`UPDATE accounts SET fence = ?, held = 1, holder = ? WHERE id = ?`, fence, holder, int64(id))
		return err
	})
	if err != nil {
		return 0, wrap("acquire account", err)
	}
	return fence, nil
}

// Release implements store.Backend.
func (s *SQLite) Release(ctx context.Context, id store.AccountID, fence uint64) error {
	err := s.write(ctx, func(c *conn) error {
		owner, err := c.owner(id)
		if err != nil {
			return err
		}
		if !owner.Held || owner.Fence != fence {
			return &store.OwnedError{Owner: owner}
		}
		_, err = c.exec(`UPDATE accounts SET held = 0 WHERE id = ?`, int64(id))
		return err
	})
	return wrap("release account", err)
}

// owner returns the owner of an account, or ErrNoAccount.
func (c *conn) owner(id store.AccountID) (o store.Owner, err error) {
	found := false
	err = c.query(`SELECT fence, held, holder FROM accounts WHERE id = ?`, []any{int64(id)}, func(r *sql.Rows) error {
		found = true
		return r.Scan(&o.Fence, &o.Held, &o.Holder)
	})
	if err == nil && !found {
		err = store.ErrNoAccount
	}
	return o, err
}

// owned returns an error that says who owns the account.
func (c *conn) owned(id store.AccountID) error {
	o, err := c.owner(id)
	if err != nil {
		return err
	}
	return &store.OwnedError{Owner: o}
}
