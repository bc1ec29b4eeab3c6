package curve

import (
	"encoding/binary"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

const selfTestFailed = "curve: kernel self-test failed"

// genericFailed is true if the code without kernels gives wrong answers, as on a
// processor that multiplies wrongly. Operations that no kernel serves then panic.
// With GOAMD64=v3 field has no such code to test: its kernels, or nothing.
var genericFailed = !cpu.V3 && !selfTestGeneric(ladderGeneric, fixedBaseGeneric, oddMultiplesGeneric, varTimeDoubleBaseGeneric)

func init() {
	if genericFailed {
		impl.Refuse(selfTestFailed,
			"X25519", "X25519Batch", "PublicKey", "PublicKeys", "GenerateKeys", "PrivateKey.SignBatch", "ScalarBaseMult", "ScalarMult", "PrivateKey.Sign", "Ed25519PrivateKey.Sign",
			"VarTimeDoubleScalarBaseMult", "Verify", "VerificationKey.Verify", "VerifyBatch", "VerifyEd25519")
	}
}

// checkGeneric stands before code without kernels.
func checkGeneric() {
	if genericFailed {
		panic(selfTestFailed)
	}
}

// selfTestGeneric reports whether the functions give known answers: the ladder
// that of the first vector of RFC 7748, Section 5.2; the multiplication of the
// base point, and after it that of two points, those of an implementation in
// whole numbers.
func selfTestGeneric(
	ladder func(x, z *[4]uint64, k, u *[32]byte),
	fixedBase func(v *Point, table *[64][8]packedNiels, digits *radix16),
	oddMultiples func(table *[8][16]uint64, p *[4][4]uint64),
	doubleBase func(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64),
) bool {
	k := bytesOf4(0x9d7c52f06be346a5, 0xdd5e46824b15163b, 0x185afcc10a4c1462, 0xc49a44ba44226a50)
	u := bytesOf4(0xdb3030586768dbe6, 0x7c5fb124a4c19435, 0x3b35b326ec246672, 0x4c1cabd0a603a910)
	clamp(&k)
	var xw, zw [4]uint64
	ladder(&xw, &zw, &k, &u)
	var x, z field.Element
	x.SetWords(&xw)
	z.SetWords(&zw)
	x.Multiply(&x, z.Invert(&z))
	if x.Words() != [4]uint64{0x90c6e99d3755dac3, 0x4f088df24dea948e, 0xf7711c4903cfec32, 0x5285a2775507b454} {
		return false
	}

	n := bytesOf4(0x8796a5b4c3d2e1f0, 0x0123456789abcdef, 0xfedcba9876543210, 0x0f1e2d3c4b5a6978)
	digits := signedRadix16(&n)
	var v Point
	fixedBase(&v, &fixedBaseTable, &digits)
	var encoded [32]byte
	if v.encode(&encoded); encoded != bytesOf4(0x7c402f8cbd137ab4, 0x2ee5559fe4356a4f, 0xf68df54d97eac811, 0xac290c469ea3edb6) {
		return false
	}

	// n·B times one half of the bytes of n, and B times the other.
	var p packedPoint
	v.pack(&p)
	var a, b Scalar
	for i := range a.s {
		w := binary.LittleEndian.Uint64(n[8*i:])
		a.s[i], b.s[i] = w&0xff00ff00ff00ff00, w&0x00ff00ff00ff00ff
	}
	var t [8][16]uint64
	oddMultiples(&t, &p)
	var s steps
	s.set(doubleBaseShape, &a, &b)
	doubleBase(&p, &s.list, s.n, &t, &oddBaseTable)
	v.setWords(&p)
	v.encode(&encoded)
	return encoded == bytesOf4(0xc41800e3a06d8d39, 0x8fa5c011f26fd685, 0x960d49ede206b6b7, 0xd97d4c697cc64195)
}

// bytesOf4 returns four words as bytes, little endian.
func bytesOf4(w0, w1, w2, w3 uint64) (b [32]byte) {
	for i, w := range [...]uint64{w0, w1, w2, w3} {
		binary.LittleEndian.PutUint64(b[8*i:], w)
	}
	return b
}
