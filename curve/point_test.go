package curve

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/testvec"
)

// encodings are 32-byte strings around the edges of point decoding.
func encodings(r *rand.Rand, n int) (all [][32]byte) {
	all = append(all, testvec.EdgeBytes32()...)
	// The points of small order, in every form that decodes.
	order8 := [32]byte{
		0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f,
		0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
	}
	all = append(all, order8)
	for range n {
		all = append(all, testvec.WeirdBytes32(r))
	}
	for _, b := range all {
		b[31] ^= 0x80
		all = append(all, b)
	}
	return all
}

// TestPointDecoding compares verdicts and values with filippo.io/edwards25519.
func TestPointDecoding(t *testing.T) {
	all := encodings(rand.New(rand.NewPCG(9, 10)), 200)
	eachTier(t, func(t *testing.T) {
		decoded, canonical := 0, 0
		for _, b := range all {
			p := NewGeneratorPoint()
			got, err := p.SetBytes(b[:])
			want, wantErr := new(edwards25519.Point).SetBytes(b[:])
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("%x: %v, want %v", b, err, wantErr)
			}
			strict := NewGeneratorPoint()
			gotStrict, errStrict := strict.SetCanonicalBytes(b[:])
			if err != nil {
				if got != nil || !errors.Is(err, ErrNotOnCurve) || !errors.Is(errStrict, ErrNotOnCurve) {
					t.Errorf("%x: %v, %v, %v", b, got, err, errStrict)
				}
				if p.Equal(NewGeneratorPoint()) != 1 || strict.Equal(NewGeneratorPoint()) != 1 {
					t.Errorf("%x: receiver changed on error", b)
				}
				continue
			}
			decoded++
			if got != p || !bytes.Equal(p.Bytes(), want.Bytes()) || !bytes.Equal(p.BytesMontgomery(), want.BytesMontgomery()) {
				t.Errorf("%x: %x, %x", b, p.Bytes(), want.Bytes())
			}
			if isCanonical := bytes.Equal(want.Bytes(), b[:]); isCanonical {
				canonical++
				if errStrict != nil || gotStrict != strict || strict.Equal(p) != 1 {
					t.Errorf("%x: strict: %v", b, errStrict)
				}
			} else if !errors.Is(errStrict, ErrNonCanonical) || strict.Equal(NewGeneratorPoint()) != 1 {
				t.Errorf("%x: strict: %v", b, errStrict)
			}
		}
		if decoded < 100 || canonical == decoded {
			t.Errorf("%d decoded, %d canonical", decoded, canonical)
		}
		for _, n := range []int{0, 31, 33} {
			if _, err := new(Point).SetBytes(make([]byte, n)); !errors.Is(err, ErrKeyLength) {
				t.Errorf("%d bytes: %v", n, err)
			}
			if _, err := new(Point).SetCanonicalBytes(make([]byte, n)); !errors.Is(err, ErrKeyLength) {
				t.Errorf("%d bytes: %v", n, err)
			}
		}
	})
}

// samples returns points, and the same as filippo.io/edwards25519 has them: the
// small orders, the generator, others with and without a component of small
// order.
func samples(t testing.TB, n int) (ps []*Point, qs []*edwards25519.Point) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, b := range encodings(r, n) {
		p, err := new(Point).SetBytes(b[:])
		if err != nil {
			continue
		}
		q, err := new(edwards25519.Point).SetBytes(b[:])
		if err != nil {
			t.Fatal(err)
		}
		ps, qs = append(ps, p), append(qs, q)
	}
	ps, qs = append(ps, NewGeneratorPoint(), NewIdentityPoint()),
		append(qs, edwards25519.NewGeneratorPoint(), edwards25519.NewIdentityPoint())
	return ps, qs
}

