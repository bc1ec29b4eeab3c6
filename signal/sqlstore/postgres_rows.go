package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

// The rows of a statement are passed as arrays, one for each column, so that
// the text of a statement, which the connections keep prepared, does not depend
// on their number.

// CreateAccount implements store.Backend.
func (p *Postgres) CreateAccount(ctx context.Context, name string, row []byte) (id store.AccountID, err error) {
	err = p.write(ctx, func(c *pgConn) error {
		found, err := c.queryRow(`INSERT INTO accounts (name, record, version, generation, fence, held, holder) VALUES ($1, $2, 1, 1, 0, 0, '') ON CONFLICT DO NOTHING RETURNING id`,
			[]any{[]byte(name), blob(row)}, &id)
		if err == nil && !found {
			err = store.ErrAccountExists
		}
		return err
	})
	if err != nil {
		return 0, wrap("create account", err)
	}
	return id, nil
}

// OpenAccount implements store.Backend.
func (p *Postgres) OpenAccount(ctx context.Context, name string) (a store.Account, err error) {
	err = p.read(ctx, func(c *pgConn) error {
		a = store.Account{}
		found, err := c.queryRow(`SELECT id, record, version, generation, fence, held, holder FROM accounts WHERE name = $1`, []any{[]byte(name)},
			&a.ID, &a.Row.Value, &a.Row.Version, &a.Generation, &a.Owner.Fence, &a.Owner.Held, &a.Owner.Holder)
		if err == nil && !found {
			err = store.ErrNoAccount
		}
		a.Row.Found = found
		return err
	})
	if err != nil {
		return store.Account{}, wrap("open account", err)
	}
	return a, nil
}

// Accounts implements store.Backend.
func (p *Postgres) Accounts(ctx context.Context) (names []string, err error) {
	err = p.read(ctx, func(c *pgConn) error {
		names = nil
		return c.query(`SELECT name FROM accounts ORDER BY name`, nil, func(r *sql.Rows) error {
			var name []byte
			err := r.Scan(&name)
			names = append(names, string(name))
			return err
		})
	})
	if err != nil {
		return nil, wrap("list accounts", err)
	}
	return names, nil
}

// DeleteAccount implements store.Backend.
func (p *Postgres) DeleteAccount(ctx context.Context, id store.AccountID) error {
	err := p.write(ctx, func(c *pgConn) error {
		// The lock comes first, as in Apply: a batch that has it is over before
		// rows are deleted, and one that comes later finds no account.
		if _, err := c.lock(id); err != nil {
			return err
		}
		for t := store.Identities; t.Valid(); t++ {
			if _, err := c.exec(`DELETE FROM `+t.String()+` WHERE account = $1`, int64(id)); err != nil {
				return err
			}
		}
		_, err := c.exec(`DELETE FROM accounts WHERE id = $1`, int64(id))
		return err
	})
	return wrap("delete account", err)
}

// Acquire implements store.Backend.
func (p *Postgres) Acquire(ctx context.Context, id store.AccountID, holder string, takeOver bool) (fence uint64, err error) {
	err = p.write(ctx, func(c *pgConn) error {
		a, err := c.lock(id)
		if err != nil {
			return err
		}
		if a.owner.Held && !takeOver {
			return &store.OwnedError{Owner: a.owner}
		}
		fence = a.owner.Fence + 1
		_, err = c.exec(`UPDATE accounts SET fence = $2, held = 1, holder = $3 WHERE id = $1`, int64(id), int64(fence), holder)
		return err
	})
	if err != nil {
		return 0, wrap("acquire account", err)
	}
	return fence, nil
}

// Release implements store.Backend.
func (p *Postgres) Release(ctx context.Context, id store.AccountID, fence uint64) error {
	err := p.write(ctx, func(c *pgConn) error {
		a, err := c.lock(id)
		if err != nil {
			return err
		}
		if !a.owner.Held || a.owner.Fence != fence {
			return &store.OwnedError{Owner: a.owner}
		}
		_, err = c.exec(`UPDATE accounts SET held = 0 WHERE id = $1`, int64(id))
		return err
	})
	return wrap("release account", err)
}

// locked is what the account row says, locked.
type locked struct {
	generation, version uint64
	owner               store.Owner
}

// lock locks the account row until the end of the transaction and returns what
// it says, or ErrNoAccount.
func (c *pgConn) lock(id store.AccountID) (a locked, err error) {
	found, err := c.queryRow(`SELECT generation, version, fence, held, holder FROM accounts WHERE id = $1 FOR UPDATE`, []any{int64(id)},
		&a.generation, &a.version, &a.owner.Fence, &a.owner.Held, &a.owner.Holder)
	if err == nil && !found {
		err = store.ErrNoAccount
	}
	return a, err
}

