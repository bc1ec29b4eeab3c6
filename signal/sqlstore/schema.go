package sqlstore

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// schemaVersion is the version of the schema that this package reads and
// writes, as the table schema_version holds it.
const schemaVersion = 2

// schema makes the tables of version 1. Names are blobs because they are
// compared byte for byte and may hold any byte. Tables of short records keep
// the record in the primary key's tree; those whose records grow to many pages
// have the key in an index of its own, so that a search does not read records.
// AUTOINCREMENT: the handle of a deleted account is not given again.
var schema = []string{
	`CREATE TABLE schema_version (version INTEGER NOT NULL)`,
	`INSERT INTO schema_version VALUES (1)`,
	`CREATE TABLE accounts (id INTEGER PRIMARY KEY AUTOINCREMENT, name BLOB NOT NULL UNIQUE, record BLOB NOT NULL)`,
	`CREATE TABLE identities (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, PRIMARY KEY (account, name)) WITHOUT ROWID`,
	`CREATE TABLE sessions (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, PRIMARY KEY (account, name))`,
	`CREATE TABLE prekeys (account INTEGER NOT NULL, id INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID`,
	`CREATE TABLE signed_prekeys (account INTEGER NOT NULL, id INTEGER NOT NULL, record BLOB NOT NULL, PRIMARY KEY (account, id)) WITHOUT ROWID`,
	`CREATE TABLE sender_keys (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, PRIMARY KEY (account, name))`,
}

// upgrades holds, at i, what brings a schema of version i+1 to the next one.
var upgrades = [][]string{{
	`ALTER TABLE accounts ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE accounts ADD COLUMN generation INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE accounts ADD COLUMN fence INTEGER NOT NULL DEFAULT 0`,
	`ALTER TABLE accounts ADD COLUMN held INTEGER NOT NULL DEFAULT 0`,
	`ALTER TABLE accounts ADD COLUMN holder TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE identities ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE sessions ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE prekeys ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE signed_prekeys ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`ALTER TABLE sender_keys ADD COLUMN version INTEGER NOT NULL DEFAULT 1`,
	`CREATE TABLE sender_key_devices (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (account, name))`,
	`CREATE TABLE lids (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (account, name)) WITHOUT ROWID`,
	`CREATE TABLE base_keys (account INTEGER NOT NULL, name BLOB NOT NULL, record BLOB NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (account, name)) WITHOUT ROWID`,
	`UPDATE schema_version SET version = 2`,
}}

// SchemaError is returned by OpenSQLite for a database whose schema is of a
// version that this package cannot use.
type SchemaError struct {
	Got  int // as found in the database
	Want int // the newest one that this package knows
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("sqlstore: schema version %d, want %d", e.Got, e.Want)
}

// migrate brings the schema of an open database to schemaVersion.
func migrate(ctx context.Context, c *conn) error {
	return c.write(ctx, func() error {
		var tables int
		err := c.queryRow(`SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`, &tables)
		if err != nil {
			return err
		}
		run := func(statements []string) error {
			for _, s := range statements {
				if _, err := c.sql.ExecContext(context.Background(), s); err != nil {
					return err
				}
			}
			return nil
		}
		if tables == 0 {
			if err := run(schema); err != nil {
				return err
			}
		}
		var version int
		if err := c.queryRow(`SELECT version FROM schema_version`, &version); err != nil {
			return err
		}
		if version < 1 || version > schemaVersion {
			return &SchemaError{Got: version, Want: schemaVersion}
		}
		for _, statements := range upgrades[version-1:] {
			if err := run(statements); err != nil {
				return err
			}
		}
		return nil
	})
}

// keyColumn returns the name of the column that keys the rows of t.
func keyColumn(t store.Table) string {
	if t.ByID() {
		return "id"
	}
	return "name"
}

// keyValue returns k as the value of its key column.
func keyValue(k store.Key) any {
	if k.Table.ByID() {
		return int64(k.ID)
	}
	return []byte(k.Name)
}
