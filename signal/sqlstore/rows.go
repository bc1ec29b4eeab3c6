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
	// take several.
	maxWriteRows = 1024

	// maxReadKeys is the most keys of one statement that reads. SQLite allows
	// 32,766 parameters.
	maxReadKeys = 8192
)

// Read implements store.Backend.
func (s *SQLite) Read(ctx context.Context, id store.AccountID, keys []store.Key) (recs []store.Record, generation uint64, err error) {
	store.CheckKeys(keys)
	recs = make([]store.Record, len(keys))
	err = s.withReader(ctx, func(c *conn) error {
		if len(keys) <= maxReadKeys {
			// One statement sees one state of the database by itself.
			generation, err = c.readKeys(id, keys, recs)
			return err
		}
		return c.read(ctx, func() error {
			for from := 0; from < len(keys); from += maxReadKeys {
				to := min(from+maxReadKeys, len(keys))
				if generation, err = c.readKeys(id, keys[from:to], recs[from:to]); err != nil {
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
		return nil, 0, wrap("read", err)
	}
	return recs, generation, nil
}

// readKeys fills recs with the records of keys and returns the generation of
// the account, by one statement.
func (c *conn) readKeys(id store.AccountID, keys []store.Key, recs []store.Record) (generation uint64, err error) {
	return c.selectRows(id, keys, true, func(i int, r store.Record) { recs[i] = r })
}

// selectRows calls each for the rows of keys that there are, with the position
// of the key, and returns the generation of the account. The values are left
// out unless they are asked for.
func (c *conn) selectRows(id store.AccountID, keys []store.Key, values bool, each func(int, store.Record)) (generation uint64, err error) {
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
	query.WriteString("SELECT 0, 0, generation, NULL FROM accounts WHERE id = ?1")
	column := "record"
	if !values {
		column = "NULL"
	}
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
		fmt.Fprintf(&query, " UNION ALL SELECT %d, %s, version, %s FROM %s WHERE account = ?1 AND %[2]s IN (?", t, keyColumn(t), column, t)
		for range n - 1 {
			query.WriteString(", ?")
		}
		query.WriteString(")")
		from = to
	}

	found := false
	err = c.query(query.String(), args, func(r *sql.Rows) error {
		var (
			k   store.Key
			key any
			rec store.Record
		)
		if err := r.Scan(&k.Table, &key, &rec.Version, &rec.Value); err != nil {
			return err
		}
		if k.Table == 0 {
			found, generation = true, rec.Version
			return nil
		}
		switch v := key.(type) {
		case int64:
			k.ID = uint32(v)
		case []byte:
			k.Name = string(v)
		default:
			return fmt.Errorf("key column of table %v holds a %T", k.Table, key)
		}
		rec.Found = true
		at, _ := slices.BinarySearchFunc(order, k, func(i int, k store.Key) int { return keys[i].Compare(k) })
		for ; at < len(order) && keys[order[at]] == k; at++ {
			each(order[at], rec)
		}
		return nil
	})
	if err == nil && !found {
		err = store.ErrNoAccount
	}
	return generation, err
}

// List implements store.Backend.
func (s *SQLite) List(ctx context.Context, id store.AccountID, q store.Query) (keys []store.Key, err error) {
	q.Check()
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
		if q.After != (store.Key{}) {
			query += ` AND ` + column + ` > ?`
			args = append(args, keyValue(q.After))
		}
		query += ` ORDER BY ` + column
		if q.Limit > 0 {
			query += ` LIMIT ?`
			args = append(args, int64(q.Limit))
		}
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
			_, err = c.owner(id)
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
func (s *SQLite) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (generation uint64, err error) {
	err = s.write(ctx, func(c *conn) error {
		if generation, err = c.check(id, b); err != nil || b.Len() == 0 {
			return err
		}
		generation++
		if row, ok := b.Account(); ok {
			_, err = c.exec(`UPDATE accounts SET generation = ?, version = ?1, record = ? WHERE id = ?`, generation, blob(row), int64(id))
		} else {
			_, err = c.exec(`UPDATE accounts SET generation = ? WHERE id = ?`, generation, int64(id))
		}
		if err != nil {
			return err
		}
		ops := b.Ops()
		for len(ops) > 0 {
			n := 1
			for n < len(ops) && n < maxWriteRows && ops[n].Key.Table == ops[0].Key.Table && ops[n].Delete == ops[0].Delete {
				n++
			}
			n = statementRows(n)
			if err := c.writeRows(id, generation, ops[:n]); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			ops = ops[n:]
		}
		return nil
	})
	if err != nil {
		return 0, wrap("apply", err)
	}
	return generation, nil
}

// statementRows returns how many of n rows the next statement writes: n with
// its upper four bits only. Few statements are enough for batches of any length,
// so that they stay prepared, and up to maxWriteRows rows take three at most.
func statementRows(n int) int {
	low := max(bits.Len(uint(n))-4, 0)
	return n >> low << low
}

// check returns the generation of the account, or the error that Apply refuses
// b with.
func (c *conn) check(id store.AccountID, b *store.Batch) (generation uint64, err error) {
	found := false
	var version uint64
	var owner store.Owner
	err = c.query(`SELECT generation, version, fence, held FROM accounts WHERE id = ?`, []any{int64(id)}, func(r *sql.Rows) error {
		found = true
		return r.Scan(&generation, &version, &owner.Fence, &owner.Held)
	})
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, store.ErrNoAccount
	}
	if owner.Admits(b.Fence()) != nil {
		return 0, c.owned(id)
	}
	var keys, changed []store.Key
	var want []uint64
	for _, e := range b.Expectations(generation) {
		if e.Key == (store.Key{}) {
			if e.Version != version {
				changed = append(changed, e.Key)
			}
			continue
		}
		keys, want = append(keys, e.Key), append(want, e.Version)
	}
	for from := 0; from < len(keys); from += maxReadKeys {
		to := min(from+maxReadKeys, len(keys))
		have := make([]uint64, to-from)
		if _, err := c.selectRows(id, keys[from:to], false, func(i int, r store.Record) { have[i] = r.Version }); err != nil {
			return 0, err
		}
		for i, v := range have {
			if v != want[from+i] {
				changed = append(changed, keys[from+i])
			}
		}
	}
	return generation, store.NewConflict(changed)
}

// writeRows executes operations of one kind on one table by one statement.
// SQLite takes the rows of a statement in their order, so a row that is named
// twice ends up as the later one says.
func (c *conn) writeRows(id store.AccountID, generation uint64, ops []store.Op) error {
	t := ops[0].Key.Table
	var query strings.Builder
	args := make([]any, 1, 2+2*len(ops))
	args[0] = int64(id)
	if ops[0].Delete {
		fmt.Fprintf(&query, "DELETE FROM %s WHERE account = ?1 AND %s IN (?", t, keyColumn(t))
		query.WriteString(strings.Repeat(", ?", len(ops)-1))
		query.WriteString(")")
		for _, op := range ops {
			args = append(args, keyValue(op.Key))
		}
	} else {
		fmt.Fprintf(&query, "INSERT INTO %s (account, version, %s, record) VALUES (?1, ?2, ?, ?)", t, keyColumn(t))
		query.WriteString(strings.Repeat(", (?1, ?2, ?, ?)", len(ops)-1))
		fmt.Fprintf(&query, " ON CONFLICT (account, %s) DO UPDATE SET version = excluded.version, record = excluded.record", keyColumn(t))
		args = append(args, generation)
		for _, op := range ops {
			args = append(args, keyValue(op.Key), blob(op.Value))
		}
	}
	_, err := c.exec(query.String(), args...)
	return err
}
