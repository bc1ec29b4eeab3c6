package accounttest

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"

	"github.com/sigcore/sigcore/signal/store"
)

// errLocked is what a backend that is made to fail says.
var errLocked = errors.New("accounttest: database is locked")

// call is one call of a backend that an account makes.
type call struct {
	write bool // Apply; else Read
	keys  []store.Key
}

// has reports whether the call is about a row of a table.
func (c call) has(t store.Table) bool {
	for _, k := range c.keys {
		if k.Table == t {
			return true
		}
	}
	return false
}

// Faulty is a backend that does to calls of Read and Apply what a test tells
// it to. It also remembers every record that it handed out, so that a test can
// find out whether somebody changed one.
type Faulty struct {
	store.Backend

	mu     sync.Mutex
	before func(context.Context, call) error              // may park, fail or panic
	after  func(context.Context, call, error) error       // sees the outcome and may replace it
	record func(k store.Key, r store.Record) store.Record // replaces a record that is read
	reads  int
	writes int
	lent   map[*byte]lent
}

type lent struct {
	value []byte
	sum   uint64
}

var seed = maphash.MakeSeed()

// hooks sets what happens around calls; nil is nothing.
func (f *Faulty) hooks(before func(context.Context, call) error, after func(context.Context, call, error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// replace sets what the backend reads in place of its records.
func (f *Faulty) replace(record func(store.Key, store.Record) store.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record = record
}

// heal ends all faults.
func (f *Faulty) heal() {
	f.hooks(nil, nil)
	f.replace(nil)
}

// counts returns the numbers of reads and writes since the last call.
func (f *Faulty) counts() (reads, writes int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reads, writes = f.reads, f.writes
	f.reads, f.writes = 0, 0
	return reads, writes
}

func (f *Faulty) enter(ctx context.Context, c call) (func(context.Context, call, error) error, func(store.Key, store.Record) store.Record, error) {
	f.mu.Lock()
	if c.write {
		f.writes++
	} else {
		f.reads++
	}
	before, after, record := f.before, f.after, f.record
	f.mu.Unlock()
	if before != nil {
		if err := before(ctx, c); err != nil {
			return nil, nil, err
		}
	}
	return after, record, nil
}

// Read implements store.Backend.
func (f *Faulty) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	c := call{keys: keys}
	after, record, err := f.enter(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	recs, generation, err := f.Backend.Read(ctx, id, keys)
	for i := range recs {
		if record != nil {
			recs[i] = record(keys[i], recs[i])
		}
		f.lend(recs[i].Value)
	}
	if after != nil {
		if err = after(ctx, c, err); err != nil {
			return nil, 0, err
		}
	}
	return recs, generation, err
}

// Apply implements store.Backend.
func (f *Faulty) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (generation uint64, err error) {
	c := call{write: true}
	for _, op := range b.Ops() {
		c.keys = append(c.keys, op.Key)
	}
	after, _, err := f.enter(ctx, c)
	if err != nil {
		return 0, err
	}
	for _, op := range b.Ops() {
		f.lend(op.Value)
	}
	generation, err = f.Backend.Apply(ctx, id, b)
	if after != nil {
		err = after(ctx, c, err)
	}
	return generation, err
}

// lend remembers a value that others must not change any more.
func (f *Faulty) lend(v []byte) {
	if len(v) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lent == nil || len(f.lent) > 10_000 {
		f.lent = map[*byte]lent{}
	}
	f.lent[&v[0]] = lent{v, maphash.Bytes(seed, v)}
}

// intact returns an error if a record was changed after it was handed out.
func (f *Faulty) intact() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range f.lent {
		if maphash.Bytes(seed, l.value) != l.sum {
			return fmt.Errorf("a record of %d bytes was changed in place", len(l.value))
		}
	}
	return nil
}
