package field

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ElementSize is the size of an encoded Element in bytes.
const ElementSize = 32

var (
	// ErrLength says that an encoding has not the size that was asked for.
	ErrLength = errors.New("field: invalid encoding length")
	// ErrNonCanonical says that an encoding is of a number not below 2^255-19.
	ErrNonCanonical = errors.New("field: non-canonical encoding")
)

// SetBytes sets v to the 32 bytes x, little endian, and returns v. If x has
// another length, it returns nil and an error that wraps ErrLength, and v is
// unchanged.
//
// As in RFC 7748, Section 5, the most significant bit is ignored and the
// numbers from 2^255-19 to 2^255-1 are accepted and reduced.
func (v *Element) SetBytes(x []byte) (*Element, error) {
	if len(x) != ElementSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrLength, len(x))
	}
	w := loadWords(x)
	w[3] &= 1<<63 - 1
	return v.SetWords(&w), nil
}

// SetCanonicalBytes is SetBytes for encodings of numbers below 2^255-19 only,
// the top bit included. For others it returns nil and ErrNonCanonical, and v
// is unchanged.
func (v *Element) SetCanonicalBytes(x []byte) (*Element, error) {
	if len(x) != ElementSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrLength, len(x))
	}
	w := loadWords(x)
	var e Element
	c := e.SetWords(&w).Words()
	if equalWords(&w, &c) == 0 {
		return nil, ErrNonCanonical
	}
	return v.Set(&e), nil
}

// SetWideBytes sets v to the 64 bytes x, little endian, reduced, and returns
// v. If x has another length, it returns nil and an error that wraps
// ErrLength, and v is unchanged.
func (v *Element) SetWideBytes(x []byte) (*Element, error) {
	if len(x) != 2*ElementSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrLength, len(x))
	}
	lw, hw := loadWords(x[:ElementSize]), loadWords(x[ElementSize:])
	var lo, hi Element
	lo.SetWords(&lw)
	hi.SetWords(&hw)
	// 2^256 = 38. Each limb is below 39·2^52 < 2^58, each carry below 2^7.
	for i := range v.l {
		v.l[i] = lo.l[i] + 38*hi.l[i]
	}
	feCarry(&v.l)
	return v, nil
}

// Bytes returns the canonical 32-byte little-endian encoding of v.
func (v *Element) Bytes() []byte {
	// A small outer function is inlined, and keeps the array on the stack of
	// the caller where that is possible.
	var out [ElementSize]byte
	v.BytesInto(&out)
	return out[:]
}

// BytesInto sets out to the canonical 32-byte little-endian encoding of v.
func (v *Element) BytesInto(out *[ElementSize]byte) {
	w := v.Words()
	binary.LittleEndian.PutUint64(out[0:], w[0])
	binary.LittleEndian.PutUint64(out[8:], w[1])
	binary.LittleEndian.PutUint64(out[16:], w[2])
	binary.LittleEndian.PutUint64(out[24:], w[3])
}

// SetWords sets v to w[0] + w[1]·2^64 + w[2]·2^128 + w[3]·2^192, which may be
// any number below 2^256, and returns v. It takes over the results of code
// that computes with four words of 64 bits.
func (v *Element) SetWords(w *[4]uint64) *Element {
	v.l[0] = w[0] & maskLow51Bits
	v.l[1] = (w[0]>>51 | w[1]<<13) & maskLow51Bits
	v.l[2] = (w[1]>>38 | w[2]<<26) & maskLow51Bits
	v.l[3] = (w[2]>>25 | w[3]<<39) & maskLow51Bits
	v.l[4] = w[3] >> 12 // 52 bits: the bit of weight 2^255 stays here
	return v
}

// Words returns the canonical value of v, below 2^255-19, as four words of 64
// bits, least significant first.
func (v *Element) Words() [4]uint64 {
	l := v.l
	// The limbs are then at most 2^51, l[0] at most 2^51 + 18, and the value is
	// below 2p, so that it has to be reduced by p at most once.
	feCarry(&l)

	// q is 1 if the value is at least p, else 0: the carry of value + 19 out of
	// 255 bits.
	q := (l[0] + 19) >> 51
	q = (l[1] + q) >> 51
	q = (l[2] + q) >> 51
	q = (l[3] + q) >> 51
	q = (l[4] + q) >> 51

	// value - q·p = value + 19·q - q·2^255, the last by dropping the carry.
	l[0] += 19 * q
	l[1] += l[0] >> 51
	l[2] += l[1] >> 51
	l[3] += l[2] >> 51
	l[4] += l[3] >> 51
	l[0] &= maskLow51Bits
	l[1] &= maskLow51Bits
	l[2] &= maskLow51Bits
	l[3] &= maskLow51Bits
	l[4] &= maskLow51Bits

	return [4]uint64{
		l[0] | l[1]<<51,
		l[1]>>13 | l[2]<<38,
		l[2]>>26 | l[3]<<25,
		l[3]>>39 | l[4]<<12,
	}
}

func loadWords(x []byte) [4]uint64 {
	_ = x[31]
	return [4]uint64{
		binary.LittleEndian.Uint64(x[0:]),
		binary.LittleEndian.Uint64(x[8:]),
		binary.LittleEndian.Uint64(x[16:]),
		binary.LittleEndian.Uint64(x[24:]),
	}
}
