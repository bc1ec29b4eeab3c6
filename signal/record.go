package signal

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file is the stored form of a Session: the protobuf RecordStructure that
// Signal's implementations share, with extensions that their readers skip: the
// lease in fields 100 and 101 of the record, its length in field 102, the seed in
// field 100 of a skipped key, and the history of a receiver chain.

const (
	tagCeiling     = 100 << 3
	tagIncarnation = 101<<3 | 2
)

// form says how skipped keys are written.
type form bool

const (
	compact  form = false // as seeds
	portable form = true  // as the keys themselves
)

// AppendBinary appends the record in the storage form, skipped keys as seeds.
// The error is always nil.
func (s *Session) AppendBinary(dst []byte) ([]byte, error) {
	dst = s.appendStates(dst, compact)
	return s.lease.append(dst), nil
}

// several reports whether the record has more than one field.
func (s *Session) several() bool {
	n := len(s.archived)
	if s.current != nil {
		n++
	}
	return n > 1 || n == 1 && s.lease.ceiling > 0
}

// AppendPortable appends the record in the form that every reader of Signal's
// records understands: skipped keys as cipher key, MAC key and IV, every
// scalar there although zero, no lease.
func (s *Session) AppendPortable(dst []byte) []byte { return s.appendStates(dst, portable) }

func (s *Session) appendStates(dst []byte, f form) []byte {
	size := 0
	each := func(do func(num byte, st *state)) {
		if s.current != nil {
			do(1, s.current)
		}
		for _, st := range s.archived {
			do(2, st)
		}
	}
	each(func(_ byte, st *state) { size += bytesFieldSize(st.storedSize(f)) })
	dst = slices.Grow(dst, maxLengthSize+size+maxLeaseSize)
	if f == compact && s.several() {
		dst = appendLength(dst, size+s.lease.size())
	}
	each(func(num byte, st *state) {
		dst = appendBytesTag(dst, num, st.storedSize(f))
		dst = st.appendStored(dst, f)
	})
	return dst
}

func (st *state) size(f form) int {
	n := uintFieldSize(st.version) + 2*keyFieldSize + bytesFieldSize(32) + uintFieldSize(st.previousCounter)
	if st.sender.keyed {
		n += bytesFieldSize(st.sender.size())
	}
	for i := range st.receivers {
		n += bytesFieldSize(st.receivers[i].size(f))
	}
	if st.pending.ok {
		n += bytesFieldSize(st.pending.size(f))
	}
	n += uintFieldSize(st.remoteID) + uintFieldSize(st.localID)
	if st.needsRefresh {
		n += 2
	}
	if st.hasBaseKey {
		n += keyFieldSize
	}
	return n
}

func (st *state) append(dst []byte, f form) []byte {
	dst = appendUintField(dst, 1, st.version)
	dst = appendKeyField(dst, 2, &st.localIdentity)
	dst = appendKeyField(dst, 3, &st.remoteIdentity)
	dst = appendBytesField(dst, 4, st.root[:])
	dst = appendUintField(dst, 5, st.previousCounter)
	if st.sender.keyed {
		dst = st.sender.append(appendBytesTag(dst, 6, st.sender.size()))
	}
	for i := range st.receivers {
		r := &st.receivers[i]
		dst = r.append(appendBytesTag(dst, 7, r.size(f)), f)
	}
	if st.pending.ok {
		dst = st.pending.append(appendBytesTag(dst, 9, st.pending.size(f)), f)
	}
	dst = appendUintField(dst, 10, st.remoteID)
	dst = appendUintField(dst, 11, st.localID)
	if st.needsRefresh {
		dst = appendUintField(dst, 12, 1)
	}
	if st.hasBaseKey {
		dst = appendKeyField(dst, 13, &st.baseKey)
	}
	return dst
}

func (c *senderChain) size() int {
	return keyFieldSize + bytesFieldSize(32) + bytesFieldSize(c.chain.size(!c.open))
}