func TestPointArithmetic(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		n := 20
		if testing.Short() {
			n = 2
		}
		ps, qs := samples(t, n)
		same := func(name string, p *Point, q *edwards25519.Point) {
			t.Helper()
			if !bytes.Equal(p.Bytes(), q.Bytes()) {
				t.Fatalf("%s: %x, want %x", name, p.Bytes(), q.Bytes())
			}
			// T is part of the state.
			if xy := new(Point).Add(p, NewIdentityPoint()); xy.Equal(p) != 1 {
				t.Fatalf("%s: inconsistent coordinates", name)
			}
		}
		small := 0
		for i := range ps {
			same("Negate", new(Point).Negate(ps[i]), new(edwards25519.Point).Negate(qs[i]))
			same("Double", new(Point).Double(ps[i]), new(edwards25519.Point).Add(qs[i], qs[i]))
			by8 := new(edwards25519.Point).MultByCofactor(qs[i])
			same("MultByCofactor", new(Point).MultByCofactor(ps[i]), by8)
			isSmall := by8.Equal(edwards25519.NewIdentityPoint()) == 1
			if ps[i].IsSmallOrder() != isSmall {
				t.Errorf("%x: IsSmallOrder is %v", ps[i].Bytes(), !isSmall)
			}
			if isSmall {
				small++
			}
			for j := range ps {
				same("Add", new(Point).Add(ps[i], ps[j]), new(edwards25519.Point).Add(qs[i], qs[j]))
				same("Subtract", new(Point).Subtract(ps[i], ps[j]), new(edwards25519.Point).Subtract(qs[i], qs[j]))
				if ps[i].Equal(ps[j]) != qs[i].Equal(qs[j]) {
					t.Errorf("Equal(%x, %x) = %d", ps[i].Bytes(), ps[j].Bytes(), ps[i].Equal(ps[j]))
				}
			}
		}
		if small < 6 || small > len(ps)/2 {
			t.Errorf("%d of %d points are of small order", small, len(ps))
		}
	})
}

func TestScalarMultiplications(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		ps, qs := samples(t, 4)
		for i := range ps {
			for range 3 {
				var wide [2][64]byte
				for j := range wide {
					a, b := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
					copy(wide[j][:], a[:])
					copy(wide[j][32:], b[:])
				}
				x, err := new(Scalar).SetUniformBytes(wide[0][:])
				if err != nil {
					t.Fatal(err)
				}
				y, err := new(Scalar).SetUniformBytes(wide[1][:])
				if err != nil {
					t.Fatal(err)
				}
				fx, err := edwards25519.NewScalar().SetCanonicalBytes(x.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				fy, err := edwards25519.NewScalar().SetCanonicalBytes(y.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				got, want := new(Point).ScalarMult(x, ps[i]), new(edwards25519.Point).ScalarMult(fx, qs[i])
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("ScalarMult(%x, %x) = %x, want %x", x.Bytes(), ps[i].Bytes(), got.Bytes(), want.Bytes())
				}
				got.ScalarBaseMult(x)
				if want.ScalarBaseMult(fx); !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("ScalarBaseMult(%x) = %x, want %x", x.Bytes(), got.Bytes(), want.Bytes())
				}
				got.VarTimeDoubleScalarBaseMult(x, ps[i], y)
				if want.VarTimeDoubleScalarBaseMult(fx, qs[i], fy); !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("VarTimeDoubleScalarBaseMult(%x, %x, %x) = %x, want %x",
						x.Bytes(), ps[i].Bytes(), y.Bytes(), got.Bytes(), want.Bytes())
				}
			}
		}
		// Scalars at the ends.
		for _, k := range [][32]byte{{}, {1}, bytesOf(new(big.Int).Sub(bigL, big.NewInt(1))), {31: 0x10}, {15: 0x80}} {
			x, err := new(Scalar).SetCanonicalBytes(k[:])
			if err != nil {
				t.Fatal(err)
			}
			fx, _ := edwards25519.NewScalar().SetCanonicalBytes(k[:])
			got, want := new(Point).ScalarMult(x, ps[0]), new(edwards25519.Point).ScalarMult(fx, qs[0])
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("ScalarMult(%x, %x) = %x", k, ps[0].Bytes(), got.Bytes())
			}
			got.VarTimeDoubleScalarBaseMult(x, ps[0], x)
			if want.VarTimeDoubleScalarBaseMult(fx, qs[0], fx); !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("VarTimeDoubleScalarBaseMult(%x) = %x", k, got.Bytes())
			}
		}
	})
}

