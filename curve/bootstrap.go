package curve

// This file is the exported interface that the messaging layers call, over
// library code until the package's own arithmetic stands behind it.

import (
	"crypto/sha512"
	"crypto/subtle"
	"errors"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
	"golang.org/x/crypto/curve25519"

	"github.com/sigcore/sigcore/internal/random"
)

const (
	PrivateKeySize = 32 // in bytes
	PublicKeySize  = 32 // in bytes, the Montgomery u-coordinate
	SignatureSize  = 64 // in bytes
)

var (
	ErrLowOrder  = errors.New("curve: low order point")
	ErrKeyLength = errors.New("curve: invalid key length")
)

// X25519 sets dst to the shared secret; low order points give zeros.
func X25519(dst, scalar, point *[32]byte) {
	curve25519.ScalarMult(dst, scalar, point)
}

// X25519Strict is X25519 that refuses an all-zero result with ErrLowOrder.
func X25519Strict(dst, scalar, point *[32]byte) error {
	X25519(dst, scalar, point)
	var z [32]byte
	if subtle.ConstantTimeCompare(dst[:], z[:]) == 1 {
		return ErrLowOrder
	}
	return nil
}

// PublicKey sets dst to the public key of the (clamped) scalar.
func PublicKey(dst, scalar *[32]byte) { curve25519.ScalarBaseMult(dst, scalar) }

// PrivateKey is a clamped Curve25519 private key with its XEdDSA state, which
// is prepared at the first signature. It is safe for concurrent use.
type PrivateKey struct {
	k   [32]byte
	pub [32]byte
}

// NewPrivateKey returns the key of the 32 bytes b, clamped.
func NewPrivateKey(b []byte) (*PrivateKey, error) {
	if len(b) != 32 {
		return nil, ErrKeyLength
	}
	p := &PrivateKey{k: [32]byte(b)}
	p.k[0] &= 248
	p.k[31] = p.k[31]&127 | 64
	PublicKey(&p.pub, &p.k)
	return p, nil
}

// GenerateKey draws 32 bytes.
func GenerateKey() (*PrivateKey, error) {
	var b [32]byte
	if err := random.Read(b[:]); err != nil {
		return nil, err
	}
	return NewPrivateKey(b[:])
}

// Bytes returns the clamped private key.
func (p *PrivateKey) Bytes() []byte { b := p.k; return b[:] }

// PublicKey returns the Montgomery u-coordinate of the public key.
func (p *PrivateKey) PublicKey() [32]byte { return p.pub }

// Agree sets dst to the X25519 shared secret with peer; never fails.
func (p *PrivateKey) Agree(dst, peer *[32]byte) { X25519(dst, &p.k, peer) }

// Sign draws 64 bytes and returns the XEdDSA signature of the concatenation of
// the parts of msg.
func (p *PrivateKey) Sign(msg ...[]byte) (sig [64]byte, err error) {
	var z [64]byte
	if err := random.Read(z[:]); err != nil {
		return sig, err
	}
	return p.SignWithRandom(&z, msg...), nil
}

// SignWithRandom is Sign with the given 64 bytes, which must never be used twice.
func (p *PrivateKey) SignWithRandom(z *[64]byte, msg ...[]byte) (sig [64]byte) {
	a, _ := edwards25519.NewScalar().SetBytesWithClamping(p.k[:])
	A := new(edwards25519.Point).ScalarBaseMult(a).Bytes()
	h := sha512.New()
	pre := [32]byte{0xfe}
	for i := 1; i < 32; i++ {
		pre[i] = 0xff
	}
	h.Write(pre[:])
	h.Write(p.k[:])
	for _, m := range msg {
		h.Write(m)
	}
	h.Write(z[:])
	r, _ := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	R := new(edwards25519.Point).ScalarBaseMult(r).Bytes()
	h.Reset()
	h.Write(R)
	h.Write(A)
	for _, m := range msg {
		h.Write(m)
	}
	c, _ := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	s := edwards25519.NewScalar().MultiplyAdd(c, a, r)
	copy(sig[:], R)
	copy(sig[32:], s.Bytes())
	sig[63] |= A[31] & 0x80
	return sig
}

// Verify reports whether sig is a valid XEdDSA signature of msg under the
// public key u, as lenient as deployed peers are.
func Verify(u *[32]byte, msg, sig []byte) bool {
	if len(sig) != 64 {
		return false
	}
	uu, _ := new(field.Element).SetBytes(u[:])
	one := new(field.Element).One()
	d := new(field.Element).Add(uu, one)
	if d.Equal(new(field.Element).Zero()) == 1 {
		return false
	}
	y := new(field.Element).Subtract(uu, one)
	y.Multiply(y, d.Invert(d))
	yb := y.Bytes()
	yb[31] |= sig[63] & 0x80
	A, err := new(edwards25519.Point).SetBytes(yb)
	if err != nil {
		return false
	}
	var sw [64]byte
	copy(sw[:], sig[32:])
	sw[31] &= 0x7f
	if sw[31]&0xe0 != 0 {
		return false
	}
	s, _ := edwards25519.NewScalar().SetUniformBytes(sw[:])
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(A.Bytes())
	h.Write(msg)
	c, _ := edwards25519.NewScalar().SetUniformBytes(h.Sum(nil))
	A.Negate(A)
	R := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(c, A, s)
	return subtle.ConstantTimeCompare(R.Bytes(), sig[:32]) == 1
}

// VerificationKey is a public key prepared for many verifications. It is safe
// for concurrent use and must not be copied.
type VerificationKey struct{ u [32]byte }

// NewVerificationKey returns the prepared form of u, filled at first use.
func NewVerificationKey(u *[32]byte) *VerificationKey { return &VerificationKey{*u} }

// Verify is Verify with the prepared key.
func (v *VerificationKey) Verify(msg, sig []byte) bool { return Verify(&v.u, msg, sig) }

// IsFor reports whether v was made from u.
func (v *VerificationKey) IsFor(u *[32]byte) bool { return v.u == *u }