func (c *senderChain) append(dst []byte) []byte {
	dst = appendKeyField(dst, 1, &c.public)
	dst = appendBytesField(dst, 2, c.private[:])
	return c.chain.append(appendBytesTag(dst, 3, c.chain.size(!c.open)), !c.open)
}

func (c *chainKey) size(closed bool) int {
	n := uintFieldSize(c.index)
	if !closed {
		n += bytesFieldSize(32)
	}
	return n
}

func (c *chainKey) append(dst []byte, closed bool) []byte {
	dst = appendUintField(dst, 1, c.index)
	if !closed {
		dst = appendBytesField(dst, 2, c.key[:])
	}
	return dst
}

func (r *receiverChain) size(f form) int {
	return keyFieldSize + 2 + bytesFieldSize(r.chain.size(r.closed)) + r.skipped.size(f, sessionSeed) + historySize(f, &r.skipped, &r.used, r.chain.index)
}

func (r *receiverChain) append(dst []byte, f form) []byte {
	dst = appendKeyField(dst, 1, &r.ratchet)
	dst = append(dst, 2<<3|2, 0) // the private key that only a sender chain has
	dst = r.chain.append(appendBytesTag(dst, 3, r.chain.size(r.closed)), r.closed)
	dst = r.skipped.append(dst, f, sessionSeed)
	return appendHistory(dst, f, &r.skipped, &r.used, r.chain.index)
}

// The history of a chain is in the fields 101 and 102 of it, in the form of this
// package only: from which counter on keys are known, and the marks of counters
// that were used.

const (
	tagFloor = 101 << 3 // a varint
	tagUsed  = 102<<3 | 2
)

func historySize(f form, kept *skippedKeys, used *usedCounters, next uint32) (n int) {
	if f == portable {
		return 0
	}
	if kept.floor > 0 {
		n += 2 + varintSize(uint64(kept.floor))
	}
	if size := used.stored(next); size > 0 {
		n += 3 + size
	}
	return n
}

func appendHistory(dst []byte, f form, kept *skippedKeys, used *usedCounters, next uint32) []byte {
	if f == portable {
		return dst
	}
	if kept.floor > 0 {
		dst = protowire.AppendVarint(protowire.AppendVarint(dst, tagFloor), uint64(kept.floor))
	}
	if size := used.stored(next); size > 0 {
		dst = append(protowire.AppendVarint(dst, tagUsed), byte(size))
		dst = used.append(dst, next)
	}
	return dst
}

// A history is what was read of one. What is malformed counts as nothing.
type history struct {
	floor uint32
	used  []byte
}

func (h *history) read(r *fieldReader) {
	switch {
	case r.num == 101 && r.typ == protowire.VarintType:
		h.floor = uint32(r.v)
	case r.num == 102 && r.typ == protowire.BytesType:
		h.used = r.data
	}
}

func (h *history) set(kept *skippedKeys, used *usedCounters, next uint32) {
	kept.floor = min(h.floor, next)
	used.parse(h.used, next)
}

// The signed prekey id is an int32 in the record: ids from 2^31 on are
// negative there, and take ten bytes.
func (p *pendingPreKey) signedID() uint64 { return uint64(int64(int32(p.signedPreKeyID))) }

// started is since when the session is pending. libsignal-client takes a session
// without a time for one of 1970, too old to send with: one whose time is not
// known is of the end of the 32 bits that other readers have for the field.
func (p *pendingPreKey) started(f form) uint64 {
	if f == portable && p.since == 0 {
		return math.MaxUint32
	}
	return p.since
}

func (p *pendingPreKey) size(f form) int {
	n := keyFieldSize + 1 + varintSize(p.signedID())
	if p.hasPreKeyID {
		n += uintFieldSize(p.preKeyID)
	}
	if at := p.started(f); at > 0 {
		n += 1 + varintSize(at)
	}
	return n
}