// TestPointAliasing runs each method with its receiver as each of its arguments.
func TestPointAliasing(t *testing.T) {
	s, err := new(Scalar).SetCanonicalBytes(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	p := new(Point).ScalarBaseMult(s)
	q := new(Point).Double(p)
	for name, f := range map[string]func(v, p, q *Point) *Point{
		"Set":                         func(v, p, _ *Point) *Point { return v.Set(p) },
		"Negate":                      func(v, p, _ *Point) *Point { return v.Negate(p) },
		"Double":                      func(v, p, _ *Point) *Point { return v.Double(p) },
		"MultByCofactor":              func(v, p, _ *Point) *Point { return v.MultByCofactor(p) },
		"Add":                         func(v, p, q *Point) *Point { return v.Add(p, q) },
		"Subtract":                    func(v, p, q *Point) *Point { return v.Subtract(p, q) },
		"ScalarMult":                  func(v, p, _ *Point) *Point { return v.ScalarMult(s, p) },
		"VarTimeDoubleScalarBaseMult": func(v, p, _ *Point) *Point { return v.VarTimeDoubleScalarBaseMult(s, p, s) },
	} {
		want := f(new(Point), p, q)
		a := new(Point).Set(p)
		if got := f(a, a, q); got != a || got.Equal(want) != 1 {
			t.Errorf("%s: receiver is the first argument", name)
		}
		b := new(Point).Set(q)
		if got := f(b, p, b); got.Equal(want) != 1 {
			t.Errorf("%s: receiver is the second argument", name)
		}
		want = f(new(Point), p, p)
		c := new(Point).Set(p)
		if got := f(c, c, c); got.Equal(want) != 1 {
			t.Errorf("%s: all the same", name)
		}
	}
}

// The zero value is no point, and says so.
func TestPointZeroValue(t *testing.T) {
	g, s := NewGeneratorPoint(), new(Scalar)
	for name, f := range map[string]func(v, zero *Point){
		"Set":             func(v, zero *Point) { v.Set(zero) },
		"Bytes":           func(_, zero *Point) { zero.Bytes() },
		"BytesInto":       func(_, zero *Point) { zero.BytesInto(new([32]byte)) },
		"BytesMontgomery": func(_, zero *Point) { zero.BytesMontgomery() },
		"Equal":           func(_, zero *Point) { zero.Equal(g) },
		"Equal argument":  func(_, zero *Point) { g.Equal(zero) },
		"Negate":          func(v, zero *Point) { v.Negate(zero) },
		"Add":             func(v, zero *Point) { v.Add(zero, g) },
		"Add second":      func(v, zero *Point) { v.Add(g, zero) },
		"Subtract":        func(v, zero *Point) { v.Subtract(zero, g) },
		"Subtract second": func(v, zero *Point) { v.Subtract(g, zero) },
		"Double":          func(v, zero *Point) { v.Double(zero) },
		"MultByCofactor":  func(v, zero *Point) { v.MultByCofactor(zero) },
		"IsSmallOrder":    func(_, zero *Point) { zero.IsSmallOrder() },
		"ScalarMult":      func(v, zero *Point) { v.ScalarMult(s, zero) },
		"VarTimeDoubleScalarBaseMult": func(v, zero *Point) {
			v.VarTimeDoubleScalarBaseMult(s, zero, s)
		},
	} {
		func() {
			defer func() {
				if r := recover(); r != "curve: use of uninitialized Point" {
					t.Errorf("%s: %v", name, r)
				}
			}()
			f(new(Point), new(Point))
		}()
	}
}
