package curve

import (
	"bytes"
	"crypto/sha512"
	"math/big"
	"slices"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// References that share no code with the package.

var (
	bigP = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	bigL = func() *big.Int {
		c, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
		return c.Add(c, new(big.Int).Lsh(big.NewInt(1), 252))
	}()
)

func bigOf(b []byte) *big.Int {
	be := slices.Clone(b)
	slices.Reverse(be)
	return new(big.Int).SetBytes(be)
}

func bytesOf(x *big.Int) (b [32]byte) {
	x.FillBytes(b[:])
	slices.Reverse(b[:])
	return b
}

// bigX25519 is the pseudo code of RFC 7748, Section 5, over math/big.
func bigX25519(scalar, point *[32]byte) [32]byte {
	mod := func(x *big.Int) *big.Int { return x.Mod(x, bigP) }
	add := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Add(a, b)) }
	sub := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Sub(a, b)) }
	mul := func(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }

	k := bigOf(scalar[:])
	k.SetBit(k, 0, 0).SetBit(k, 1, 0).SetBit(k, 2, 0).SetBit(k, 255, 0).SetBit(k, 254, 1)
	x1 := bigOf(point[:])
	mod(x1.SetBit(x1, 255, 0))
	x2, z2, x3, z3 := big.NewInt(1), big.NewInt(0), x1, big.NewInt(1)
	for t := 254; t >= 0; t-- {
		if k.Bit(t) == 1 {
			x2, z2, x3, z3 = x3, z3, x2, z2
		}
		a, b, c, d := add(x2, z2), sub(x2, z2), add(x3, z3), sub(x3, z3)
		aa, bb, da, cb := mul(a, a), mul(b, b), mul(d, a), mul(c, b)
		e, s, m := sub(aa, bb), add(da, cb), sub(da, cb)
		x3, z3 = mul(s, s), mul(x1, mul(m, m))
		x2, z2 = mul(aa, bb), mul(e, add(aa, mul(big.NewInt(121665), e)))
		if k.Bit(t) == 1 {
			x2, z2, x3, z3 = x3, z3, x2, z2
		}
	}
	return bytesOf(mul(x2, new(big.Int).Exp(z2, new(big.Int).Sub(bigP, big.NewInt(2)), bigP)))
}

// referenceSign is XEdDSA over filippo.io/edwards25519. k is clamped.
func referenceSign(k *[32]byte, z *[64]byte, msg []byte) []byte {
	a, _ := edwards25519.NewScalar().SetBytesWithClamping(k[:])
	A := new(edwards25519.Point).ScalarBaseMult(a).Bytes()
	prefix := append([]byte{0xfe}, bytes.Repeat([]byte{0xff}, 31)...)
	d := sha512.Sum512(slices.Concat(prefix, k[:], msg, z[:]))
	r, _ := edwards25519.NewScalar().SetUniformBytes(d[:])
	R := new(edwards25519.Point).ScalarBaseMult(r).Bytes()
	d = sha512.Sum512(slices.Concat(R, A, msg))
	c, _ := edwards25519.NewScalar().SetUniformBytes(d[:])
	s := edwards25519.NewScalar().MultiplyAdd(c, a, r).Bytes()
	s[31] |= A[31] & 0x80
	return slices.Concat(R, s)
}

// referencePoint returns the Edwards point of u with the sign bit, or nil.
func referencePoint(u *[32]byte, bit byte) *edwards25519.Point {
	x, _ := new(field.Element).SetBytes(u[:])
	one := new(field.Element).One()
	c := new(field.Element).Add(x, one)
	if c.Equal(new(field.Element)) == 1 {
		return nil
	}
	y := new(field.Element).Subtract(x, one)
	b := y.Multiply(y, c.Invert(c)).Bytes()
	b[31] |= bit << 7
	A, err := new(edwards25519.Point).SetBytes(b)
	if err != nil {
		return nil
	}
	return A
}

// referenceVerify is XEdDSA over filippo.io/edwards25519.
func referenceVerify(u *[32]byte, msg, sig []byte) bool {
	if len(sig) != 64 || sig[63]&0x60 != 0 {
		return false
	}
	A := referencePoint(u, sig[63]>>7)
	if A == nil {
		return false
	}
	sb := bytes.Clone(sig[32:])
	sb[31] &= 0x1f
	s, _ := edwards25519.NewScalar().SetUniformBytes(append(sb, make([]byte, 32)...))
	d := sha512.Sum512(slices.Concat(sig[:32], A.Bytes(), msg))
	c, _ := edwards25519.NewScalar().SetUniformBytes(d[:])
	R := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(c, A.Negate(A), s)
	return bytes.Equal(R.Bytes(), sig[:32])
}
