package curve

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"

	"filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/testvec"
)

// extremeScalars are scalars whose digits are extreme: none, one, the most and
// the largest of each width, of both signs, and the ends of the range.
func extremeScalars() []*big.Int {
	one := big.NewInt(1)
	var all []*big.Int
	for d := int64(-3); d <= 0; d++ {
		n := big.NewInt(d)
		all = append(all, n.Mod(n, bigL))
	}
	for i := range uint(253) {
		if i%16 < 2 || i > 248 {
			p := new(big.Int).Lsh(one, i)
			all = append(all, p, new(big.Int).Sub(p, one), new(big.Int).Sub(bigL, p))
		}
	}
	// A digit in each window, of the values 1, -1, and the extremes.
	for _, w := range []uint{5, 6, 7, 8} {
		for _, digit := range []int64{1, 1<<(w-1) - 1, 1<<w - 1, 1<<(w-1) + 1} {
			n := new(big.Int)
			for i := uint(0); i+w <= 252; i += w {
				n.Add(n, new(big.Int).Lsh(big.NewInt(digit), i))
			}
			all = append(all, n)
		}
	}
	for i := range all {
		all[i].Mod(all[i], bigL)
	}
	return all
}

// stepsSum is what steps evaluate to if entry (2j+1)·2^(span·i) of table 0 stands
// for 1 and of table 1 for 2^300.
func stepsSum(t *testing.T, f shape, s *steps) (a, b *big.Int) {
	t.Helper()
	sums := [2]*big.Int{new(big.Int), new(big.Int)}
	for i, step := range s.list[:s.n] {
		doublings := uint(step >> stepDoublings & 0xff)
		for _, n := range sums {
			n.Lsh(n, doublings)
		}
		if i == s.n-1 {
			return sums[0], sums[1]
		}
		list := step >> stepB & 1
		width := f.width[list]
		entry := uint(step >> stepEntry)
		block, odd := entry>>(width-2), entry&(1<<(width-2)-1)
		n := new(big.Int).Lsh(big.NewInt(int64(2*odd+1)), block<<f.logSpan)
		if step>>stepNegative&1 == 1 {
			n.Neg(n)
		}
		sums[list].Add(sums[list], n)
	}
	t.Fatal("no steps")
	return nil, nil
}

func TestSteps(t *testing.T) {
	extreme := extremeScalars()
	r := rand.New(rand.NewPCG(23, 24))
	most := 0
	check := func(f shape, a, b *big.Int) {
		t.Helper()
		var x, y Scalar
		for i, s := range []*Scalar{&x, &y} {
			e := bytesOf([]*big.Int{a, b}[i])
			if _, err := s.SetCanonicalBytes(e[:]); err != nil {
				t.Fatal(err)
			}
		}
		var s steps
		s.set(f, &x, &y)
		if gotA, gotB := stepsSum(t, f, &s); gotA.Cmp(a) != 0 || gotB.Cmp(b) != 0 {
			t.Fatalf("steps of (%x, %x) are of (%x, %x)", a, b, gotA, gotB)
		}
		most = max(most, s.n)
	}
	for _, f := range []shape{doubleBaseShape, wideShape} {
		if 1+(254+f.width[0]-1)/f.width[0]+(254+f.width[1]-1)/f.width[1] > maxSteps {
			t.Errorf("%v may have too many steps", f)
		}
		for i, a := range extreme {
			check(f, a, extreme[(i+7)%len(extreme)])
			check(f, a, a)
			check(f, a, new(big.Int))
			check(f, new(big.Int), a)
		}
		for range 300 {
			a, b := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
			check(f, new(big.Int).Mod(bigOf(a[:]), bigL), new(big.Int).Mod(bigOf(b[:]), bigL))
		}
	}
	if most < 80 {
		t.Errorf("no case has more than %d steps", most)
	}
}

