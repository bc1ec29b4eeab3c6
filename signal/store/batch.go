package store

// Op is one operation of a batch.
type Op struct {
	Key   Key
	Value []byte // the record to store; unused if Delete
	// Delete removes the row. Deleting an absent row is not an error.
	Delete bool
}

// Batch is a list of operations that Backend.Apply executes in order and in
// one transaction. The zero Batch is empty. If it names a row twice, the later
// operation wins.
type Batch struct {
	row    []byte
	hasRow bool
	ops    []Op
}

// Grow makes room for n more operations.
func (b *Batch) Grow(n int) {
	if free := cap(b.ops) - len(b.ops); n > free {
		b.ops = append(make([]Op, 0, len(b.ops)+n), b.ops...)
	}
}

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

// Account returns the account row to store, and whether there is one.
func (b *Batch) Account() (row []byte, ok bool) { return b.row, b.hasRow }

// Ops returns the operations in order, for backends. They must not be modified.
func (b *Batch) Ops() []Op { return b.ops }

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
