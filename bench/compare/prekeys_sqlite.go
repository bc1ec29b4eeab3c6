package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sigcore/sigcore/signal/sqlstore"
	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

// databaseFolder makes a folder that is removed before the program ends.
func databaseFolder() (string, error) {
	dir, err := os.MkdirTemp("", "compare")
	if err == nil {
		cleanups = append(cleanups, func() { _ = os.RemoveAll(dir) })
	}
	return dir, err
}

// cleanups run before the program ends, the last one first.
var cleanups []func()

func cleanUp() {
	for _, f := range slices.Backward(cleanups) {
		f()
	}
	cleanups = nil
}

// sqlitePreKeys stores 812 prekeys in one batch, each time in an account of its
// own.
func sqlitePreKeys() (subject, error) {
	ctx := context.Background()
	dir, err := databaseFolder()
	if err != nil {
		return subject{}, err
	}
	db, err := sqlstore.OpenSQLite(ctx, filepath.Join(dir, "batch.db"))
	if err != nil {
		return subject{}, err
	}
	cleanups = append(cleanups, func() { _ = db.Close() })
	batch := storetest.PreKeyBatch(1, 812)
	var ids []store.AccountID
	return subject{
		prepare: func(n int) error {
			for _, id := range ids {
				if err := db.DeleteAccount(ctx, id); err != nil {
					return err
				}
			}
			ids = ids[:0]
			for i := range n {
				id, err := db.CreateAccount(ctx, fmt.Sprint(time.Now().UnixNano(), i), nil)
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
			return nil
		},
		run: func(n int) error {
			for _, id := range ids[:n] {
				if _, err := db.Apply(ctx, id, batch); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

// sqlitePreKeyRows stores the same rows as a program does that has no batches: one
// prepared statement, one transaction.
func sqlitePreKeyRows() (subject, error) {
	ctx := context.Background()
	dir, err := databaseFolder()
	if err != nil {
		return subject{}, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rows.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=secure_delete(ON)&_pragma=temp_store(MEMORY)")
	if err != nil {
		return subject{}, err
	}
	db.SetMaxOpenConns(1)
	cleanups = append(cleanups, func() { _ = db.Close() })
	if _, err := db.ExecContext(ctx, `CREATE TABLE prekeys (account INTEGER NOT NULL, id INTEGER NOT NULL, record BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID`); err != nil {
		return subject{}, err
	}
	put, err := db.PrepareContext(ctx, `INSERT INTO prekeys (account, id, record, version) VALUES (?, ?, ?, ?) ON CONFLICT (account, id) DO UPDATE SET version = excluded.version, record = excluded.record`)
	if err != nil {
		return subject{}, err
	}
	ops := storetest.PreKeyBatch(1, 812).Ops()
	account := 0
	return subject{
		prepare: func(int) error {
			_, err := db.ExecContext(ctx, `DELETE FROM prekeys`)
			return err
		},
		run: func(n int) error {
			for range n {
				account++
				tx, err := db.BeginTx(ctx, nil)
				if err != nil {
					return err
				}
				each := tx.StmtContext(ctx, put)
				for _, op := range ops {
					if _, err := each.ExecContext(ctx, account, int64(op.Key.ID), op.Value, 1); err != nil {
						return err
					}
				}
				if err := tx.Commit(); err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}

func init() {
	contend("prekeys_sqlite_812", "sigcore", sqlitePreKeys)
	contend("prekeys_sqlite_812_rows", "sigcore", sqlitePreKeyRows)
}
