package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

func database(t *testing.T) (file string, db *sql.DB) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "copy.db")
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	for _, q := range []string{
		"CREATE TABLE whatsmeow_sessions (our_jid TEXT, their_id TEXT, session bytea)",
		"CREATE TABLE whatsmeow_sender_keys (our_jid TEXT, chat_id TEXT, sender_id TEXT, sender_key bytea)",
	} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	k := new(signal.SenderKey)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	record, err := convert.AppendGoSenderKey(nil, k)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("INSERT INTO whatsmeow_sender_keys VALUES ('15550000001:1@s.whatsapp.net', 'group', '15550000002:1', ?)", record); err != nil {
		t.Fatal(err)
	}
	return file, db
}

func TestCheck(t *testing.T) {
	file, db := database(t)
	var out strings.Builder
	ok, err := check(&out, file)
	if err != nil || !ok || !strings.Contains(out.String(), "whatsmeow_sender_keys: 1 read, 1 loaded, 1 identical") {
		t.Fatalf("%v, %v:\n%s", ok, err, out.String())
	}
	if _, err := db.Exec("INSERT INTO whatsmeow_sessions VALUES ('15550000001:1@s.whatsapp.net', '15550000002:1', '{\"SessionState\":{\"RootKey\":\"c2VjcmV0\"}}')"); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	ok, err = check(&out, file)
	if err != nil || ok || !strings.Contains(out.String(), "whatsmeow_sessions: 1 read, 0 loaded, 0 identical\n\t15550000001:1@s.whatsapp.net 15550000002:1: ") {
		t.Fatalf("%v, %v:\n%s", ok, err, out.String())
	}
	if strings.Contains(out.String(), "c2VjcmV0") || strings.Contains(out.String(), "secret") {
		t.Error("contents are shown")
	}
	if _, err := check(&out, filepath.Join(filepath.Dir(file), "none.db")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
