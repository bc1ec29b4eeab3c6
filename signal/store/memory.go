package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory is a Backend without persistence. It stores the values of a batch
// without copying them and hands out the stored values themselves: a record
// keeps alive the buffer that it is a part of, so a batch of prekeys cut from
// one buffer is freed only when the last of them is gone.
type Memory struct {
	mu     sync.RWMutex
	closed bool
	last   AccountID
	names  map[string]AccountID
	rows   map[AccountID]*memoryAccount
}

// memoryAccount holds the rows of one account. Names and ids have maps of
// their own because a map over the bare id is less than half the size of one
// over Key.
type memoryAccount struct {
	name       string
	row        memoryRow
	generation uint64
	owner      Owner
	byName     [BaseKeys + 1]map[string]memoryRow
	byID       [BaseKeys + 1]map[uint32]memoryRow
}

type memoryRow struct {
	value   []byte
	version uint64 // never 0 in a row
}

func (r memoryRow) record() Record {
	return Record{Value: r.value, Found: r.version != 0, Version: r.version}
}

// get returns the row k, the account row for the zero Key.
func (a *memoryAccount) get(k Key) memoryRow {
	switch {
	case k == Key{}:
		return a.row
	case k.Table.ByID():
		return a.byID[k.Table][k.ID]
	}
	return a.byName[k.Table][k.Name]
}

var _ Backend = (*Memory)(nil)

// NewMemory returns an empty in-memory backend.
func NewMemory() *Memory {
	return &Memory{names: map[string]AccountID{}, rows: map[AccountID]*memoryAccount{}}
}

// enter returns the account with the lock for reading held, or an error
// without it.
func (m *Memory) enter(ctx context.Context, id AccountID) (*memoryAccount, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	a, err := m.account(id)
	if err != nil {
		m.mu.RUnlock()
	}
	return a, err
}

func (m *Memory) account(id AccountID) (*memoryAccount, error) {
	if m.closed {
		return nil, ErrClosed
	}
	a := m.rows[id]
	if a == nil {
		return nil, ErrNoAccount
	}
	return a, nil
}

// CreateAccount implements Backend.
func (m *Memory) CreateAccount(ctx context.Context, name string, row []byte) (AccountID, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	if _, ok := m.names[name]; ok {
		return 0, ErrAccountExists
	}
	m.last++
	a := &memoryAccount{name: name, generation: 1, row: memoryRow{row, 1}}
	for t := Identities; t.Valid(); t++ {
		if t.ByID() {
			a.byID[t] = map[uint32]memoryRow{}
		} else {
			a.byName[t] = map[string]memoryRow{}
		}
	}
	m.names[name], m.rows[m.last] = m.last, a
	return m.last, nil
}

// OpenAccount implements Backend.
func (m *Memory) OpenAccount(ctx context.Context, name string) (Account, error) {
	if err := ctx.Err(); err != nil {
		return Account{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	id := m.names[name]
	a, err := m.account(id)
	if err != nil {
		return Account{}, err
	}
	return Account{ID: id, Row: a.row.record(), Generation: a.generation, Owner: a.owner}, nil
}

// Accounts implements Backend.
func (m *Memory) Accounts(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if m.closed {
		return nil, ErrClosed
	}
	return slices.Sorted(maps.Keys(m.names)), nil
}

// DeleteAccount implements Backend.
func (m *Memory) DeleteAccount(ctx context.Context, id AccountID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(id)
	if err != nil {
		return err
	}
	delete(m.names, a.name)
	delete(m.rows, id)
	return nil
}

// Read implements Backend.
func (m *Memory) Read(ctx context.Context, id AccountID, keys []Key) ([]Record, uint64, error) {
	CheckKeys(keys)
	a, err := m.enter(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	defer m.mu.RUnlock()
	out := make([]Record, len(keys))
	for i, k := range keys {
		out[i] = a.get(k).record()
	}
	return out, a.generation, nil
}

// List implements Backend.
func (m *Memory) List(ctx context.Context, id AccountID, q Query) ([]Key, error) {
	q.Check()
	a, err := m.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer m.mu.RUnlock()
	out := make([]Key, 0, len(a.byID[q.Table]))
	add := func(k Key) {
		if q.After == (Key{}) || k.Compare(q.After) > 0 {
			out = append(out, k)
		}
	}
	for k := range a.byID[q.Table] {
		add(Key{Table: q.Table, ID: k})
	}
	for k := range a.byName[q.Table] {
		if strings.HasPrefix(k, q.Prefix) {
			add(Key{Table: q.Table, Name: k})
		}
	}
	slices.SortFunc(out, Key.Compare)
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out, nil
}

// Apply implements Backend.
func (m *Memory) Apply(ctx context.Context, id AccountID, b *Batch) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(id)
	if err != nil {
		return 0, err
	}
	if err := a.check(b); err != nil {
		return 0, err
	}
	if b.Len() == 0 {
		return a.generation, nil
	}
	a.generation++
	if row, ok := b.Account(); ok {
		a.row = memoryRow{row, a.generation}
	}
	ops := b.Ops()
	for i, op := range ops {
		k := op.Key
		switch {
		case k.Table.ByID() && op.Delete:
			delete(a.byID[k.Table], k.ID)
		case k.Table.ByID():
			if i == 0 || ops[i-1].Key.Table != k.Table {
				a.reserve(k.Table, ops[i:])
			}
			a.byID[k.Table][k.ID] = memoryRow{op.Value, a.generation}
		case op.Delete:
			delete(a.byName[k.Table], k.Name)
		default:
			a.byName[k.Table][k.Name] = memoryRow{op.Value, a.generation}
		}
	}
	return a.generation, nil
}

// check returns the error that Apply refuses b with, if any.
func (a *memoryAccount) check(b *Batch) error {
	if err := a.owner.Admits(b.Fence()); err != nil {
		return err
	}
	var changed []Key
	for _, e := range b.Expectations(a.generation) {
		if a.get(e.Key).version != e.Version {
			changed = append(changed, e.Key)
		}
	}
	return NewConflict(changed)
}

// Acquire implements Backend.
func (m *Memory) Acquire(ctx context.Context, id AccountID, holder string, takeOver bool) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(id)
	if err != nil {
		return 0, err
	}
	if a.owner.Held && !takeOver {
		return 0, &OwnedError{Owner: a.owner}
	}
	a.owner = Owner{Fence: a.owner.Fence + 1, Held: true, Holder: holder}
	return a.owner.Fence, nil
}

// Release implements Backend.
func (m *Memory) Release(ctx context.Context, id AccountID, fence uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a, err := m.account(id)
	if err != nil {
		return err
	}
	if !a.owner.Held || a.owner.Fence != fence {
		return &OwnedError{Owner: a.owner}
	}
	a.owner.Held = false
	return nil
}

// reserve makes room for the stores into t that ops begins with, if it can
// tell that most of them are rows of their own: their ids ascend. Growing the
// map once and not once per doubling is most of the cost of storing a batch of
// prekeys.
func (a *memoryAccount) reserve(t Table, ops []Op) {
	n := 0
	for n < len(ops) && ops[n].Key.Table == t && !ops[n].Delete {
		if n > 0 && ops[n].Key.ID <= ops[n-1].Key.ID {
			return
		}
		n++
	}
	if have := len(a.byID[t]); n > have+8 {
		grown := make(map[uint32]memoryRow, n)
		maps.Copy(grown, a.byID[t])
		a.byID[t] = grown
	}
}

// Close implements Backend.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}
