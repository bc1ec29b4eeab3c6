//go:build !purego

package curve

import (
	"encoding/binary"

	"github.com/sigcore/sigcore/field"
)

// ladderVectors are known answers of X25519: a scalar of which every byte is k,
// before clamping, the u-coordinate, and that of the product, all as words.
//
// Before anything looks random the ladder computes u + 1, u - 1, 4·u, 4·u² and
// u² + 486662·u + 1. The first three u carry, the next three borrow into each
// word there; with the next three the bit of weight 2^255 of 4·u comes back as 19
// and carries into each word; with the next two 4·u², and then the other number,
// have only zeros below the last word, which carries have left. The last three u
// are the base point and the ends of the range.
var ladderVectors = [...]struct {
	k    byte
	u, v [4]uint64
}{
	{0xff, [4]uint64{0xffffffffffffffff, 0, 0, 0}, [4]uint64{0xee29b3ede59bdcf4, 0xb6b87dc7d0dc4178, 0x918215d31f9c168, 0x533962fd8ab30b81}},
	{0x55, [4]uint64{0xffffffffffffffff, 0xffffffffffffffff, 0, 0}, [4]uint64{0xdbfec64c19fd215c, 0x9d9e7f11f6a5a4df, 0xcac0f63642043acc, 0x7bd88f0043117e92}},
	{0xaa, [4]uint64{0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0}, [4]uint64{0xd0c34c912442f75f, 0xfc5e03658f091b50, 0x8fe09752f408f138, 0x50f57a984eaaf669}},
	{0x33, [4]uint64{0, 1, 0, 0}, [4]uint64{0x131792797da6c05, 0xaed97ed523133d39, 0xcbf899796b25bf52, 0x3ec755401d7ebc8a}},
	{0x0f, [4]uint64{0, 0, 1, 0}, [4]uint64{0x95ebb6004351d89a, 0x8d60bafddc730420, 0xdcae36253c984934, 0x34c96ff5031ecaea}},
	{0xe1, [4]uint64{0, 0, 0, 1}, [4]uint64{0x1afeb70e33eb758, 0x186580eede6070e6, 0xdbeef665b2489529, 0x32260df44137dde7}},
	{0xff, [4]uint64{0x3fffffffffffffff, 0, 0, 0x2000000000000000}, [4]uint64{0xcbf045c3fbbecb38, 0xf3d23934273e24aa, 0xbd444780ca838337, 0x7735c44875d834c8}},
	{0x55, [4]uint64{0xffffffffffffffff, 0x3fffffffffffffff, 0, 0x2000000000000000}, [4]uint64{0x4df5c1fcf1688213, 0x961dcd67cef736be, 0xbff489db5e5b8f44, 0x750a533cce300dda}},
	{0xaa, [4]uint64{0xffffffffffffffff, 0xffffffffffffffff, 0x3fffffffffffffff, 0x2000000000000000}, [4]uint64{0x5e5554cd3569d157, 0x531e2de8e86a4141, 0x65bfa38390bbeae0, 0x5ffe3783e3aaaba1}},
	{0xcc, [4]uint64{0x54e615e04561ffc8, 0x135875350c9a2aaf, 0xdd565340ab1a1a55, 0x6a01136ab2f6789d}, [4]uint64{0x550053b65b47cd50, 0x9efee05d9e17ef52, 0x5e78edfada43ec4a, 0x38d92f9afbeae394}},
	{0x81, [4]uint64{0x9189db62c05d9bee, 0x9d5b19d479b79457, 0x89b13c2eeba95ac9, 0x430b850b8b7ba9e2}, [4]uint64{0x453b623c6661e28c, 0x9dd61201a0b67e58, 0x176f38f756b2d9dd, 0x36d44063edc688ba}},
	{0x33, [4]uint64{9, 0, 0, 0}, [4]uint64{0x31f82734d9470d7b, 0xd83f737c1c786011, 0x8a0d49ef0a97889f, 0x141b8acba419eea0}},
	{0x0f, [4]uint64{0xffffffffffffffeb, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff}, [4]uint64{0xc762e66ee8e678a9, 0x5a01cdbf01bc1c2, 0xc98181c7e148a290, 0x7119ac9c6f629ac9}},
	{0xe1, [4]uint64{0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff}, [4]uint64{0xd47dab82ac92906d, 0x536cc411091074a1, 0x9e29315c719f1d77, 0x70046361bcea679d}},
	// Found by search: with these every carry is taken that any input has been
	// seen to take.
	{0x0f, [4]uint64{0xfffffffffffffff1, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff}, [4]uint64{0x6b330be2de7b9c1e, 0x6556eaf6640cb082, 0xe477b398bb17f3c8, 0x10ef9d1912302e04}},
	{0xe1, [4]uint64{0xffffffff, 0x13, 0x8a8c1da1afce3006, 0x100000000}, [4]uint64{0x655569c8c5d3a530, 0x29f3bf049a9e52c3, 0xa367b3d238a7246e, 0x357647a4f3cada36}},
	{0x33, [4]uint64{0x2, 0, 0, 0x8000000000000000}, [4]uint64{0x666a8ef81817cb41, 0x6da6b98eeef79ff3, 0xcf928dd6dec41ca0, 0x60f4ec0586c65055}},
	{0x55, [4]uint64{0xffffffffffffffe5, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff}, [4]uint64{0x90e3d7ca0017ffe5, 0x9602af4b83c7d597, 0x7b1dc3f9d3194935, 0x1cff13315c466a0d}},
}

// selfTestLadder reports whether the kernel gives the known answers.
func selfTestLadder(kernel func(x, z *[4]uint64, k, u *[32]byte)) bool {
	for _, v := range &ladderVectors {
		var k, u [32]byte
		for i := range k {
			k[i] = v.k
		}
		clamp(&k)
		for i, w := range v.u {
			binary.LittleEndian.PutUint64(u[8*i:], w)
		}
		var xw, zw [4]uint64
		kernel(&xw, &zw, &k, &u)
		var x, z, want field.Element
		x.SetWords(&xw)
		z.SetWords(&zw)
		want.SetWords(&v.v)
		if z.Equal(new(field.Element)) == 1 || x.Equal(want.Multiply(&want, &z)) == 0 {
			return false
		}
	}
	return true
}
