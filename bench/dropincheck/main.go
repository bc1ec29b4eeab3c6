// Command dropincheck reads a copy of a whatsmeow database in SQLite and says
// whether the drop-in loads each session and each sender key, and writes it back
// as it was. It prints keys of rows and reasons, never contents.
package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/sigcore/sigcore/signal/convert"
	_ "modernc.org/sqlite"
)

// maxShown is how many rows with an error are shown of each table.
const maxShown = 10

var tables = []struct {
	name, query string
	again       func(record []byte) ([]byte, error)
}{
	{
		"whatsmeow_sessions", "SELECT our_jid || ' ' || their_id, session FROM whatsmeow_sessions",
		func(record []byte) ([]byte, error) {
			s, err := convert.ParseGoSession(record)
			if err != nil {
				return nil, err
			}
			return convert.AppendGoSession(nil, s)
		},
	},
	{
		"whatsmeow_sender_keys", "SELECT our_jid || ' ' || chat_id || ' ' || sender_id, sender_key FROM whatsmeow_sender_keys",
		func(record []byte) ([]byte, error) {
			k, err := convert.ParseGoSenderKey(record)
			if err != nil {
				return nil, err
			}
			return convert.AppendGoSenderKey(nil, k)
		},
	},
}

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: dropincheck DB (a copy of a whatsmeow database in SQLite)")
		os.Exit(2)
	}
	ok, err := check(os.Stdout, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "dropincheck:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// check reports whether every row is loaded and written back as it was.
func check(w io.Writer, file string) (bool, error) {
	if _, err := os.Stat(file); err != nil {
		return false, err
	}
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return false, err
	}
	defer db.Close()
	all := true
	for _, t := range tables {
		rows, err := db.Query(t.query)
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.name, err)
		}
		read, loaded, identical := 0, 0, 0
		var failures []string
		for rows.Next() {
			var key string
			var record []byte
			if err := rows.Scan(&key, &record); err != nil {
				_ = rows.Close()
				return false, fmt.Errorf("%s: %w", t.name, err)
			}
			read++
			again, err := t.again(record)
			reason := ""
			switch {
			case err != nil:
				reason = err.Error()
			case !same(again, record):
				loaded++
				reason = fmt.Sprintf("written back with %d bytes, not %d", len(again), len(record))
			default:
				loaded++
				identical++
				continue
			}
			if len(failures) < maxShown {
				failures = append(failures, key+": "+reason)
			}
		}
		if err := rows.Err(); err != nil {
			return false, fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintf(w, "%s: %d read, %d loaded, %d identical\n", t.name, read, loaded, identical)
		for _, f := range failures {
			fmt.Fprintln(w, "\t"+f)
		}
		all = all && identical == read
	}
	return all, nil
}

// same reports whether two records are the same. A sender key of another has no
// private key: null until it was loaded once, zeros from then on.
func same(a, b []byte) bool {
	null, zeros := []byte(`"SigningKeyPrivate":null`), []byte(`"SigningKeyPrivate":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`)
	return bytes.Equal(bytes.ReplaceAll(a, null, zeros), bytes.ReplaceAll(b, null, zeros))
}