// begin is lock for a batch that is to be applied: the same statement counts the
// generation up and stores the account row. It returns what the row said before.
func (c *pgConn) begin(id store.AccountID, b *store.Batch) (a locked, err error) {
	if b.Len() == 0 {
		return c.lock(id)
	}
	set, args := "generation = old.generation + 1", []any{int64(id)}
	if row, ok := b.Account(); ok {
		set += ", version = old.generation + 1, record = $2"
		args = append(args, blob(row))
	}
	found, err := c.queryRow(`UPDATE accounts SET `+set+` FROM (SELECT id, generation, version FROM accounts WHERE id = $1 FOR UPDATE) old `+
		`WHERE accounts.id = old.id RETURNING old.generation, old.version, fence, held, holder`, args,
		&a.generation, &a.version, &a.owner.Fence, &a.owner.Held, &a.owner.Holder)
	if err == nil && !found {
		err = store.ErrNoAccount
	}
	return a, err
}

// query calls scan for each row of the answer.
func (c *pgConn) query(query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := c.sql.QueryContext(c.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Read implements store.Backend.
func (p *Postgres) Read(ctx context.Context, id store.AccountID, keys []store.Key) (recs []store.Record, generation uint64, err error) {
	store.CheckKeys(keys)
	q := newPGRead(id, keys, true)
	err = p.read(ctx, func(c *pgConn) error {
		recs = make([]store.Record, len(keys))
		generation, err = q.run(c, func(i int, r store.Record) { recs[i] = r })
		return err
	})
	if err != nil {
		return nil, 0, wrap("read", err)
	}
	return recs, generation, nil
}

// A pgRead is a statement that reads rows. It sees one state of the database.
type pgRead struct {
	keys  []store.Key
	order []int // positions of the keys in the order of tables, then of names and ids
	query string
	args  []any
}

// newPGRead makes the statement for keys. The records are left out unless they
// are asked for.
func newPGRead(id store.AccountID, keys []store.Key, values bool) *pgRead {
	r := &pgRead{keys: keys, order: make([]int, len(keys)), args: []any{int64(id)}}
	for i := range r.order {
		r.order[i] = i
	}
	byKey := func(i, j int) int { return keys[i].Compare(keys[j]) }
	if !slices.IsSortedFunc(r.order, byKey) {
		slices.SortFunc(r.order, byKey)
	}
	record := "record"
	if !values {
		record = "NULL"
	}
	// The first row says that there is such an account.
	var query strings.Builder
	query.WriteString("SELECT 0, NULL::bytea, 0::bigint, generation, NULL::bytea FROM accounts WHERE id = $1")
	for from := 0; from < len(r.order); {
		t := keys[r.order[from]].Table
		to := from
		for to < len(r.order) && keys[r.order[to]].Table == t {
			to++
		}
		var column columns
		for i, at := range r.order[from:to] {
			if i == 0 || keys[at] != keys[r.order[from+i-1]] {
				column.add(keys[at])
			}
		}
		r.args = append(r.args, column.keys(t))
		if t.ByID() {
			fmt.Fprintf(&query, " UNION ALL SELECT %d, NULL, id, version, %s FROM %s WHERE account = $1 AND id = ANY($%d::bigint[])", t, record, t, len(r.args))
		} else {
			fmt.Fprintf(&query, " UNION ALL SELECT %d, name, 0, version, %s FROM %s WHERE account = $1 AND name = ANY($%d::bytea[])", t, record, t, len(r.args))
		}
		from = to
	}
	r.query = query.String()
	return r
}

// run calls each with the position of each key that has a row, and returns the
// generation of the account, or ErrNoAccount.
func (q *pgRead) run(c *pgConn, each func(int, store.Record)) (generation uint64, err error) {
	known := false
	err = c.query(q.query, q.args, func(r *sql.Rows) error {
		var (
			k    store.Key
			name []byte
			rec  = store.Record{Found: true}
		)
		if err := r.Scan(&k.Table, &name, &k.ID, &rec.Version, &rec.Value); err != nil {
			return err
		}
		if k.Table == 0 {
			known, generation = true, rec.Version
			return nil
		}
		k.Name = string(name)
		at, _ := slices.BinarySearchFunc(q.order, k, func(i int, k store.Key) int { return q.keys[i].Compare(k) })
		for ; at < len(q.order) && q.keys[q.order[at]] == k; at++ {
			each(q.order[at], rec)
		}
		return nil
	})
	if err == nil && !known {
		err = store.ErrNoAccount
	}
	return generation, err
}

// List implements store.Backend.
func (p *Postgres) List(ctx context.Context, id store.AccountID, q store.Query) (keys []store.Key, err error) {
	q.Check()
	column := keyColumn(q.Table)
	condition := ""
	args := []any{int64(id)}
	if !q.Table.ByID() && q.Prefix != "" {
		condition = ` AND t.name >= $2`
		args = append(args, []byte(q.Prefix))
		if end := prefixEnd(q.Prefix); end != nil {
			condition += ` AND t.name < $3`
			args = append(args, end)
		}
	}
	if q.After != (store.Key{}) {
		args = append(args, keyValue(q.After))
		condition += fmt.Sprintf(` AND t.%s > $%d`, column, len(args))
	}
	// An account without such rows gives one row without a key.
	query := `SELECT t.` + column + ` FROM accounts a LEFT JOIN ` + q.Table.String() + ` t ON t.account = a.id` + condition +
		` WHERE a.id = $1 ORDER BY t.` + column
	if q.Limit > 0 {
		args = append(args, int64(q.Limit))
		query += fmt.Sprintf(` LIMIT $%d`, len(args))
	}
	err = p.read(ctx, func(c *pgConn) error {
		keys = nil
		known := false
		err := c.query(query, args, func(r *sql.Rows) error {
			known = true
			k := store.Key{Table: q.Table}
			if q.Table.ByID() {
				var n sql.Null[uint32]
				err := r.Scan(&n)
				if k.ID = n.V; n.Valid {
					keys = append(keys, k)
				}
				return err
			}
			var name []byte
			err := r.Scan(&name)
			if k.Name = string(name); name != nil {
				keys = append(keys, k)
			}
			return err
		})
		if err == nil && !known {
			err = store.ErrNoAccount
		}
		return err
	})
	if err != nil {
		return nil, wrap("list", err)
	}
	return keys, nil
}

// Apply implements store.Backend. The batches of one account take effect one
// after the other: each locks the account row.
func (p *Postgres) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (generation uint64, err error) {
	ops := lastOps(b.Ops())
	err = p.write(ctx, func(c *pgConn) error {
		// What is refused afterwards is rolled back.
		a, err := c.begin(id, b)
		if err != nil {
			return err
		}
		if err := a.owner.Admits(b.Fence()); err != nil {
			return err
		}
		if err := c.checkVersions(id, &a, b); err != nil {
			return err
		}
		generation = a.generation
		if b.Len() > 0 {
			generation++
		}
		for from := 0; from < len(ops); {
			to := from
			for to < len(ops) && ops[to].Key.Table == ops[from].Key.Table && ops[to].Delete == ops[from].Delete {
				to++
			}
			if err := c.writeRows(id, generation, ops[from:to]); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
	if err != nil {
		return 0, wrap("apply", err)
	}
	return generation, nil
}

// checkVersions returns a *store.ConflictError unless the rows are of the
// versions that b expects.
func (c *pgConn) checkVersions(id store.AccountID, a *locked, b *store.Batch) error {
	var keys, changed []store.Key
	var want []uint64
	for _, e := range b.Expectations(a.generation) {
		if e.Key != (store.Key{}) {
			keys, want = append(keys, e.Key), append(want, e.Version)
		} else if e.Version != a.version {
			changed = append(changed, e.Key)
		}
	}
	if len(keys) > 0 {
		have := make([]uint64, len(keys))
		if _, err := newPGRead(id, keys, false).run(c, func(i int, r store.Record) { have[i] = r.Version }); err != nil {
			return err
		}
		for i, v := range have {
			if v != want[i] {
				changed = append(changed, keys[i])
			}
		}
	}
	return store.NewConflict(changed)
}

// lastOps returns the operations that decide what is in the rows after all of
// ops, the last one of each row, with those of one statement together. A
// statement of PostgreSQL may write a row once only.
func lastOps(ops []store.Op) []store.Op {
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b store.Op) int { return a.Key.Compare(b.Key) })
	last := ops[:0]
	for i, op := range ops {
		if i+1 == len(ops) || ops[i+1].Key != op.Key {
			last = append(last, op)
		}
	}
	slices.SortStableFunc(last, func(a, b store.Op) int {
		deletes := func(op store.Op) int {
			if op.Delete {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.Key.Table, b.Key.Table), cmp.Compare(deletes(a), deletes(b)))
	})
	return last
}

// writeRows executes operations of one kind on one table by one statement.
func (c *pgConn) writeRows(id store.AccountID, generation uint64, ops []store.Op) error {
	t := ops[0].Key.Table
	kind := "bytea"
	if t.ByID() {
		kind = "bigint"
	}
	var column columns
	for _, op := range ops {
		column.add(op.Key)
	}
	key := keyColumn(t)
	if ops[0].Delete {
		_, err := c.exec(fmt.Sprintf(`DELETE FROM %s WHERE account = $1 AND %s = ANY($2::%s[])`, t, key, kind),
			int64(id), column.keys(t))
		return err
	}
	records := make([][]byte, len(ops))
	for i, op := range ops {
		records[i] = blob(op.Value)
	}
	_, err := c.exec(fmt.Sprintf(`INSERT INTO %[1]s (account, version, %[2]s, record) SELECT $1, $2, * FROM unnest($3::%[3]s[], $4::bytea[]) `+
		`ON CONFLICT (account, %[2]s) DO UPDATE SET version = excluded.version, record = excluded.record`, t, key, kind),
		int64(id), int64(generation), column.keys(t), records)
	return err
}

// columns collects keys as the values of a column.
type columns struct {
	names [][]byte
	ids   []int64
}

func (c *columns) add(k store.Key) {
	if k.Table.ByID() {
		c.ids = append(c.ids, int64(k.ID))
	} else {
		c.names = append(c.names, []byte(k.Name))
	}
}

// keys returns the column of the rows of t.
func (c *columns) keys(t store.Table) any {
	if t.ByID() {
		return c.ids
	}
	return c.names
}
