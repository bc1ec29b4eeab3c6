package signal

import (
	"context"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/sigcore/sigcore/signal/store"
)

const (
	// DefaultCacheBytes is the memory, in bytes, that a leased account uses for
	// the rows that it keeps, unless its options say otherwise.
	DefaultCacheBytes = 384 << 10

	// flushEvery is how many operations that need not wait for the disk go by
	// before what they changed is written.
	flushEvery = 256
)

// cache holds the rows of a leased account: sessions and sender keys as live
// values, identities as they are stored, and every other row from its change
// until it is on disk.
//
// A row is checked out by the operation that holds its lock, and only then does
// it change. The operation checks it in with the lock still held; from then on
// the row can be written, by whoever writes next, but does not change. So a
// write finds every row that is not checked out as an operation left it, and
// there is never a second owner who could bring back what the first one changed
// or deleted.
//
// A row that has changed since it was written, or is checked out, is never
// evicted.
type cache struct {
	mu       sync.Mutex
	rows     map[store.Key]*row
	maxBytes int
	bytes    int
	first    *row // the one used last
	last     *row

	dirty      []*row
	dirtyBytes int
	seq        uint64 // of the last change
	operations int    // with changes, since the last write

	incarnation [16]byte // of leases that are written
	evicted     bool     // a session or sender key has left
	lost        error    // another one owns the account
	over        bool     // the account was given back

	flushing chan struct{} // full while a write is under way
}

// cached is what the cache knows about a row.
type cached struct {
	loaded bool // the row is what was read or has been written
	kept   bool // it is in the cache
	out    bool // an operation has it

	seq     uint64 // of the last change
	flushed uint64 // of the change that is on disk
	queued  bool   // in dirty
	size    int

	disk diskLease

	with    *row // the session that a deleted prekey went into,
	withSeq uint64

	newer, older *row
}

// diskLease is which keys of a sending chain may be published, as far as the disk
// knows: those of that chain whose counter is below the ceiling.
type diskLease struct {
	chain   PublicKey
	ceiling uint32
}

func newCache(maxBytes int, incarnation [16]byte) *cache {
	if maxBytes <= 0 {
		maxBytes = DefaultCacheBytes
	}
	return &cache{
		rows: map[store.Key]*row{}, maxBytes: maxBytes, incarnation: incarnation, flushing: make(chan struct{}, 1),
	}
}

// keeps reports whether rows of t stay in the cache once they are on disk.
func keeps(t store.Table) bool {
	return t == store.Sessions || t == store.SenderKeys || t == store.Identities
}

// wrote reports whether a record with that lease is exact because this cache has
// written it: no key was published that the record does not know of, unless the
// row is still here.
func (c *cache) wrote(l *lease) bool { return l.hasIncarnation && l.incarnation == c.incarnation }

// checkOut returns the row of k for the holder of its lock, nil if it is not
// here.
func (c *cache) checkOut(k store.Key) *row {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.rows[k]
	if r != nil {
		r.out = true
		c.unlink(r)
		c.link(r)
	}
	return r
}

// coldRows returns those of rows that have to be read.
func coldRows(rows []*row) (cold []*row) {
	for _, r := range rows {
		if !r.loaded {
			cold = append(cold, r)
		}
	}
	return cold
}

// insert takes in rows that were read, checked out.
func (c *cache) insert(rows []*row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		r.out = true
		if !keeps(r.key.Table) {
			continue
		}
		if r.session != nil || r.senderKey != nil {
			r.value = nil
		}
		c.keep(r)
	}
	c.evict()
}

// keep puts a row into the cache.
func (c *cache) keep(r *row) {
	if !r.kept {
		r.kept = true
		c.rows[r.key] = r
		c.link(r)
	}
	c.measure(r)
}

// drop removes a row from the cache.
func (c *cache) drop(r *row) {
	if r.kept {
		r.kept = false
		delete(c.rows, r.key)
		c.unlink(r)
		c.bytes -= r.size
		r.size = 0
	}
}

