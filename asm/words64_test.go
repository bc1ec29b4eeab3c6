package asm

import (
	"math/big"
	"math/rand/v2"
	"slices"
)

// Numbers in four full words, as tests take them.

var (
	one        = big.NewInt(1)
	prime      = new(big.Int).Sub(power(255), big.NewInt(19))
	reducedMax = new(big.Int).Add(power(255), power(199)) // of what multiplications leave
	anyMax     = power(256)
)

func power(n uint) *big.Int { return new(big.Int).Lsh(one, n) }

func wordsOf(n *big.Int) []uint64 {
	w := make([]uint64, 4)
	for i := range w {
		w[i] = new(big.Int).Rsh(n, uint(64*i)).Uint64()
	}
	return w
}

// edges64 returns numbers at the limits of words, of the field, and of the bound
// that is stated.
func edges64(below *big.Int) (all [][]uint64) {
	for i := range 16 {
		all = append(all, pattern(i, 4, 64))
		w := pattern(i, 4, 64) // a word is one less than full, or one
		w[i%4] ^= uint64(1) << (63 * (i >> 1 & 1))
		all = append(all, w)
	}
	for _, limit := range []*big.Int{new(big.Int), prime, new(big.Int).Lsh(prime, 1), power(255), below} {
		for _, d := range []int64{-77, -40, -39, -38, -37, -36, -20, -19, -18, -17, -3, -2, -1, 0, 1, 2, 17, 18, 19, 20, 36, 37, 38, 39, 40, 77} {
			n := new(big.Int).Add(limit, big.NewInt(d))
			if n.Sign() >= 0 && n.BitLen() <= 256 {
				all = append(all, wordsOf(n))
			}
		}
	}
	return slices.DeleteFunc(all, func(w []uint64) bool { return number(w, 64).Cmp(below) >= 0 })
}

// random64 returns a number below the bound that is stated, often at the limits of
// words.
func random64(r *rand.Rand, below *big.Int) []uint64 {
	w := weirdArray(r, 4, 64)
	if r.IntN(4) == 0 { // just below the limit
		w = wordsOf(new(big.Int).Sub(below, new(big.Int).SetUint64(1+r.Uint64()>>r.IntN(64))))
	}
	if number(w, 64).Cmp(below) >= 0 {
		w[3] >>= 1
	}
	return w
}
