package asm

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The kernels of numbers in four full words, run by a machine that takes no
// dropped carry.

// niels64 returns a table entry of the fixed base: canonical coordinates, the
// third with a lowest word of at most 2^64-19.
func niels64(r *rand.Rand) (entry []uint64) {
	for c := range 3 {
		w := random64(r, prime)
		w = wordsOf(new(big.Int).Mod(number(w, 64), prime))
		if c == 2 {
			w[0] = min(w[0], 1<<64-19)
		}
		entry = append(entry, w...)
	}
	return entry
}

// A bigPoint has the coordinates X, Y, Z and T of a point, or of what comes
// before the last multiplications.
type bigPoint [4]*big.Int

func mod(n *big.Int) *big.Int       { return n.Mod(n, prime) }
func mulMod(a, b *big.Int) *big.Int { return mod(new(big.Int).Mul(a, b)) }
func plus(a, b *big.Int) *big.Int   { return mod(new(big.Int).Add(a, b)) }
func minus(a, b *big.Int) *big.Int  { return mod(new(big.Int).Sub(a, b)) }
func identity() bigPoint            { return bigPoint{new(big.Int), big.NewInt(1), big.NewInt(1), new(big.Int)} }

func (r bigPoint) project() bigPoint {
	return bigPoint{mulMod(r[0], r[3]), mulMod(r[1], r[2]), mulMod(r[2], r[3]), mulMod(r[0], r[1])}
}

// add returns p + q, with D = Z·Z'.
func (p bigPoint) add(yPlusX, yMinusX, z, t2d *big.Int) bigPoint {
	a, b := mulMod(minus(p[1], p[0]), yMinusX), mulMod(plus(p[1], p[0]), yPlusX)
	c, d := mulMod(p[3], t2d), mulMod(p[2], z)
	return bigPoint{minus(b, a), plus(b, a), plus(d, c), minus(d, c)}.project()
}

// The whole kernel of the base point, on tables and digits at the limits: it
// drops no carry, stays within the bounds of its result, and agrees with the
// formulas over math/big.
func TestFixedBaseCarries(t *testing.T) {
	x := load(t, "fixedBaseMULX")
	half := new(big.Int).ModInverse(big.NewInt(2), prime)
	r := rand.New(rand.NewPCG(10, 11))
	for range max(3, rounds()/30) {
		var table []uint64
		for range 64 * 8 {
			table = append(table, niels64(r)...)
		}
		digits := weirdArray(r, 4, 64)
		digits[3] = digits[3]&^(0xf<<60) | r.Uint64N(9)<<60
		m := newMachine(x, map[string]any{"out": make([]uint64, 16), "table": table, "digits": digits})
		if err := m.run(x); err != nil {
			t.Fatalf("%v, for the digits %x", err, digits)
		}

		p := identity()
		for i := range 64 {
			digit := int(digits[i/16] >> (i % 16 * 4) & 15)
			if i < 63 {
				digit -= 8
			}
			q := [3]*big.Int{half, half, new(big.Int)}
			if n := max(digit, -digit); n > 0 {
				for c := range q {
					q[c] = number(table[(8*i+n-1)*12+4*c:][:4], 64)
				}
			}
			if digit < 0 {
				q = [3]*big.Int{q[1], q[0], minus(new(big.Int), q[2])}
			}
			p = p.add(q[0], q[1], one, q[2])
		}
		checkPoint(t, m.words("out"), p)
	}
}

func checkPoint(t *testing.T, out []uint64, want bigPoint) {
	t.Helper()
	for c := range want {
		got := number(out[4*c:][:4], 64)
		if got.Cmp(reducedMax) >= 0 {
			t.Fatalf("coordinate %d is %x, not reduced", c, got)
		}
		if minus(got, want[c]).Sign() != 0 {
			t.Fatalf("coordinate %d is %x, want %x", c, got, want[c])
		}
	}
}

// Likewise the ladder.
func TestLadderCarries(t *testing.T) {
	x := load(t, "ladderMULX")
	r := rand.New(rand.NewPCG(12, 13))
	us := edges64(anyMax)
	for i := range max(3, rounds()/30) {
		u := random64(r, anyMax)
		if i < len(us) {
			u = us[i]
		}
		k := weirdArray(r, 4, 64)
		k[0] &^= 7
		k[3] &= 1<<63 - 1
		m := newMachine(x, map[string]any{"x": make([]uint64, 4), "z": make([]uint64, 4), "k": k, "u": u})
		if err := m.run(x); err != nil {
			t.Fatalf("%v, for the scalar %x and u = %x", err, k, u)
		}
		gotX, gotZ := number(m.words("x"), 64), number(m.words("z"), 64)
		if gotX.Cmp(reducedMax) >= 0 || gotZ.Cmp(reducedMax) >= 0 {
			t.Fatalf("ladder(%x, %x) = %x/%x is not reduced", k, u, gotX, gotZ)
		}
		wantX, wantZ := bigLadder(number(k, 64), number(u, 64))
		if mulMod(gotX, wantZ).Cmp(mulMod(wantX, gotZ)) != 0 || (mod(gotZ).Sign() == 0) != (wantZ.Sign() == 0) {
			t.Fatalf("ladder(%x, %x) = %x/%x is wrong", k, u, gotX, gotZ)
		}
	}
}

