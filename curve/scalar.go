package curve

import (
	"encoding/binary"
	"fmt"
)

// A Scalar is an integer modulo
//
//	ℓ = 2^252 + 27742317777372353535851937790883648493,
//
// the prime order of the edwards25519 group's large subgroup. The zero value is
// zero. The receiver is the result and is returned; receivers and arguments may
// alias. All operations are constant time.
type Scalar struct {
	s [4]uint64 // little endian, < ℓ between operations
}

// ScalarSize is the size of an encoded Scalar in bytes.
const ScalarSize = 32

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
	scalarReduceWide(&s.s, &w)
}

// SetCanonicalBytes sets s to the 32-byte little-endian integer x, and returns
// s. If x has another length or is not below ℓ it returns nil and an error, and
// s is unchanged.
func (s *Scalar) SetCanonicalBytes(x []byte) (*Scalar, error) {
	if len(x) != 32 {
		return nil, fmt.Errorf("curve: scalar of %d bytes: %w", len(x), ErrKeyLength)
	}
	var w [4]uint64
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(x[8*i:])
	}
	if !scalarIsReduced(&w) {
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
	scalarReduceWide(&s.s, &w)
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

// Add sets s = x + y mod ℓ, and returns s.
func (s *Scalar) Add(x, y *Scalar) *Scalar {
	scalarAdd(&s.s, &x.s, &y.s)
	return s
}

// Subtract sets s = x - y mod ℓ, and returns s.
func (s *Scalar) Subtract(x, y *Scalar) *Scalar {
	scalarSubtract(&s.s, &x.s, &y.s)
	return s
}

// Negate sets s = -x mod ℓ, and returns s.
func (s *Scalar) Negate(x *Scalar) *Scalar {
	scalarSubtract(&s.s, &[4]uint64{}, &x.s)
	return s
}

// Multiply sets s = x * y mod ℓ, and returns s.
func (s *Scalar) Multiply(x, y *Scalar) *Scalar {
	scalarMulAdd(&s.s, &x.s, &y.s, &[4]uint64{})
	return s
}

// MultiplyAdd sets s = x * y + z mod ℓ, and returns s.
func (s *Scalar) MultiplyAdd(x, y, z *Scalar) *Scalar {
	scalarMulAdd(&s.s, &x.s, &y.s, &z.s)
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