func (c *cache) link(r *row) {
	if r.older = c.first; c.first != nil {
		c.first.newer = r
	} else {
		c.last = r
	}
	c.first = r
}

func (c *cache) unlink(r *row) {
	if r.newer != nil {
		r.newer.older = r.older
	} else {
		c.first = r.older
	}
	if r.older != nil {
		r.older.newer = r.newer
	} else {
		c.last = r.newer
	}
	r.newer, r.older = nil, nil
}

func (c *cache) measure(r *row) {
	n := r.footprint()
	if r.kept {
		c.bytes += n - r.size
	}
	if r.queued {
		c.dirtyBytes += n - r.size
	}
	r.size = n
}

// evict drops rows that nobody has and that are on disk if the cache is over its
// bound, until an eighth of it is free: first rows that are absent, then those
// used longest ago.
func (c *cache) evict() {
	if c.bytes <= c.maxBytes {
		return
	}
	for _, absent := range []bool{true, false} {
		for r := c.last; r != nil && c.bytes > c.maxBytes-c.maxBytes/8; {
			next := r.newer
			if !r.out && !r.queued && (!absent || !r.exists) {
				c.evicted = c.evicted || r.sends()
				c.drop(r)
			}
			r = next
		}
	}
}

// sends reports whether the row is, or would be, a session or a sender key.
func (r *row) sends() bool { return r.key.Table == store.Sessions || r.key.Table == store.SenderKeys }

// change marks a row as changed.
func (c *cache) change(r *row) {
	c.seq++
	r.seq = c.seq
	c.keep(r)
	if !r.queued {
		r.queued = true
		c.dirty = append(c.dirty, r)
		c.dirtyBytes += r.size
	}
}

// take makes what a txn has changed the state of the account, and checks its
// rows in. Whoever holds their locks does not change them any more.
func (c *cache) take(t *txn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := false
	for _, r := range t.rows {
		if r.sent {
			c.reserve(r)
		}
		if r.changed {
			r.use()
			c.change(r)
			changed = true
		}
	}
	for _, s := range t.staged {
		r := s.row
		r.set(s.value, !s.delete)
		r.with = s.with
		if s.with != nil {
			r.withSeq = s.with.seq
		}
		c.change(r)
		changed = true
	}
	if changed {
		c.operations++
	}
	for _, r := range t.rows {
		r.out = false
	}
	t.taken = true
	c.evict()
}

// set makes a row what a record says. It was not read, so it is trusted as it
// is.
func (r *row) set(value []byte, exists bool) {
	r.value, r.exists, r.err, r.loaded = value, exists, nil, true
	r.session, r.senderKey = nil, nil
	if !exists {
		return
	}
	switch r.key.Table {
	case store.Sessions:
		r.session, r.err = ParseSession(value)
	case store.SenderKeys:
		r.senderKey, r.err = ParseSenderKey(value)
	}
	if r.err == nil && r.live() {
		r.value = nil
	}
}

// reserve raises the ceiling of the lease of a row whose sending chain has just
// used a counter that it does not cover.
func (c *cache) reserve(r *row) {
	l, next := r.sendingLease()
	if l == nil || next == 0 || next-1 < l.ceiling {
		return
	}
	l.ceiling = uint32(min(uint64(next-1)+leaseBatch, math.MaxUint32))
}

// renew raises the ceiling of a row that is about to be written, if it has a
// lease, to leaseBatch counters of which none was published yet: what is written
// together then waits together for the next write.
func (c *cache) renew(r *row) {
	l, next := r.sendingLease()
	if l == nil || l.ceiling == 0 || next == 0 {
		return
	}
	published := uint64(next)
	if !r.covered() {
		published-- // the last one waits for this write
	}
	l.ceiling = max(l.ceiling, uint32(min(published+leaseBatch, math.MaxUint32)))
}

// sendingLease returns the lease of a row and the counter that its sending chain
// is at.
func (r *row) sendingLease() (*lease, uint32) {
	switch {
	case r.session != nil && r.session.CanEncrypt():
		return &r.session.lease, r.session.current.sender.chain.index
	case r.senderKey != nil && r.senderKey.CanEncrypt():
		return &r.senderKey.lease, r.senderKey.states[0].chain.index
	}
	return nil, 0
}