func (p *pendingPreKey) append(dst []byte, f form) []byte {
	if p.hasPreKeyID {
		dst = appendUintField(dst, 1, p.preKeyID)
	}
	dst = appendKeyField(dst, 2, &p.baseKey)
	dst = protowire.AppendVarint(append(dst, 3<<3), p.signedID())
	if at := p.started(f); at > 0 {
		dst = protowire.AppendVarint(append(dst, 4<<3), at)
	}
	return dst
}

// ParseSession reads a record, of this package or of another implementation:
// skipped keys as seeds or as the keys themselves, in any order, and scalars
// that are left out for zero. It keeps MaxArchived archived sessions, and
// nothing of record. The error wraps ErrCorruptRecord. Archived sessions are
// copied, and read when a message may be theirs; one that cannot be read stays
// in the record and reads no message.
func ParseSession(record []byte) (*Session, error) {
	s := new(Session)
	hasCurrent := false
	var copies []byte // of archived states
	var states []state
	var l leaseReader
	r := fieldReader{b: record}
	for first := true; r.next(); first = first && r.num == tagLastUse>>3 {
		switch r.num {
		case 1:
			// Twice would mean to merge them, which no writer needs.
			if hasCurrent {
				r.bad = true
			}
			hasCurrent = true
			s.current = r.state()
		case 2:
			if r.typ != protowire.BytesType {
				r.bad = true
			}
			if r.bad || len(r.data) == 0 || len(s.archived) == MaxArchived {
				continue
			}
			if s.archived == nil {
				// The others are about as long.
				n := min(MaxArchived, 1+len(r.b)/len(r.data))
				copies = make([]byte, 0, len(r.data)+len(r.b))
				states, s.archived = make([]state, 0, n), make([]*state, 0, n)
			}
			if len(states) == cap(states) {
				states = make([]state, 0, MaxArchived-len(s.archived))
			}
			at := len(copies)
			copies = append(copies, r.data...)
			states = append(states, state{stored: copies[at:len(copies):len(copies)]})
			s.archived = append(s.archived, &states[len(states)-1])
		case 100, 101:
			l.read(&r)
		case 102:
			r.checkLength(first)
		case tagLastUse >> 3:
			s.used.read(&r)
		}
	}
	// A row that says when it was used has something that was.
	if r.bad || s.used != 0 && s.current == nil && len(s.archived) == 0 {
		return nil, fmt.Errorf("signal: session of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	s.lease = l.lease()
	return s, nil
}

// state reads a state. One without anything in it is nil: some writers leave
// such a placeholder for no session.
func (r *fieldReader) state() *state {
	if r.typ != protowire.BytesType {
		r.bad = true
	}
	if r.bad || len(r.data) == 0 {
		return nil
	}
	st := &state{body: new(body)}
	r.bad = !st.parse(r.data)
	return st
}

func (st *state) parse(b []byte) bool {
	var local, remote, root, base []byte
	var refresh uint32
	var hasSender bool
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&st.version)
		case 2:
			r.bytes(&local)
		case 3:
			r.bytes(&remote)
		case 4:
			r.bytes(&root)
		case 5:
			r.varint(&st.previousCounter)
		case 6:
			if r.typ != protowire.BytesType || hasSender || !st.sender.parse(r.data) {
				return false
			}
			hasSender = true
		case 7:
			var c receiverChain
			if r.typ != protowire.BytesType || !c.parse(r.data) {
				return false
			}
			st.addReceiver(c)
		case 9:
			if r.typ != protowire.BytesType || st.pending.ok || !st.pending.parse(r.data) {
				return false
			}
		case 10:
			r.varint(&st.remoteID)
		case 11:
			r.varint(&st.localID)
		case 12:
			r.varint(&refresh)
		case 13:
			r.bytes(&base)
		}
	}
	if r.bad || len(root) != 32 {
		return false
	}
	if st.version == 0 {
		st.version = 2 // what wrote records before it wrote versions
	}
	st.root = [32]byte(root)
	st.needsRefresh = refresh != 0
	var err error
	if st.localIdentity, err = parseStoredKey(local); err != nil {
		return false
	}
	if st.remoteIdentity, err = parseStoredKey(remote); err != nil {
		return false
	}
	if len(base) > 0 {
		if st.baseKey, err = parseStoredKey(base); err != nil {
			return false
		}
		st.hasBaseKey = true
	}
	return true
}

