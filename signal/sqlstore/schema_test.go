package sqlstore

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
)

// versionOne are the statements that make a database of version 1 with an account
// and two rows.
func versionOne(d dialect) (statements []string) {
	for _, s := range migrations[0] {
		statements = append(statements, d.words.Replace(s))
	}
	return append(statements,
		`UPDATE schema_version SET version = 1`,
		`INSERT INTO accounts (name, record) VALUES ('a', 'row')`,
		`INSERT INTO sessions (account, name, record) SELECT id, 'bob', 'session' FROM accounts`,
		`INSERT INTO prekeys (account, id, record) SELECT id, 7, 'prekey' FROM accounts`,
	)
}

// checkUpgraded holds that a database of version 1 has kept its rows and takes
// what later versions write.
func checkUpgraded(t *testing.T, b store.Backend) {
	t.Helper()
	ctx := t.Context()
	a, err := b.OpenAccount(ctx, "a")
	if err != nil || string(a.Row.Value) != "row" || a.Generation != 1 || a.Row.Version != 1 || a.Owner.Held {
		t.Fatalf("%+v, %v", a, err)
	}
	keys := []store.Key{store.Session("bob"), store.PreKey(7), store.LID("bob")}
	recs, generation, err := b.Read(ctx, a.ID, keys)
	if err != nil || generation != 1 || string(recs[0].Value) != "session" || string(recs[1].Value) != "prekey" || recs[0].Version != 1 || recs[2].Found {
		t.Fatalf("%+v, %v", recs, err)
	}
	batch := new(store.Batch)
	batch.Expect(keys[0], 1)
	batch.Put(keys[0], []byte("next"))
	batch.Put(keys[2], []byte("lid"))
	if generation, err := b.Apply(ctx, a.ID, batch); err != nil || generation != 2 {
		t.Fatalf("generation %d, %v", generation, err)
	}
}

func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range versionOne(dialectSQLite) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	// Names are blobs.
	for _, s := range []string{`UPDATE accounts SET name = CAST(name AS BLOB), record = CAST(record AS BLOB)`, `UPDATE sessions SET name = CAST(name AS BLOB)`} {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	checkUpgraded(t, open(t, path))
}
