package sqlstore

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

// TestStatementRows holds that any batch is written whole, by few statements.
func TestStatementRows(t *testing.T) {
	for rows := 1; rows <= maxWriteRows; rows++ {
		statements := 0
		for left := rows; left > 0; statements++ {
			n := statementRows(left)
			if n < 1 || n > left {
				t.Fatalf("a statement for %d rows has %d", left, n)
			}
			left -= n
		}
		if most := 3; statements > most {
			t.Errorf("%d rows take %d statements, want at most %d", rows, statements, most)
		}
	}
}

// TestStatements counts the statements of large writes, other than those that
// begin and end the transaction. All of one batch have different texts, so that
// each of them is one more prepared statement.
func TestStatements(t *testing.T) {
	var devices store.Batch
	for i := range 1000 {
		devices.Put(store.Session(fmt.Sprint("1555000", i, "@c.us.0")), []byte("s"))
	}
	for _, c := range []struct {
		name        string
		batch       *store.Batch
		all, writes int
	}{
		{"812 prekeys", storetest.PreKeyBatch(1, 812), 4, 2},
		{"1,000 sessions", &devices, 4, 2},
	} {
		s := open(t, filepath.Join(t.TempDir(), "test.db"))
		id, err := s.CreateAccount(t.Context(), "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		prepared := func() (texts map[string]bool) {
			texts = map[string]bool{}
			err := s.withWriter(t.Context(), func(c *conn) error {
				for text := range c.stmts {
					texts[text] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return texts
		}
		before := prepared()
		if _, err := s.Apply(context.Background(), id, c.batch); err != nil {
			t.Fatal(err)
		}
		all, writes := 0, 0
		for text := range prepared() {
			if before[text] {
				continue
			}
			all++
			if strings.HasPrefix(text, "INSERT INTO") {
				writes++
			}
		}
		if writes == 0 || writes > c.writes || all > c.all {
			t.Errorf("%s: %d statements, %d of them store rows; want at most %d and %d", c.name, all, writes, c.all, c.writes)
		}
	}
}
