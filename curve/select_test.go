package curve

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/testvec"
)

// selectBig is the definition of the selection, over math/big.
func selectBig(row *[8][12]uint64, digit int64) (c [3]*big.Int) {
	half := new(big.Int).ModInverse(big.NewInt(2), bigP)
	c = [3]*big.Int{half, half, big.NewInt(0)}
	n := max(digit, -digit)
	for i := range c {
		if n > 0 {
			c[i] = new(big.Int)
			for j := 3; j >= 0; j-- {
				c[i].Lsh(c[i], 64).Or(c[i], new(big.Int).SetUint64(row[n-1][4*i+j]))
			}
		}
	}
	if digit < 0 {
		c[0], c[1] = c[1], c[0]
		c[2].Neg(c[2])
	}
	for i := range c {
		c[i].Mod(c[i], bigP)
	}
	return c
}

func TestSelect(t *testing.T) {
	check := func(row *[8][12]uint64, digit int64) {
		t.Helper()
		var got [3]field.Element
		for i := range got {
			*got[i].Limbs() = [5]uint64{1: ^uint64(0), 4: 1} // to be overwritten
		}
		selectNiels(got[0].Limbs(), got[1].Limbs(), got[2].Limbs(), row, digit)
		for i, want := range selectBig(row, digit) {
			for _, l := range got[i].Limbs() {
				if l >= 1<<52 {
					t.Fatalf("digit %d, coordinate %d: limb %#x", digit, i, l)
				}
			}
			if b := bytesOf(want); b != [32]byte(got[i].Bytes()) {
				t.Fatalf("digit %d, coordinate %d: %x, want %x", digit, i, got[i].Bytes(), b)
			}
		}
	}
	for i := range fixedBaseTable {
		for digit := int64(-8); digit <= 8; digit++ {
			check(&fixedBaseTable[i], digit)
		}
	}
	// Coordinates at the limits of words and limbs, which are not points.
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var row [8][12]uint64
		for j := range row {
			for c := 0; c < 12; c += 4 {
				b := testvec.WeirdBytes32(r)
				words := new(big.Int).Mod(bigOf(b[:]), bigP)
				for k := range 4 {
					row[j][c+k] = new(big.Int).Rsh(words, uint(64*k)).Uint64()
				}
			}
		}
		for digit := int64(-8); digit <= 8; digit++ {
			check(&row, digit)
		}
	}
}
