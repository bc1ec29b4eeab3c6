package signal

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file is the stored form of a SenderKey: the protobuf
// SenderKeyRecordStructure, with the lease in fields 100
// and 101, its length in field 102 and the history of a key in 101 and 102 of it.

// AppendBinary appends the record in the storage form. The error is always
// nil.
func (k *SenderKey) AppendBinary(dst []byte) ([]byte, error) {
	return k.lease.append(k.appendStates(dst, compact)), nil
}

// AppendPortable appends the record as every reader of it understands it,
// without its lease and without what tells why a message has no key.
func (k *SenderKey) AppendPortable(dst []byte) []byte {
	return k.appendStates(dst, portable)
}

func (k *SenderKey) appendStates(dst []byte, f form) []byte {
	size := maxLengthSize + maxLeaseSize
	for _, st := range k.states {
		size += bytesFieldSize(st.size(f))
	}
	dst = slices.Grow(dst, size)
	if f == compact && (len(k.states) > 1 || len(k.states) == 1 && k.lease.ceiling > 0) {
		dst = appendLength(dst, size-maxLeaseSize-maxLengthSize+k.lease.size())
	}
	for _, st := range k.states {
		dst = st.append(appendBytesTag(dst, 1, st.size(f)), f)
	}
	return dst
}

func (st *senderKeyState) signingSize() int {
	if st.canSign {
		return keyFieldSize + bytesFieldSize(32)
	}
	return keyFieldSize
}

func (st *senderKeyState) size(f form) int {
	return uintFieldSize(st.id) + bytesFieldSize(st.chain.size(false)) + bytesFieldSize(st.signingSize()) +
		st.skipped.size(compact, senderKeySeed) + historySize(f, &st.skipped, &st.used, st.chain.index)
}

func (st *senderKeyState) append(dst []byte, f form) []byte {
	dst = appendUintField(dst, 1, st.id)
	dst = st.chain.append(appendBytesTag(dst, 2, st.chain.size(false)), false)
	dst = appendKeyField(appendBytesTag(dst, 3, st.signingSize()), 1, &st.public)
	if st.canSign {
		dst = appendBytesField(dst, 2, st.private[:])
	}
	dst = st.skipped.append(dst, compact, senderKeySeed)
	return appendHistory(dst, f, &st.skipped, &st.used, st.chain.index)
}

// ParseSenderKey reads a record, of this package or of another implementation,
// and keeps MaxSenderKeyStates keys. Iterations that are left out are 0. It
// keeps nothing of record. The error wraps ErrCorruptRecord.
func ParseSenderKey(record []byte) (*SenderKey, error) {
	k := &SenderKey{parsed: true}
	var l leaseReader
	r := fieldReader{b: record}
	for first := true; r.next(); first = first && r.num == tagLastUse>>3 {
		switch r.num {
		case 1:
			if r.typ != protowire.BytesType {
				r.bad = true
			} else if len(k.states) < MaxSenderKeyStates {
				st := new(senderKeyState)
				r.bad = r.bad || !st.parse(r.data)
				k.states = append(k.states, st)
			}
		case 100, 101:
			l.read(&r)
		case 102:
			r.checkLength(first)
		case tagLastUse >> 3:
			k.used.read(&r)
		}
	}
	// A row that says when it was used has something that was.
	if r.bad || k.used != 0 && len(k.states) == 0 {
		return nil, fmt.Errorf("signal: sender key of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	k.lease = l.lease()
	return k, nil
}

func (st *senderKeyState) parse(b []byte) bool {
	var public, private []byte
	var hasChain, hasSigning bool
	var h history
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&st.id)
		case 2:
			if r.typ != protowire.BytesType || hasChain || !parseSeed(r.data, &st.chain.index, &st.chain.key) {
				return false
			}
			hasChain = true
		case 3:
			if r.typ != protowire.BytesType || hasSigning {
				return false
			}
			hasSigning = true
			k := fieldReader{b: r.data}
			for k.next() {
				switch k.num {
				case 1:
					k.bytes(&public)
				case 2:
					k.bytes(&private)
				}
			}
			if k.bad {
				return false
			}
		case 4:
			var k skippedKey
			if r.typ != protowire.BytesType || !parseSeed(r.data, &k.counter, &k.seed) {
				return false
			}
			st.skipped.push(k, 1+len(r.b)/len(r.data))
		case 101, 102:
			h.read(&r)
		}
		st.skipped.parseSeeds(&r, senderKeySeed)
	}
	if r.bad || !hasChain {
		return false
	}
	var err error
	if st.public, err = parseStoredKey(public); err != nil {
		return false
	}
	if len(private) > 0 {
		if st.private, err = NewPrivateKey(private); err != nil {
			return false
		}
		st.canSign = true
	}
	h.set(&st.skipped, &st.used, st.chain.index)
	st.skipped.sort()
	st.skipped.prune()
	return true
}

// parseSeed reads a SenderChainKey or a SenderMessageKey: an iteration and 32
// bytes.
func parseSeed(b []byte, iteration *uint32, seed *[32]byte) bool {
	var data []byte
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(iteration)
		case 2:
			r.bytes(&data)
		}
	}
	if r.bad || len(data) != 32 {
		return false
	}
	*seed = [32]byte(data)
	return true
}
