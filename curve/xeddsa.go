package curve

import (
	"crypto/sha512"
	"fmt"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/random"
)

// XEdDSA as Signal deploys it: unlike in the paper, the sign bit of the Edwards
// public key is not forced to zero but travels in the top bit of the signature.

// SignatureSize is the size of an XEdDSA or Ed25519 signature in bytes.
const SignatureSize = 64

// signingState is what signatures of one key have in common.
type signingState struct {
	a      Scalar   // the private key mod ℓ
	public [32]byte // the encoding of a·B, with its sign bit
}

// noncePrefix is the little-endian encoding of 2^256 - 2: the hash1 of the
// XEdDSA paper, apart from the hash of any encoded point.
var noncePrefix = [32]byte{
	0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
}

func (p *PrivateKey) signingState() *signingState {
	if s := p.signing.Load(); s != nil {
		return s
	}
	s := new(signingState)
	s.a.setClamped(&p.k)
	var A Point
	fixedBase(&A, &p.k)
	A.encode(&s.public)
	// Callers that race compute and store the same state.
	p.signing.Store(s)
	return s
}

// Sign draws 64 bytes and returns the XEdDSA signature of the concatenation of
// the parts of msg. It fails only if the draw does. The first signature of a
// key costs a second fixed-base multiplication. Constant time.
func (p *PrivateKey) Sign(msg ...[]byte) (sig [SignatureSize]byte, err error) {
	var z [64]byte
	if err := random.Read(z[:]); err != nil {
		return sig, fmt.Errorf("curve: sign: %w", err)
	}
	return p.SignWithRandom(&z, msg...), nil
}

// SignWithRandom is Sign with the given 64 bytes, which must be uniformly random
// and never used twice.
func (p *PrivateKey) SignWithRandom(z *[64]byte, msg ...[]byte) (sig [SignatureSize]byte) {
	st := p.signingState()
	var digest [sha512.Size]byte
	p.nonce(&digest, msg, z)
	st.finish(&sig, &digest, msg)
	sig[63] |= st.public[31] & 0x80
	return sig
}

// nonce sets digest to the hash that is the nonce of the signature of msg.
func (p *PrivateKey) nonce(digest *[sha512.Size]byte, msg [][]byte, z *[64]byte) {
	h := sha512.New()
	h.Write(noncePrefix[:])
	h.Write(p.k[:])
	for _, m := range msg {
		h.Write(m)
	}
	h.Write(z[:])
	h.Sum(digest[:0])
}

// finish sets sig to the signature (R, s) of msg whose nonce is digest mod ℓ.
// RFC 8032, Section 5.1.6, steps 3 to 6.
func (st *signingState) finish(sig *[SignatureSize]byte, digest *[sha512.Size]byte, msg [][]byte) {
	var r Scalar
	var R Point
	r.setUniform(digest)
	R.ScalarBaseMult(&r)
	R.encode((*[32]byte)(sig[:32]))
	st.answer(sig, &r, msg)
}

// answer sets s of sig, whose R is r·B.
func (st *signingState) answer(sig *[SignatureSize]byte, r *Scalar, msg [][]byte) {
	var digest [sha512.Size]byte
	var c Scalar
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(st.public[:])
	for _, m := range msg {
		h.Write(m)
	}
	h.Sum(digest[:0])
	c.setUniform(&digest)
	c.MultiplyAdd(&c, &st.a, r)
	c.bytesInto((*[32]byte)(sig[32:]))
}

// Verify reports whether sig is a valid XEdDSA signature of msg under the public
// key u, with the verdicts of the deployed verifiers: u is masked and reduced,
// s may be anything below 2^253 and is reduced, small-order keys are allowed,
// u = -1 is not. A signature of another length than SignatureSize is not valid.
// Variable time: the arguments are public.
func Verify(u *[32]byte, msg, sig []byte) bool {
	s, bit, ok := parseSignature(sig)
	if !ok {
		return false
	}
	var A Point
	if !A.setMontgomery(u, bit) {
		return false
	}
	var encoding [32]byte
	A.encodeAffine(&encoding)
	return verifyOnce(&A, &encoding, msg, sig, &s)
}

// VerifyStrict is Verify that also refuses a public key that is not below
// 2^255-19 or is of small order, and an s that is not below ℓ.
// Variable time: the arguments are public.
func VerifyStrict(u *[32]byte, msg, sig []byte) bool {
	if len(sig) != SignatureSize || !isCanonicalU(u) {
		return false
	}
	var s Scalar
	sBytes := [32]byte(sig[32:])
	sBytes[31] &= 0x7f
	if _, err := s.SetCanonicalBytes(sBytes[:]); err != nil {
		return false
	}
	var A Point
	if !A.setMontgomery(u, int(sig[63]>>7)) || A.IsSmallOrder() {
		return false
	}
	var encoding [32]byte
	A.encodeAffine(&encoding)
	return verifyOnce(&A, &encoding, msg, sig, &s)
}

// parseSignature returns s mod ℓ and the sign bit of the public key.
func parseSignature(sig []byte) (s Scalar, bit int, ok bool) {
	if len(sig) != SignatureSize || sig[63]&0x60 != 0 {
		return s, 0, false
	}
	var wide [64]byte
	copy(wide[:], sig[32:])
	wide[31] &= 0x7f
	s.setUniform(&wide)
	return s, int(sig[63] >> 7), true
}

// setMontgomery sets v to the point with the u-coordinate u (masked and reduced)
// whose x has the sign bit, and reports whether there is one: not for u = -1,
// nor on the twist. The sign of x = 0 is 0 whatever bit is. v has Z = 1.
// Variable time.
//
// With y = (u-1)/(u+1) the equation of the curve is x² = N/v, where
//
//	N = -4u, v = d(u-1)² + c², c = u+1,
//
// and so one exponentiation serves for the root and for the inverse of c: with
// w = N·v·c² and s = w^(-1/2), x = s·N·c and 1/c = s²·N·v·c.
func (v *Point) setMontgomery(u *[32]byte, bit int) bool {
	var uu, c, m, n, vv, w, s, x, y field.Element
	if _, err := uu.SetBytes(u[:]); err != nil {
		return false
	}
	c.Add(&uu, feOne)
	m.Subtract(&uu, feOne)
	n.Mult32(&uu, 4)
	n.Negate(&n)
	vv.Square(&m)
	vv.Multiply(&vv, feD)
	w.Square(&c)
	vv.Add(&vv, &w)
	w.Multiply(&w, &n)
	w.Multiply(&w, &vv)

	// w is zero for u = -1, which has no point, and for u = 0, which is (0, -1);
	// v is never zero, because -1/d is not a square.
	_, square := s.SqrtRatio(feOne, &w)
	if square == 0 {
		if uu.Equal(new(field.Element)) == 0 {
			return false
		}
		y.Negate(feOne)
		v.setAffine(&x, &y)
		return true
	}
	x.Multiply(&n, &c)
	y.Multiply(&x, &vv) // N·v·c
	x.Multiply(&x, &s)
	s.Square(&s)
	y.Multiply(&y, &s)
	y.Multiply(&y, &m)
	if x.IsNegative() != bit {
		x.Negate(&x)
	}
	v.setAffine(&x, &y)
	return true
}
