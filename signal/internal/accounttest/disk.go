package accounttest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sigcore/sigcore/signal/store"
)

// Disk is a backend in memory that can be put back to an earlier state: what a
// test of backups and crashes needs of a database. What it has acknowledged it
// keeps, whatever becomes of those who use it.
type Disk struct {
	mu       sync.Mutex
	closed   bool
	last     store.AccountID
	accounts map[store.AccountID]*diskAccount
}

type diskAccount struct {
	name  string
	state store.Account
	rows  map[store.Key]store.Record
}

// Snapshot is a state of one account.
type Snapshot struct {
	state store.Account
	rows  map[store.Key]store.Record
}

// NewDisk returns an empty Disk.
func NewDisk() *Disk { return &Disk{accounts: map[store.AccountID]*diskAccount{}} }

var _ store.Backend = (*Disk)(nil)

// Snapshot returns the state of the account of that name.
func (d *Disk) Snapshot(name string) Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.named(name)
	return Snapshot{a.state, maps.Clone(a.rows)}
}

// PutBack puts an account back to an earlier state.
func (d *Disk) PutBack(name string, s Snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.named(name)
	a.state, a.rows = s.state, maps.Clone(s.rows)
}

// PutRowBack puts one row of an account back to an earlier state.
func (d *Disk) PutRowBack(name string, k store.Key, s Snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.named(name).rows[k] = s.rows[k]
}

func (d *Disk) named(name string) *diskAccount {
	for _, a := range d.accounts {
		if a.name == name {
			return a
		}
	}
	return nil
}

// with calls f with an account.
func (d *Disk) with(ctx context.Context, id store.AccountID, f func(*diskAccount) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return store.ErrClosed
	}
	a := d.accounts[id]
	if a == nil {
		return store.ErrNoAccount
	}
	return f(a)
}

// all calls f if the backend is open.
func (d *Disk) all(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return store.ErrClosed
	}
	return f()
}

// CreateAccount implements store.Backend.
func (d *Disk) CreateAccount(ctx context.Context, name string, row []byte) (id store.AccountID, err error) {
	err = d.all(ctx, func() error {
		if d.named(name) != nil {
			return store.ErrAccountExists
		}
		d.last++
		id = d.last
		d.accounts[id] = &diskAccount{
			name:  name,
			state: store.Account{ID: id, Row: store.Record{Value: row, Found: true, Version: 1}, Generation: 1},
			rows:  map[store.Key]store.Record{},
		}
		return nil
	})
	return id, err
}

// OpenAccount implements store.Backend.
func (d *Disk) OpenAccount(ctx context.Context, name string) (out store.Account, err error) {
	err = d.all(ctx, func() error {
		a := d.named(name)
		if a == nil {
			return store.ErrNoAccount
		}
		out = a.state
		return nil
	})
	return out, err
}

// Accounts implements store.Backend.
func (d *Disk) Accounts(ctx context.Context) (names []string, err error) {
	err = d.all(ctx, func() error {
		for _, a := range d.accounts {
			names = append(names, a.name)
		}
		slices.Sort(names)
		return nil
	})
	return names, err
}

// DeleteAccount implements store.Backend.
func (d *Disk) DeleteAccount(ctx context.Context, id store.AccountID) error {
	return d.with(ctx, id, func(*diskAccount) error {
		delete(d.accounts, id)
		return nil
	})
}

// Read implements store.Backend.
func (d *Disk) Read(ctx context.Context, id store.AccountID, keys []store.Key) (recs []store.Record, generation uint64, err error) {
	store.CheckKeys(keys)
	err = d.with(ctx, id, func(a *diskAccount) error {
		recs, generation = make([]store.Record, len(keys)), a.state.Generation
		for i, k := range keys {
			recs[i] = a.rows[k]
		}
		return nil
	})
	return recs, generation, err
}

// List implements store.Backend.
func (d *Disk) List(ctx context.Context, id store.AccountID, q store.Query) (keys []store.Key, err error) {
	q.Check()
	err = d.with(ctx, id, func(a *diskAccount) error {
		for k := range a.rows {
			if k.Table == q.Table && (q.Table.ByID() || strings.HasPrefix(k.Name, q.Prefix)) &&
				(q.After == (store.Key{}) || k.Compare(q.After) > 0) {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, store.Key.Compare)
		if q.Limit > 0 && len(keys) > q.Limit {
			keys = keys[:q.Limit]
		}
		return nil
	})
	return keys, err
}

// Apply implements store.Backend.
func (d *Disk) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (generation uint64, err error) {
	err = d.with(ctx, id, func(a *diskAccount) error {
		if err := a.state.Owner.Admits(b.Fence()); err != nil {
			return err
		}
		var changed []store.Key
		for _, e := range b.Expectations(a.state.Generation) {
			have := a.rows[e.Key].Version
			if e.Key == (store.Key{}) {
				have = a.state.Row.Version
			}
			if have != e.Version {
				changed = append(changed, e.Key)
			}
		}
		if err := store.NewConflict(changed); err != nil {
			return err
		}
		if b.Len() > 0 {
			a.state.Generation++
		}
		generation = a.state.Generation
		if row, ok := b.Account(); ok {
			a.state.Row = store.Record{Value: row, Found: true, Version: generation}
		}
		for _, op := range b.Ops() {
			if op.Delete {
				delete(a.rows, op.Key)
			} else {
				a.rows[op.Key] = store.Record{Value: op.Value, Found: true, Version: generation}
			}
		}
		return nil
	})
	return generation, err
}

// Acquire implements store.Backend.
func (d *Disk) Acquire(ctx context.Context, id store.AccountID, holder string, takeOver bool) (fence uint64, err error) {
	err = d.with(ctx, id, func(a *diskAccount) error {
		o := &a.state.Owner
		if o.Held && !takeOver {
			return &store.OwnedError{Owner: *o}
		}
		*o = store.Owner{Fence: o.Fence + 1, Held: true, Holder: holder}
		fence = o.Fence
		return nil
	})
	return fence, err
}

// Release implements store.Backend.
func (d *Disk) Release(ctx context.Context, id store.AccountID, fence uint64) error {
	return d.with(ctx, id, func(a *diskAccount) error {
		o := &a.state.Owner
		if !o.Held || o.Fence != fence {
			return &store.OwnedError{Owner: *o}
		}
		o.Held = false
		return nil
	})
}

// Close implements store.Backend.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return nil
}