// covered reports whether every key that the sending chain of a row has used may
// be published: the disk has the chain, and a ceiling above them.
func (r *row) covered() bool {
	_, next := r.sendingLease()
	d := r.current()
	return d.chain == r.disk.chain && next <= r.disk.ceiling
}

// current returns the lease of the live form.
func (r *row) current() diskLease {
	switch {
	case r.session != nil:
		return r.session.disk()
	case r.senderKey != nil:
		return r.senderKey.disk()
	}
	return diskLease{}
}

func (s *Session) disk() diskLease {
	if !s.CanEncrypt() {
		return diskLease{}
	}
	return diskLease{s.current.sender.public, s.lease.ceiling}
}

func (k *SenderKey) disk() diskLease {
	if !k.CanEncrypt() {
		return diskLease{}
	}
	return diskLease{k.states[0].public, k.lease.ceiling}
}

// checkIn ends a txn. If it was not taken, because it failed, what its sessions
// have used up stays used up: a session that has moved on is never set back.
func (c *cache) checkIn(t *txn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range t.rows {
		if !t.taken {
			if r.kept && (r.changed || !t.returned) && (r.session != nil || r.senderKey != nil) {
				c.change(r)
			}
			r.out = false
		}
		r.changed, r.sent = false, false
	}
}

// makeRoom writes what has changed if that is too much to keep, and returns the
// error if that fails, before the operation has done anything.
func (c *cache) makeRoom(ctx context.Context, a *Account) error {
	c.mu.Lock()
	lost, full := c.lost, c.dirtyBytes > 2*c.maxBytes
	c.mu.Unlock()
	switch {
	case lost != nil:
		return lost
	case full:
		return a.flush(ctx, nil)
	}
	return nil
}

// unwritten reports whether anything has changed that is not on disk.
func (c *cache) unwritten() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.dirty) > 0
}

// stamp says in the lease of a row that this cache has written it.
func (c *cache) stamp(r *row) {
	if l := r.lease(); l != nil {
		l.incarnation, l.hasIncarnation = c.incarnation, l.ceiling > 0
	}
}

// overwritten drops rows that a batch has written past the cache, whatever they
// were.
func (c *cache) overwritten(b *store.Batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range b.Ops() {
		if r := c.rows[op.Key]; r != nil {
			c.clean(r)
			c.drop(r)
		}
	}
}

// clean takes a row out of those that have changed.
func (c *cache) clean(r *row) {
	if r.queued {
		r.queued = false
		c.dirtyBytes -= r.size
		c.dirty = slices.DeleteFunc(c.dirty, func(d *row) bool { return d == r })
	}
}

// footprint estimates the memory of a row, in bytes.
func (r *row) footprint() int {
	// The row twice, for its place in the map.
	n := int(unsafe.Sizeof(row{})) + 2*int(unsafe.Sizeof(store.Key{})) + len(r.key.Name) + len(r.value) + 16
	switch {
	case r.session != nil:
		n += int(unsafe.Sizeof(Session{}))
		if r.session.current != nil {
			n += r.session.current.footprint()
		}
		for _, st := range r.session.archived {
			n += st.footprint()
		}
	case r.senderKey != nil:
		n += int(unsafe.Sizeof(SenderKey{}))
		for _, st := range r.senderKey.states {
			n += int(unsafe.Sizeof(senderKeyState{})) + st.skipped.len()*int(unsafe.Sizeof(skippedKey{}))
			if st.signer != nil || st.verifier != nil {
				n += 1024
			}
		}
	}
	return n
}

func (st *state) footprint() int {
	n := int(unsafe.Sizeof(state{})) + len(st.stored)
	if st.unread() {
		return n
	}
	n += int(unsafe.Sizeof(body{})) + cap(st.receivers)*int(unsafe.Sizeof(receiverChain{}))
	for i := range st.receivers {
		n += st.receivers[i].skipped.len() * int(unsafe.Sizeof(skippedKey{}))
	}
	return n
}
