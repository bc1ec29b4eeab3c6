package sqlstore

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// schemaVersion is the version of the schema that this package reads and
// writes, as the table schema_version holds it.
const schemaVersion = 1

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
		if tables == 0 {
			for _, s := range schema {
				if _, err := c.sql.ExecContext(context.Background(), s); err != nil {
					return err
				}
			}
			return nil
		}
		var version int
		if err := c.queryRow(`SELECT version FROM schema_version`, &version); err != nil {
			return err
		}
		if version != schemaVersion {
			return &SchemaError{Got: version, Want: schemaVersion}
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
