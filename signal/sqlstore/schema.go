package sqlstore

import (
	"fmt"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

// migrations holds the statements that bring a database from each version of
// the schema to the next: the first ones make version 1 of an empty database.
// The words in braces are the dialect's.
//
// Names are byte strings because they are compared byte for byte and may hold
// any byte. In SQLite, tables of short records keep the record in the primary
// key's tree; those whose records grow to many pages have the key in an index
// of its own, so that a search does not read records. The handle of a deleted
// account is not given again.
var migrations = [][]string{
	{
		`CREATE TABLE schema_version (version {integer} NOT NULL)`,
		`INSERT INTO schema_version VALUES (0)`,
		`CREATE TABLE accounts (id {handle}, name {bytes} NOT NULL UNIQUE, record {bytes} NOT NULL)`,
		`CREATE TABLE identities (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (account, name)){tree}`,
		`CREATE TABLE sessions (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (account, name))`,
		`CREATE TABLE prekeys (account {integer} NOT NULL, id {integer} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (account, id)){tree}`,
		`CREATE TABLE signed_prekeys (account {integer} NOT NULL, id {integer} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (account, id)){tree}`,
		`CREATE TABLE sender_keys (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, PRIMARY KEY (account, name))`,
	},
	{
		`ALTER TABLE accounts ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE accounts ADD COLUMN generation {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE accounts ADD COLUMN fence {integer} NOT NULL DEFAULT 0`,
		`ALTER TABLE accounts ADD COLUMN held {integer} NOT NULL DEFAULT 0`,
		`ALTER TABLE accounts ADD COLUMN holder TEXT NOT NULL DEFAULT ''`,
		`ALTER TABLE identities ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE sessions ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE prekeys ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE signed_prekeys ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`ALTER TABLE sender_keys ADD COLUMN version {integer} NOT NULL DEFAULT 1`,
		`CREATE TABLE sender_key_devices (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, version {integer} NOT NULL, PRIMARY KEY (account, name))`,
		`CREATE TABLE lids (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, version {integer} NOT NULL, PRIMARY KEY (account, name)){tree}`,
		`CREATE TABLE base_keys (account {integer} NOT NULL, name {bytes} NOT NULL, record {bytes} NOT NULL, version {integer} NOT NULL, PRIMARY KEY (account, name)){tree}`,
	},
}

// schemaVersion is the version of the schema that this package reads and
// writes, as the table schema_version holds it.
var schemaVersion = len(migrations)

// dialect is what differs in the schema between the databases.
type dialect struct {
	words  *strings.Replacer
	exists string // counts the tables called schema_version
}

var (
	dialectSQLite = dialect{
		words: strings.NewReplacer("{integer}", "INTEGER", "{bytes}", "BLOB",
			"{handle}", "INTEGER PRIMARY KEY AUTOINCREMENT", "{tree}", " WITHOUT ROWID"),
		exists: `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version'`,
	}
	dialectPostgres = dialect{
		words: strings.NewReplacer("{integer}", "BIGINT", "{bytes}", "BYTEA",
			"{handle}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "{tree}", ""),
		exists: `SELECT count(to_regclass('schema_version'))`,
	}
)

// SchemaError is returned by OpenSQLite and OpenPostgres for a database whose
// schema is of a version that this package cannot use.
type SchemaError struct {
	Got  int // as found in the database
	Want int // the newest one that this package knows
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("sqlstore: schema version %d, want %d", e.Got, e.Want)
}

// migrate brings the schema of an open database to schemaVersion, inside a
// transaction of the caller's that keeps others from doing the same. number
// returns the only column of the first row of an answer.
func migrate(d dialect, exec func(statement string) error, number func(query string) (int, error)) error {
	version, err := number(d.exists)
	if err != nil {
		return err
	}
	if version != 0 {
		if version, err = number(`SELECT version FROM schema_version`); err != nil {
			return err
		}
		// Version 0 is no state that a migration leaves behind.
		if version < 1 || version > schemaVersion {
			return &SchemaError{Got: version, Want: schemaVersion}
		}
	}
	if version == schemaVersion {
		return nil
	}
	for _, statements := range migrations[version:] {
		for _, s := range statements {
			if err := exec(d.words.Replace(s)); err != nil {
				return err
			}
		}
	}
	return exec(fmt.Sprintf(`UPDATE schema_version SET version = %d`, schemaVersion))
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
