//go:build !purego

package curve

import "github.com/sigcore/sigcore/field"

// The kernels of verification, as their self-test takes them.
type (
	oddMultiplesKernel   = func(table *[8][16]uint64, p *[4][4]uint64)
	doubleBaseKernel     = func(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64)
	wideDoubleBaseKernel = func(out *[4][4]uint64, steps *[96]uint32, n int, a *[64][12]uint64, b *[256][12]uint64)
)

// selfTestDoubleBase reports whether the kernels give the results of their twins
// modulo 2^255-19, on numbers with words of zeros and of ones in every pattern,
// then on numbers of which half of the words are at their limits. They need not
// be coordinates of points: the formulas are polynomials.
func selfTestDoubleBase(odd oddMultiplesKernel, double doubleBaseKernel, wide wideDoubleBaseKernel) bool {
	// Every kind of step, on entries 0 to 7.
	list := [maxSteps]uint32{
		3<<stepEntry | 1<<stepNegative,
		1<<stepDoublings | 5<<stepEntry | 1<<stepB,
		2<<stepDoublings | 7<<stepEntry,
		0<<stepEntry | 1<<stepB | 1<<stepNegative,
		2<<stepEntry | 1<<stepB,
		4 << stepEntry,
		1 << stepDoublings,
	}
	const n = 7
	p := new(packedPoint)
	niels := new([256]packedNiels) // entries that no step selects stay zero
	// Kernels that are given make all of these escape: once, not in each round.
	var got, want oddMultiples
	var v, w packedPoint
	walk := wordWalk(12)
	for pattern := range uint(selfTestRounds) {
		number := func(n uint) [4]uint64 {
			if pattern < 16 {
				return pattern64(n)
			}
			return walk.number()
		}
		for i := range p {
			p[i] = number(pattern ^ uint(5*i))
			if p[i][3] >= 1<<63 { // coordinates of a point are reduced
				p[i][3] &= 1<<63 | 1<<7 - 1
			}
		}
		odd(&got, p)
		oddMultiplesGeneric(&want, p)
		for i := range got {
			for c := 0; c < len(got[i]); c += 4 {
				if !sameNumber((*[4]uint64)(got[i][c:]), (*[4]uint64)(want[i][c:])) {
					return false
				}
			}
		}

		for i := range got {
			for c := range 4 {
				w := number(pattern + uint(7*i+5*c))
				copy(got[i][4*c:], w[:])
				if c < 3 {
					copy(niels[7-i][4*c:], w[:])
				}
			}
		}
		few := (*[64]packedNiels)(niels[:])
		double(&v, &list, n, &got, few)
		varTimeDoubleBaseGeneric(&w, &list, n, &got, few)
		if !sameNumbers(v[:], w[:]) {
			return false
		}
		wide(&v, &list, n, few, niels)
		varTimeWideDoubleBaseGeneric(&w, &list, n, few, niels)
		if !sameNumbers(v[:], w[:]) {
			return false
		}
	}
	return true
}

const selfTestRounds = 48

// pattern64 returns words of ones where the low bits of pattern are ones, else of
// zeros.
func pattern64(pattern uint) (w [4]uint64) {
	for i := range w {
		w[i] = -uint64(pattern >> i & 1)
	}
	return w
}

// sameNumbers reports whether a and b are the same modulo 2^255-19.
func sameNumbers(a, b [][4]uint64) bool {
	for i := range a {
		if !sameNumber(&a[i], &b[i]) {
			return false
		}
	}
	return true
}

func sameNumber(a, b *[4]uint64) bool {
	var v, w field.Element
	return v.SetWords(a).Equal(w.SetWords(b)) == 1
}
