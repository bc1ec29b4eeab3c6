//go:build !purego

package curve

import (
	"encoding/binary"

	"github.com/sigcore/sigcore/field"
)

// ladderVectors are known answers of X25519: a scalar of which every byte is k,
// before clamping, the u-coordinate, and that of the product, all as words. They
// are as few as it takes for every carry of the kernel that any input has been
// seen to take; some are taken in the first step alone, for coordinates with
// words of zeros or of ones.
var ladderVectors = [...]struct {
	k    byte
	u, v [4]uint64
}{
	{0x0f, [4]uint64{0, 0, 1, 0}, [4]uint64{0x95ebb6004351d89a, 0x8d60bafddc730420, 0xdcae36253c984934, 0x34c96ff5031ecaea}},
	{0xe1, [4]uint64{0, 0, 0, 1}, [4]uint64{0x1afeb70e33eb758, 0x186580eede6070e6, 0xdbeef665b2489529, 0x32260df44137dde7}},
	{0xcc, [4]uint64{0x54e615e04561ffc8, 0x135875350c9a2aaf, 0xdd565340ab1a1a55, 0x6a01136ab2f6789d}, [4]uint64{0x550053b65b47cd50, 0x9efee05d9e17ef52, 0x5e78edfada43ec4a, 0x38d92f9afbeae394}},
	{0x81, [4]uint64{0x9189db62c05d9bee, 0x9d5b19d479b79457, 0x89b13c2eeba95ac9, 0x430b850b8b7ba9e2}, [4]uint64{0x453b623c6661e28c, 0x9dd61201a0b67e58, 0x176f38f756b2d9dd, 0x36d44063edc688ba}},
	{0x0f, [4]uint64{0xffffffffffffffeb, 0xffffffffffffffff, 0xffffffffffffffff, 0x7fffffffffffffff}, [4]uint64{0xc762e66ee8e678a9, 0x5a01cdbf01bc1c2, 0xc98181c7e148a290, 0x7119ac9c6f629ac9}},
	{0xe1, [4]uint64{0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff, 0xffffffffffffffff}, [4]uint64{0xd47dab82ac92906d, 0x536cc411091074a1, 0x9e29315c719f1d77, 0x70046361bcea679d}},
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
