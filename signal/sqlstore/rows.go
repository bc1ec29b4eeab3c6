package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

const (
	// maxWriteRows is the most rows that one statement writes. Larger batches
	// take several; sizes are powers of two, so that few statements are enough
	// for batches of any length and all of them stay prepared.
	maxWriteRows = 512

	// maxReadKeys is the most keys of one statement that reads. SQLite allows
	// 32,766 parameters.
	maxReadKeys = 8192
)

// Read implements store.Backend.
func (s *SQLite) Read(ctx context.Context, id store.AccountID, keys []store.Key) (recs []store.Record, err error) {
	store.CheckKeys(keys)
	recs = make([]store.Record, len(keys))
	err = s.withReader(ctx, func(c *conn) error {
		if len(keys) <= maxReadKeys {
			// One statement sees one state of the database by itself.
			found, err := c.readKeys(id, keys, recs)
			if err == nil && !found {
				err = c.exists(id)
			}
			return err
		}
		return c.read(ctx, func() error {
			if err := c.exists(id); err != nil {
				return err
			}
			for from := 0; from < len(keys); from += maxReadKeys {
				to := min(from+maxReadKeys, len(keys))
				if _, err := c.readKeys(id, keys[from:to], recs[from:to]); err != nil {
					return err
				}
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, wrap("read", err)
	}
	return recs, nil
}

// readKeys fills recs with the records of keys, by one statement, and reports
// whether it found any row.
func (c *conn) readKeys(id store.AccountID, keys []store.Key, recs []store.Record) (found bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	// Positions of the keys in the order of tables, then of names and ids.
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	byKey := func(i, j int) int { return keys[i].Compare(keys[j]) }
	if !slices.IsSortedFunc(order, byKey) {
		slices.SortFunc(order, byKey)
	}

	var query strings.Builder
	args := make([]any, 1, 2+2*len(keys))
	args[0] = int64(id)
	for from := 0; from < len(order); {
		t := keys[order[from]].Table
		to := from
		for to < len(order) && keys[order[to]].Table == t {
			args = append(args, keyValue(keys[order[to]]))
			to++
		}
		// The last key fills the statement up to a power of two.
		n := to - from
		for n&(n-1) != 0 {
			args = append(args, args[len(args)-1])
			n++
		}
		if from > 0 {
			query.WriteString(" UNION ALL ")
		}
		fmt.Fprintf(&query, "SELECT %d, %s, record FROM %s WHERE account = ?1 AND %[2]s IN (?", t, keyColumn(t), t)
		for range n - 1 {
			query.WriteString(", ?")
		}
		query.WriteString(")")
		from = to
	}

	err = c.query(query.String(), args, func(r *sql.Rows) error {
		var (
			k      store.Key
			column any
			record []byte
		)
		if err := r.Scan(&k.Table, &column, &record); err != nil {
			return err
		}
		switch v := column.(type) {
		case int64:
			k.ID = uint32(v)
		case []byte:
			k.Name = string(v)
		default:
			return fmt.Errorf("key column of table %v holds a %T", k.Table, column)
		}
		found = true
		at, _ := slices.BinarySearchFunc(order, k, func(i int, k store.Key) int { return keys[i].Compare(k) })
		for ; at < len(order) && keys[order[at]] == k; at++ {
			recs[order[at]] = store.Record{Value: record, Found: true}
		}
		return nil
	})
	return found, err
}

// List implements store.Backend.
func (s *SQLite) List(ctx context.Context, id store.AccountID, q store.Query) (keys []store.Key, err error) {
	if !q.Table.Valid() {
		panic("store: unknown table")
	}
	err = s.withReader(ctx, func(c *conn) error {
		column := keyColumn(q.Table)
		query := `SELECT ` + column + ` FROM ` + q.Table.String() + ` WHERE account = ?`
		args := []any{int64(id)}
		if !q.Table.ByID() && q.Prefix != "" {
			query += ` AND name >= ?`
			args = append(args, []byte(q.Prefix))
			if end := prefixEnd(q.Prefix); end != nil {
				query += ` AND name < ?`
				args = append(args, end)
			}
		}
		query += ` ORDER BY ` + column
		err := c.query(query, args, func(r *sql.Rows) error {
			k := store.Key{Table: q.Table}
			if q.Table.ByID() {
				err := r.Scan(&k.ID)
				keys = append(keys, k)
				return err
			}
			var name sql.RawBytes
			err := r.Scan(&name)
			k.Name = string(name)
			keys = append(keys, k)
			return err
		})
		if err == nil && len(keys) == 0 {
			err = c.exists(id)
		}
		return err
	})
	if err != nil {
		return nil, wrap("list", err)
	}
	return keys, nil
}

// prefixEnd returns the least byte string above all that begin with prefix, or
// nil if there is none.
func prefixEnd(prefix string) []byte {
	end := []byte(prefix)
	for len(end) > 0 {
		if end[len(end)-1]++; end[len(end)-1] != 0 {
			return end
		}
		end = end[:len(end)-1]
	}
	return nil
}

// Apply implements store.Backend.
func (s *SQLite) Apply(ctx context.Context, id store.AccountID, b *store.Batch) error {
	err := s.write(ctx, func(c *conn) error {
		if row, ok := b.Account(); ok {
			if _, err := c.exec(`UPDATE accounts SET record = ? WHERE id = ?`, blob(row), int64(id)); err != nil {
				return err
			}
		}
		if err := c.exists(id); err != nil {
			return err
		}
		ops := b.Ops()
		for len(ops) > 0 {
			n := 1
			for n < len(ops) && n < maxWriteRows && ops[n].Key.Table == ops[0].Key.Table && ops[n].Delete == ops[0].Delete {
				n++
			}
			n = 1 << (bits.Len(uint(n)) - 1)
			if err := c.writeRows(id, ops[:n]); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			ops = ops[n:]
		}
		return nil
	})
	return wrap("apply", err)
}

// writeRows executes operations of one kind on one table by one statement.
// SQLite takes the rows of a statement in their order, so a row that is named
// twice ends up as the later one says.
func (c *conn) writeRows(id store.AccountID, ops []store.Op) error {
	t := ops[0].Key.Table
	var query strings.Builder
	args := make([]any, 1, 1+2*len(ops))
	args[0] = int64(id)
	if ops[0].Delete {
		fmt.Fprintf(&query, "DELETE FROM %s WHERE account = ?1 AND %s IN (?", t, keyColumn(t))
		query.WriteString(strings.Repeat(", ?", len(ops)-1))
		query.WriteString(")")
		for _, op := range ops {
			args = append(args, keyValue(op.Key))
		}
	} else {
		fmt.Fprintf(&query, "INSERT INTO %s (account, %s, record) VALUES (?1, ?, ?)", t, keyColumn(t))
		query.WriteString(strings.Repeat(", (?1, ?, ?)", len(ops)-1))
		fmt.Fprintf(&query, " ON CONFLICT (account, %s) DO UPDATE SET record = excluded.record", keyColumn(t))
		for _, op := range ops {
			args = append(args, keyValue(op.Key), blob(op.Value))
		}
	}
	_, err := c.exec(query.String(), args...)
	return err
}
