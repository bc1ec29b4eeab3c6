package curve

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A Scalar is an integer modulo
//
//	ℓ = 2^252 + 27742317777372353535851937790883648493,
//
// the prime order of the edwards25519 group's large subgroup. The zero value is
// zero. Receivers and arguments may alias. All operations are constant time.
type Scalar struct {
	s [4]uint64 // little endian, < ℓ between operations
}

var (
	scalarOrder = [4]uint64{0x5812631a5cf5d3ed, 0x14def9dea2f79cd6, 0, 0x1000000000000000}
	// scalarMu is floor(2^512 / ℓ).
	scalarMu = [5]uint64{0xed9ce5a30a2c131b, 0x2106215d086329a7, 0xffffffffffffffeb, 0xffffffffffffffff, 0xf}
)

// Set sets s = x, and returns s.
func (s *Scalar) Set(x *Scalar) *Scalar {
	*s = *x
	return s
}

// SetUniformBytes sets s to the 64-byte little-endian integer x modulo ℓ, and
// returns s. If x has another length it returns nil and an error, and s is
// unchanged.
func (s *Scalar) SetUniformBytes(x []byte) (*Scalar, error) {
	if len(x) != 64 {
		return nil, fmt.Errorf("curve: uniform scalar of %d bytes: %w", len(x), ErrKeyLength)
	}
	s.setUniform((*[64]byte)(x))
	return s, nil
}

func (s *Scalar) setUniform(x *[64]byte) {
	var w [8]uint64
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(x[8*i:])
	}
	s.reduce(&w)
}

// SetCanonicalBytes sets s to the 32-byte little-endian integer x, and returns
// s. If x has another length or is not below ℓ it returns nil and an error, and
// s is unchanged.
func (s *Scalar) SetCanonicalBytes(x []byte) (*Scalar, error) {
	if len(x) != 32 {
		return nil, fmt.Errorf("curve: scalar of %d bytes: %w", len(x), ErrKeyLength)
	}
	var w [4]uint64
	var borrow uint64
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(x[8*i:])
		_, borrow = bits.Sub64(w[i], scalarOrder[i], borrow)
	}
	if borrow == 0 {
		return nil, fmt.Errorf("curve: scalar: %w", ErrNonCanonical)
	}
	s.s = w
	return s, nil
}

// SetBytesWithClamping clamps a copy of the 32 bytes x as RFC 7748, Section 5
// prescribes, sets s to the result modulo ℓ, and returns s. If x has another
// length it returns nil and an error, and s is unchanged.
func (s *Scalar) SetBytesWithClamping(x []byte) (*Scalar, error) {
	if len(x) != 32 {
		return nil, fmt.Errorf("curve: scalar of %d bytes: %w", len(x), ErrKeyLength)
	}
	k := [32]byte(x)
	clamp(&k)
	s.setClamped(&k)
	return s, nil
}

// setClamped sets s = k mod ℓ for a k that is clamped.
func (s *Scalar) setClamped(k *[32]byte) {
	var w [8]uint64
	for i := range 4 {
		w[i] = binary.LittleEndian.Uint64(k[8*i:])
	}
	s.reduce(&w)
}

// Bytes returns the 32-byte little-endian encoding of s.
func (s *Scalar) Bytes() []byte {
	// Outlined so that the array is allocated in the caller.
	var b [32]byte
	s.bytesInto(&b)
	return b[:]
}

func (s *Scalar) bytesInto(b *[32]byte) {
	for i, w := range s.s {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
}

// MultiplyAdd sets s = x * y + z mod ℓ, and returns s.
func (s *Scalar) MultiplyAdd(x, y, z *Scalar) *Scalar {
	var w [8]uint64
	mulWords(w[:], x.s[:], y.s[:])
	var carry uint64
	for i := range w {
		var a uint64
		if i < 4 {
			a = z.s[i]
		}
		w[i], carry = bits.Add64(w[i], a, carry)
	}
	s.reduce(&w)
	return s
}

// Equal returns 1 if s and x are equal, and 0 otherwise.
func (s *Scalar) Equal(x *Scalar) int {
	var d uint64
	for i := range s.s {
		d |= s.s[i] ^ x.s[i]
	}
	return int(1 ^ (d|-d)>>63)
}

// mulWords sets the len(a)+len(b) words of out to the product of a and b.
func mulWords(out, a, b []uint64) {
	clear(out)
	for i, x := range a {
		var c uint64
		for j, y := range b {
			hi, lo := bits.Mul64(x, y)
			var k uint64
			lo, k = bits.Add64(lo, out[i+j], 0)
			hi += k
			lo, k = bits.Add64(lo, c, 0)
			c = hi + k
			out[i+j] = lo
		}
		out[i+len(b)] = c
	}
}

// reduce sets s = x mod ℓ by Barrett's method, with words as digits (Handbook
// of Applied Cryptography, Algorithm 14.42): the estimate of the quotient is at
// most two too small.
func (s *Scalar) reduce(x *[8]uint64) {
	var q [10]uint64
	mulWords(q[:], x[3:], scalarMu[:])
	var qm [9]uint64
	mulWords(qm[:], q[5:], scalarOrder[:])
	var r [5]uint64
	var borrow uint64
	for i := range r {
		r[i], borrow = bits.Sub64(x[i], qm[i], borrow)
	}
	for range 2 {
		var t [5]uint64
		borrow = 0
		for i := range t {
			var l uint64
			if i < 4 {
				l = scalarOrder[i]
			}
			t[i], borrow = bits.Sub64(r[i], l, borrow)
		}
		keep := -borrow
		for i := range t {
			r[i] = r[i]&keep | t[i]&^keep
		}
	}
	copy(s.s[:], r[:4])
}

// nonAdjacentForm returns digits n with s = Σ n[i]·2^i, each zero or odd and
// below 2^(w-1) in absolute value, w ≤ 8, no two of w neighbours non-zero.
// Variable time.
func (s *Scalar) nonAdjacentForm(w uint) (naf [256]int8) {
	// One word of zeros above lets every window be read as 64 bits.
	var x [5]uint64
	copy(x[:], s.s[:])
	width := uint64(1) << w
	var carry uint64
	for pos := uint(0); pos < 256; {
		i, off := pos/64, pos%64
		window := x[i]>>off | x[i+1]<<1<<(63-off)
		window = carry + window&(width-1)
		if window&1 == 0 {
			pos++
			continue
		}
		if window < width/2 {
			carry = 0
			naf[pos] = int8(window)
		} else {
			carry = 1
			naf[pos] = int8(window - width)
		}
		pos += w
	}
	return naf
}