// TestDoubleBase compares both evaluations with filippo.io/edwards25519: scalars
// with extreme digits, points of small order, the identity, the base point and
// its negative, where additions meet doublings, negatives and the identity.
func TestDoubleBase(t *testing.T) {
	scalars := extremeScalars()
	base := edwards25519.NewGeneratorPoint()
	points := []*edwards25519.Point{
		base, edwards25519.NewIdentityPoint(), new(edwards25519.Point).Negate(base), new(edwards25519.Point).Add(base, base),
	}
	for _, u := range testvec.LowOrderU() {
		for bit := range byte(2) {
			if p := referencePoint(&u, bit); p != nil {
				points = append(points, p, new(edwards25519.Point).Add(p, base))
			}
		}
	}
	r := rand.New(rand.NewPCG(25, 26))
	step := 1
	if testing.Short() {
		step = 17
	}
	eachTier(t, func(t *testing.T) {
		for i, q := range points {
			A, err := new(Point).SetBytes(q.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			var p packedPoint
			A.pack(&p)
			var wide wideMultiples
			wide.set(&p)
			for j := i % step; j < len(scalars); j += step {
				aBytes, bBytes := bytesOf(scalars[j]), bytesOf(scalars[(j*j+i)%len(scalars)])
				if j%5 == 0 {
					bBytes = aBytes
				}
				var a, b Scalar
				if _, err := a.SetCanonicalBytes(aBytes[:]); err != nil {
					t.Fatal(err)
				}
				if _, err := b.SetCanonicalBytes(bBytes[:]); err != nil {
					t.Fatal(err)
				}
				fa, _ := edwards25519.NewScalar().SetCanonicalBytes(aBytes[:])
				fb, _ := edwards25519.NewScalar().SetCanonicalBytes(bBytes[:])
				want := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(fa, q, fb).Bytes()
				var got Point
				if got.VarTimeDoubleScalarBaseMult(&a, A, &b); !bytes.Equal(got.Bytes(), want) {
					t.Fatalf("%x * %x + %x * B = %x, want %x", aBytes, q.Bytes(), bBytes, got.Bytes(), want)
				}
				checkExtended(t, &got)
				var out packedPoint
				varTimeWideDoubleBaseMult(&out, &a, &wide, &b)
				if got.setWords(&out); !bytes.Equal(got.Bytes(), want) {
					t.Fatalf("wide: %x * %x + %x * B = %x, want %x", aBytes, q.Bytes(), bBytes, got.Bytes(), want)
				}
				checkExtended(t, &got)
			}
		}
		n := 100
		switch {
		case longTests():
			n = 250_000 // on each of four pairs of tiers
		case testing.Short():
			n = 10
		}
		differential(t, r, n)
	})
}

// checkExtended checks that T = X·Y/Z.
func checkExtended(t *testing.T, p *Point) {
	t.Helper()
	xy, tz := p.x, p.t
	if xy.Multiply(&xy, &p.y).Equal(tz.Multiply(&tz, &p.z)) == 0 {
		t.Fatal("T is not X·Y/Z")
	}
}

// differential compares n random cases with filippo.io/edwards25519, with a new
// point every ten.
func differential(t *testing.T, r *rand.Rand, n int) {
	var A Point
	var p packedPoint
	var wide wideMultiples
	q := new(edwards25519.Point)
	for i := range n {
		if i%10 == 0 {
			for {
				e := testvec.WeirdBytes32(r)
				if _, err := A.SetBytes(e[:]); err == nil {
					break
				}
			}
			if _, err := q.SetBytes(A.Bytes()); err != nil {
				t.Fatal(err)
			}
			A.pack(&p)
			wide.set(&p)
		}
		var a, b Scalar
		var fa, fb edwards25519.Scalar
		for j, s := range []*Scalar{&a, &b} {
			w := testvec.WeirdBytes32(r)
			s.setUniform((*[64]byte)(append(w[:], make([]byte, 32)...)))
			if _, err := []*edwards25519.Scalar{&fa, &fb}[j].SetCanonicalBytes(s.Bytes()); err != nil {
				t.Fatal(err)
			}
		}
		want := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(&fa, q, &fb).Bytes()
		var got Point
		if got.VarTimeDoubleScalarBaseMult(&a, &A, &b); !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%x * %x + %x * B = %x, want %x", a.Bytes(), A.Bytes(), b.Bytes(), got.Bytes(), want)
		}
		var out packedPoint
		varTimeWideDoubleBaseMult(&out, &a, &wide, &b)
		if got.setWords(&out); !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("wide: %x * %x + %x * B = %x, want %x", a.Bytes(), A.Bytes(), b.Bytes(), got.Bytes(), want)
		}
	}
}

// TestWideMultiples compares each entry with filippo.io/edwards25519.
func TestWideMultiples(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		ps, qs := samples(t, 4)
		for i, A := range ps {
			var p packedPoint
			A.pack(&p)
			var wide wideMultiples
			wide.set(&p)
			q := new(edwards25519.Point).Set(qs[i])
			for block := range 8 {
				m, twice := new(edwards25519.Point).Set(q), new(edwards25519.Point).Add(q, q)
				for j := range 8 {
					checkNiels(t, "wide multiple", &wide[8*block+j], m)
					m.Add(m, twice)
				}
				for range 32 {
					q.Add(q, q)
				}
			}
		}
	})
}
