package store

import "slices"

// Op is one operation of a batch.
type Op struct {
	Key   Key
	Value []byte // the record to store; unused if Delete
	// Delete removes the row. Deleting an absent row is not an error.
	Delete bool
}

// Expectation is a row that must be of a version for the batch to be applied.
type Expectation struct {
	Key     Key    // the zero Key is the account row
	Version uint64 // 0: there is no such row
}

// Batch is a list of operations that Backend.Apply executes in order and in
// one transaction. The zero Batch is empty. If it names a row twice, the later
// operation wins.
type Batch struct {
	row     []byte
	hasRow  bool
	ops     []Op
	expects []Expectation
	seen    uint64
	fence   uint64
}

// Grow makes room for n more operations.
func (b *Batch) Grow(n int) { b.ops = slices.Grow(b.ops, n) }

// Put stores value as the record of k, in place of what is there. The batch
// keeps value, which must not be modified any more.
func (b *Batch) Put(k Key, value []byte) {
	k.check()
	b.ops = append(b.ops, Op{Key: k, Value: value})
}

// Delete removes the row k.
func (b *Batch) Delete(k Key) {
	k.check()
	b.ops = append(b.ops, Op{Key: k, Delete: true})
}

// PutAccount stores row as the account row.
func (b *Batch) PutAccount(row []byte) { b.row, b.hasRow = row, true }

// Expect makes Apply refuse the batch unless the row k, or the account row for
// the zero Key, is of that version, as Read returned it: 0 if it was absent.
// Rows that are stored or deleted without it are stored or deleted whatever
// they are. A row is expected once at most.
func (b *Batch) Expect(k Key, version uint64) {
	if k != (Key{}) {
		k.check()
	}
	b.expects = append(b.expects, Expectation{Key: k, Version: version})
}

// ReadAt says that all expected versions were read when the account was of that
// generation: as long as it still is, a backend need not look at the rows.
func (b *Batch) ReadAt(generation uint64) { b.seen = generation }

// SetFence says which owner the batch is of, by the number that Acquire
// returned. 0, as in a Batch without it, is for accounts that nobody owns.
func (b *Batch) SetFence(fence uint64) { b.fence = fence }

// Account returns the account row to store, and whether there is one.
func (b *Batch) Account() (row []byte, ok bool) { return b.row, b.hasRow }

// Ops returns the operations in order, for backends. They must not be modified.
func (b *Batch) Ops() []Op { return b.ops }

// Expectations returns, for backends, what must be checked if the account is of
// that generation before the batch. They must not be modified.
func (b *Batch) Expectations(generation uint64) []Expectation {
	if b.seen != 0 && b.seen == generation {
		return nil
	}
	return b.expects
}

// Fence returns the owner of the batch, 0 if it has none.
func (b *Batch) Fence() uint64 { return b.fence }

// Len returns the number of rows that the batch writes, the account row
// included.
func (b *Batch) Len() int {
	n := len(b.ops)
	if b.hasRow {
		n++
	}
	return n
}

// CheckKeys panics unless a backend can hold each of the keys. Backends call
// it first in Read.
func CheckKeys(keys []Key) {
	for _, k := range keys {
		k.check()
	}
}
