package curve

import (
	"encoding/binary"
	"math/bits"
)

// ScalarBaseMult sets v = x * B for the base point B, and returns v. Constant
// time.
func (v *Point) ScalarBaseMult(x *Scalar) *Point {
	var k [32]byte
	x.bytesInto(&k)
	fixedBase(v, &k)
	return v
}

// fixedBase sets v = k * B for the integer k < 2^255, which need not be reduced
// modulo ℓ. It adds one multiple of each 16^i * B, chosen in constant time, and
// doubles nothing.
func fixedBase(v *Point, k *[32]byte) {
	digits := signedRadix16(k)
	multiplyBase(v, &digits)
}

// radix16 is k < 2^255 as 64 digits in radix 16, the last in 0..8 and the others
// in -8..7. With 8 added to every digit but the last they are the hexadecimal
// digits of k + 0x0888…8, and so they are stored.
type radix16 [4]uint64

func signedRadix16(k *[32]byte) (d radix16) {
	const eights = 0x8888888888888888
	var c uint64
	d[0], c = bits.Add64(binary.LittleEndian.Uint64(k[0:]), eights, 0)
	d[1], c = bits.Add64(binary.LittleEndian.Uint64(k[8:]), eights, c)
	d[2], c = bits.Add64(binary.LittleEndian.Uint64(k[16:]), eights, c)
	d[3], _ = bits.Add64(binary.LittleEndian.Uint64(k[24:]), eights>>4, c)
	return d
}

// at returns digit i.
func (d *radix16) at(i int) int64 {
	n := int64(d[i/16] >> (4 * (i % 16)) & 15)
	if i < 63 {
		n -= 8
	}
	return n
}