// A storedChain is the Chain message, which sender and receiver chains share.
type storedChain struct {
	public, private []byte
	key             []byte
	index           uint32
	skipped         skippedKeys
	history         history
}

func (c *storedChain) parse(b []byte) bool {
	hasKey := false
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.bytes(&c.public)
		case 2:
			r.bytes(&c.private)
		case 3:
			if r.typ != protowire.BytesType || hasKey {
				return false
			}
			hasKey = true
			k := fieldReader{b: r.data}
			for k.next() {
				switch k.num {
				case 1:
					k.varint(&c.index)
				case 2:
					k.bytes(&c.key)
				}
			}
			if k.bad {
				return false
			}
		case 4:
			var k skippedKey
			if r.typ != protowire.BytesType || !k.parse(r.data) {
				return false
			}
			// The others are as long, give or take a byte of a counter.
			c.skipped.push(k, 1+len(r.b)/len(r.data))
		case 101, 102:
			c.history.read(&r)
		}
		c.skipped.parseSeeds(&r, sessionSeed)
	}
	return !r.bad && (len(c.key) == 0 || len(c.key) == 32)
}

func (k *skippedKey) parse(b []byte) bool {
	var cipher, mac, iv, seed, signalSeed []byte
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&k.counter)
		case 2:
			r.bytes(&cipher)
		case 3:
			r.bytes(&mac)
		case 4:
			r.bytes(&iv)
		case 5:
			r.bytes(&signalSeed) // where libsignal-client writes it
		case 100:
			r.bytes(&seed)
		}
	}
	switch {
	case r.bad:
		return false
	case len(cipher) == 32 && len(mac) == 32 && len(iv) == 16:
		k.keys = &messageKeys{cipher: [32]byte(cipher), mac: [32]byte(mac), iv: [16]byte(iv)}
	case len(seed) == 32:
		k.seed = [32]byte(seed)
	case len(signalSeed) == 32:
		k.seed = [32]byte(signalSeed)
	default:
		return false
	}
	return true
}

// parse reads a sender chain. One that lacks a part cannot send, which is
// found out when it should.
func (c *senderChain) parse(b []byte) bool {
	var s storedChain
	if !s.parse(b) {
		return false
	}
	if len(s.public) == 0 || len(s.private) == 0 {
		return true
	}
	if !parseStoredPair(&c.public, &c.private, s.public, s.private) {
		return false
	}
	c.keyed, c.chain.index = true, s.index
	if c.open = len(s.key) > 0; c.open {
		c.chain.key = [32]byte(s.key)
	}
	return true
}

func (r *receiverChain) parse(b []byte) bool {
	var s storedChain
	if !s.parse(b) {
		return false
	}
	var err error
	if r.ratchet, err = ParsePublicKey(s.public); err != nil {
		return false
	}
	r.chain.index = s.index
	if r.closed = len(s.key) == 0; !r.closed {
		r.chain.key = [32]byte(s.key)
	}
	r.skipped = s.skipped
	s.history.set(&r.skipped, &r.used, r.chain.index)
	r.skipped.sort()
	r.skipped.prune()
	return true
}

func (p *pendingPreKey) parse(b []byte) bool {
	var base []byte
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&p.preKeyID)
			p.hasPreKeyID = true
		case 2:
			r.bytes(&base)
		case 3:
			r.varint(&p.signedPreKeyID)
		case 4:
			if p.since = 0; r.typ == protowire.VarintType {
				p.since = r.v
			}
		}
	}
	var err error
	if p.baseKey, err = parseStoredKey(base); err != nil {
		return false
	}
	p.ok = true
	return !r.bad
}