// bigLadder is the loop of RFC 7748, Section 5.
func bigLadder(k, u *big.Int) (x, z *big.Int) {
	x1 := mod(new(big.Int).SetBit(u, 255, 0))
	x2, z2, x3, z3 := big.NewInt(1), new(big.Int), x1, big.NewInt(1)
	for i := 254; i >= 0; i-- {
		if k.Bit(i) == 1 {
			x2, z2, x3, z3 = x3, z3, x2, z2
		}
		a, b, c, d := plus(x2, z2), minus(x2, z2), plus(x3, z3), minus(x3, z3)
		da, cb := mulMod(d, a), mulMod(c, b)
		aa, bb := mulMod(a, a), mulMod(b, b)
		e := minus(aa, bb)
		s, f := plus(da, cb), minus(da, cb)
		x3, z3 = mulMod(s, s), mulMod(x1, mulMod(f, f))
		x2, z2 = mulMod(aa, bb), mulMod(e, plus(aa, mulMod(big.NewInt(121665), e)))
		if k.Bit(i) == 1 {
			x2, z2, x3, z3 = x3, z3, x2, z2
		}
	}
	return x2, z2
}

// Likewise the kernels of verification.
func TestDoubleBaseCarries(t *testing.T) {
	odd, double, wide := load(t, "oddMultiplesMULX"), load(t, "varTimeDoubleBaseMULX"), load(t, "varTimeWideDoubleBaseMULX")
	// d = -121665/121666
	d := mulMod(big.NewInt(-121665), new(big.Int).ModInverse(big.NewInt(121666), prime))
	d2 := plus(d, d)
	r := rand.New(rand.NewPCG(14, 15))
	numbers := func(n int, below *big.Int) (all []uint64) {
		for range n {
			all = append(all, random64(r, below)...)
		}
		return all
	}
	big4 := func(w []uint64, i int) *big.Int { return number(w[4*i:][:4], 64) }
	doubled := func(p bigPoint) bigPoint {
		a, b, zz := mulMod(p[0], p[0]), mulMod(p[1], p[1]), mulMod(p[2], p[2])
		xy := mulMod(p[0], p[1])
		z := minus(b, a)
		return bigPoint{plus(xy, xy), plus(b, a), z, minus(plus(zz, zz), z)}.project()
	}

	for range max(3, rounds()/30) {
		given := numbers(4, reducedMax)
		m := newMachine(odd, map[string]any{"table": make([]uint64, 8*16), "p": given})
		if err := m.run(odd); err != nil {
			t.Fatalf("%v, for the point %x", err, given)
		}
		p := bigPoint{big4(given, 0), big4(given, 1), big4(given, 2), big4(given, 3)}
		twice, table := doubled(p), m.words("table")
		for i := range 8 {
			entry := [4]*big.Int{plus(p[1], p[0]), minus(p[1], p[0]), plus(p[2], p[2]), mulMod(p[3], d2)}
			for c := range entry {
				if minus(big4(table, 4*i+c), entry[c]).Sign() != 0 {
					t.Fatalf("odd multiple %d of %x, coordinate %d, is wrong", i, given, c)
				}
			}
			p = twice.add(entry[0], entry[1], entry[2], entry[3])
		}

		for _, k := range []struct {
			x        *executable
			sizes    [2]int
			cached   bool
			rowsOf   int
			maxEntry [2]int
		}{
			{x: double, sizes: [2]int{16, 12}, cached: true, maxEntry: [2]int{8, 64}},
			{x: wide, sizes: [2]int{12, 12}, maxEntry: [2]int{64, 256}},
		} {
			tables := [2][]uint64{
				numbers(k.maxEntry[0]*k.sizes[0]/4, anyMax),
				numbers(k.maxEntry[1]*k.sizes[1]/4, anyMax),
			}
			n := 1 + r.IntN(20)
			steps := make([]uint32, 96)
			want := identity()
			for i := range n {
				doublings, which, negative := r.IntN(4), r.IntN(2), r.IntN(2)
				entry := r.IntN(k.maxEntry[which])
				steps[i] = uint32(doublings | which<<8 | negative<<9 | entry<<16)
				for range doublings {
					want = doubled(want)
				}
				if i == n-1 {
					break
				}
				e := tables[which][entry*k.sizes[which]:]
				z, t2d := one, big4(e, 2)
				if which == 0 && k.cached {
					z, t2d = big4(e, 2), big4(e, 3)
				}
				if negative == 0 {
					want = want.add(big4(e, 0), big4(e, 1), z, t2d)
				} else {
					want = want.add(big4(e, 1), big4(e, 0), z, minus(new(big.Int), t2d))
				}
			}
			m := newMachine(k.x, map[string]any{
				"out": make([]uint64, 16), "steps": steps, "n": uint64(n), "a": tables[0], "b": tables[1],
			})
			if err := m.run(k.x); err != nil {
				t.Fatalf("%v, for the steps %x", err, steps[:n])
			}
			checkPoint(t, m.words("out"), want)
		}
	}
}
