package curve

import (
	"fmt"

	"github.com/sigcore/sigcore/field"
)

const (
	// PrivateKeySize is the size of a private key in bytes.
	PrivateKeySize = 32
	// PublicKeySize is the size of a public key, a Montgomery u-coordinate, in
	// bytes.
	PublicKeySize = 32
)

// X25519 sets dst to the shared secret of scalar, which it clamps, and the
// u-coordinate point (RFC 7748, Section 5): the top bit of point is ignored,
// values of 2^255-19 and above are reduced, and points of low order give zeros.
// The arguments may overlap. Constant time.
func X25519(dst, scalar, point *[32]byte) {
	k := *scalar
	clamp(&k)
	montgomeryMult(dst, &k, point)
}

// montgomeryMult sets dst to the u-coordinate of k times the point with
// u-coordinate u, which is zero for the point at infinity. k is clamped; the top
// bit of u is ignored. The arguments may overlap. Constant time.
func montgomeryMult(dst, k, u *[32]byte) {
	var xw, zw [4]uint64
	ladder(&xw, &zw, k, u)
	var x, z field.Element
	x.SetWords(&xw)
	z.SetWords(&zw)
	x.Multiply(&x, z.Invert(&z))
	x.BytesInto(dst)
}

// X25519Strict is X25519 that accepts no input that X25519 changes before use
// (ErrNonCanonical), and no result of zero (ErrLowOrder); on error dst is
// unchanged. Constant time but for the error.
func X25519Strict(dst, scalar, point *[32]byte) error {
	k := *scalar
	clamp(&k)
	if k != *scalar {
		return fmt.Errorf("curve: private key not clamped: %w", ErrNonCanonical)
	}
	if !isCanonicalU(point) {
		return fmt.Errorf("curve: public key: %w", ErrNonCanonical)
	}
	var out [32]byte
	montgomeryMult(&out, &k, point)
	var or byte
	for _, b := range out {
		or |= b
	}
	if or == 0 {
		return ErrLowOrder
	}
	*dst = out
	return nil
}

// PublicKey sets dst to the public key of scalar, which it clamps. Constant time.
func PublicKey(dst, scalar *[32]byte) {
	k := *scalar
	clamp(&k)
	// k is not a multiple of ℓ, since 8ℓ > 2^255, and so the point is not the
	// identity, which has no u-coordinate.
	var p Point
	fixedBase(&p, &k)
	p.montgomery(dst)
}

// clamp makes k a multiple of the cofactor in [2^254, 2^255).
// RFC 7748, Section 5: decodeScalar25519.
func clamp(k *[32]byte) {
	k[0] &= 248
	k[31] = k[31]&127 | 64
}

// isCanonicalU reports whether u is below 2^255-19. Variable time.
func isCanonicalU(u *[32]byte) bool {
	_, err := new(field.Element).SetCanonicalBytes(u[:])
	return err == nil
}
