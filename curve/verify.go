package curve

import (
	"crypto/sha512"

	"github.com/sigcore/sigcore/field"
)

// The equation of verification, without cofactor: s·B - c·A encodes to R, where
// c is the hash of R, of the encoding of A and of the message. An R that is not
// canonical never holds. Variable time: everything is public.

// challenge returns c for the 32 bytes R.
func challenge(R []byte, encoding *[32]byte, msg []byte) (c Scalar) {
	var digest [sha512.Size]byte
	var whole [64 + 192]byte
	if len(msg) <= len(whole)-64 {
		// Sum512 costs half as much as a hash.Hash for messages of this size.
		n := copy(whole[:], R)
		n += copy(whole[n:], encoding[:])
		n += copy(whole[n:], msg)
		digest = sha512.Sum512(whole[:n])
	} else {
		h := sha512.New()
		h.Write(R)
		h.Write(encoding[:])
		h.Write(msg)
		h.Sum(digest[:0])
	}
	c.setUniform(&digest)
	return c
}

// encodesTo reports whether the encoding of p is the 32 bytes R.
func encodesTo(p *packedPoint, R []byte) bool {
	var x, y, z field.Element
	var b [32]byte
	encodePoint(&b, x.SetWords(&p[0]), y.SetWords(&p[1]), z.SetWords(&p[2]))
	return b == [32]byte(R)
}

// negated sets out to -A.
func negated(out *packedPoint, A *Point) {
	var n Point
	n.Negate(A)
	n.pack(out)
}

// verifyOnce reports whether the R of sig and s sign msg under A, whose encoding
// is given.
func verifyOnce(A *Point, encoding *[32]byte, msg, sig []byte, s *Scalar) bool {
	var p packedPoint
	negated(&p, A)
	c := challenge(sig[:32], encoding, msg)
	varTimeDoubleBaseMult(&p, &c, &p, s)
	return encodesTo(&p, sig[:32])
}
