package signal

import (
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file is the protobuf encoding that messages and records share. It is
// written by hand because these are the hot paths; the tests compare it with
// generated code.

// maxGroupDepth bounds the nesting of groups among unknown fields.
const maxGroupDepth = 64

// A fieldReader walks over the fields of a protobuf message. Every field that
// the callers know is a varint or a byte string; for others only the number
// and the type are set.
type fieldReader struct {
	b    []byte
	num  protowire.Number
	typ  protowire.Type
	v    uint64 // of a varint, or of a fixed64
	data []byte // of a byte string, part of the message
	bad  bool
}

// next reads a field. At the end, and at the first malformed one, it returns
// false; bad tells them apart.
func (r *fieldReader) next() bool {
	if len(r.b) == 0 {
		return false
	}
	num, typ, n := protowire.ConsumeTag(r.b)
	if n < 0 || num > protowire.MaxValidNumber {
		return r.fail()
	}
	r.b = r.b[n:]
	r.num, r.typ = num, typ
	switch typ {
	case protowire.VarintType:
		r.v, n = protowire.ConsumeVarint(r.b)
	case protowire.BytesType:
		r.data, n = protowire.ConsumeBytes(r.b)
	case protowire.Fixed64Type:
		r.v, n = protowire.ConsumeFixed64(r.b)
	case protowire.Fixed32Type:
		_, n = protowire.ConsumeFixed32(r.b)
	case protowire.StartGroupType:
		n = skipGroup(r.b, num)
	default:
		return r.fail()
	}
	if n < 0 {
		return r.fail()
	}
	r.b = r.b[n:]
	return true
}

func (r *fieldReader) fail() bool {
	r.bad = true
	return false
}

// varint returns the low 32 bits of a varint field, which is what protobuf
// makes of a wider one. Another type is malformed.
func (r *fieldReader) varint(v *uint32) {
	if r.typ != protowire.VarintType {
		r.bad = true
		return
	}
	*v = uint32(r.v)
}

// bytes returns the content of a byte string field. Another type is malformed.
func (r *fieldReader) bytes(b *[]byte) {
	if r.typ != protowire.BytesType {
		r.bad = true
		return
	}
	*b = r.data
}

// skipGroup returns the length of the rest of a group whose start tag was
// read, or -1. It does not recurse, so that nesting costs no stack.
func skipGroup(b []byte, num protowire.Number) int {
	var open [maxGroupDepth]protowire.Number
	open[0] = num
	for depth, n := 1, 0; ; {
		num, typ, m := protowire.ConsumeTag(b[n:])
		if m < 0 {
			return -1
		}
		n += m
		switch typ {
		case protowire.StartGroupType:
			if depth == maxGroupDepth {
				return -1
			}
			open[depth] = num
			depth++
			continue
		case protowire.EndGroupType:
			depth--
			if open[depth] != num {
				return -1
			}
			if depth == 0 {
				return n
			}
			continue
		}
		if m = protowire.ConsumeFieldValue(num, typ, b[n:]); m < 0 {
			return -1
		}
		n += m
	}
}

// All fields that are written have numbers below 16, but for those that have
// their tags spelled out, so a tag is one byte.

func varintSize(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

func uintFieldSize(v uint32) int { return 1 + varintSize(uint64(v)) }

func bytesFieldSize(n int) int { return 1 + varintSize(uint64(n)) + n }

func appendUintField(dst []byte, num byte, v uint32) []byte {
	return protowire.AppendVarint(append(dst, num<<3), uint64(v))
}

// appendBytesTag appends what comes before the n bytes of a byte string.
func appendBytesTag(dst []byte, num byte, n int) []byte {
	return protowire.AppendVarint(append(dst, num<<3|2), uint64(n))
}

func appendBytesField(dst []byte, num byte, b []byte) []byte {
	return append(appendBytesTag(dst, num, len(b)), b...)
}

// keyFieldSize is the size of a field with a tagged public key.
const keyFieldSize = 2 + PublicKeySize

func appendKeyField(dst []byte, num byte, k *PublicKey) []byte {
	return k.appendTagged(append(dst, num<<3|2, PublicKeySize))
}
