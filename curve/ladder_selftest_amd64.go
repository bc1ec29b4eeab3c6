//go:build !purego

package curve

import "github.com/sigcore/sigcore/field"

// selfTestLadder reports whether the kernel gives the results of its twin.
func selfTestLadder(kernel func(x, z *[4]uint64, k, u *[32]byte)) bool {
	k, u := [32]byte{0: 0xf8, 9: 0xaa, 31: 0x7f}, [32]byte{0: 0xec, 15: 0xff, 31: 0x7f}
	var x, z, wantX, wantZ [4]uint64
	kernel(&x, &z, &k, &u)
	ladderGeneric(&wantX, &wantZ, &k, &u)
	return new(field.Element).SetWords(&x).Words() == wantX && new(field.Element).SetWords(&z).Words() == wantZ
}
