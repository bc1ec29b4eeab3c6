package curve

import (
	"bytes"
	"crypto/sha3"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	mathrand "math/rand"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
	"testing/quick"

	peer "filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// order is ℓ.
var order, _ = new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)

// bigWords returns the number of the words.
func bigWords(w ...uint64) *big.Int {
	n := new(big.Int)
	for i := len(w) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w[i]))
	}
	return n
}

// toWords returns n < 2^(64·size) as words.
func toWords(n *big.Int, size int) []uint64 {
	b := n.FillBytes(make([]byte, 8*size))
	w := make([]uint64, size)
	for i := range b {
		w[i/8] |= uint64(b[len(b)-1-i]) << (8 * (i % 8))
	}
	return w
}

func (s *Scalar) value() *big.Int { return bigWords(s.s[:]...) }

func modOrder(n *big.Int) *big.Int { return n.Mod(n, order) }

// scalarOf returns n mod ℓ.
func scalarOf(n *big.Int) *Scalar {
	return &Scalar{[4]uint64(toWords(modOrder(new(big.Int).Set(n)), 4))}
}

func scalarBytes(n *big.Int, size int) []byte {
	b := n.FillBytes(make([]byte, size))
	slices.Reverse(b)
	return b
}

// wideEdges are numbers below 2^512 around multiples of ℓ and powers of two,
// with words of zeros and ones in every pattern, and around the carryEdges.
func wideEdges() []*big.Int {
	var out []*big.Int
	limit := new(big.Int).Lsh(big.NewInt(1), 512)
	around := func(n *big.Int) {
		for d := int64(-2); d <= 2; d++ {
			if v := new(big.Int).Add(n, big.NewInt(d)); v.Sign() >= 0 && v.Cmp(limit) < 0 {
				out = append(out, v)
			}
		}
	}
	for e := range uint(513) {
		around(new(big.Int).Lsh(big.NewInt(1), e))
		if e <= 260 {
			around(new(big.Int).Lsh(order, e))
		}
	}
	for _, m := range []int64{0, 1, 2, 3, 4, 15, 16, 17, 255} {
		around(new(big.Int).Mul(order, big.NewInt(m)))
	}
	// The largest multiple of ℓ, and ℓ^2.
	around(new(big.Int).Mul(order, new(big.Int).Div(limit, order)))
	around(new(big.Int).Mul(order, order))
	for pattern := range 1 << 8 {
		var w [8]uint64
		for i := range w {
			w[i] = -uint64(pattern >> i & 1)
		}
		out = append(out, bigWords(w[:]...))
	}
	for _, n := range carryEdges() {
		around(n)
	}
	return out
}

// carryEdges are numbers whose reduction carries into the highest word of c·h or
// of c·h1, in the terms of scalarReduceWideGeneric. That needs a product of
// order1 that ends a word, which happens once in 2^60 random cases.
func carryEdges() []*big.Int {
	c := bigWords(order0, order1)
	ones := new(big.Int).SetUint64(1<<64 - 1)
	var out []*big.Int
	// tops calls f with a highest word and the words around the one below it
	// with which the sum of their products with order1 reaches 2^64.
	tops := func(limit uint64, f func(top uint64, below *big.Int)) {
		for top := range limit {
			missing := new(big.Int).SetUint64(-(order1 * top))
			for d := int64(-3); d <= 3; d++ {
				below := new(big.Int).Lsh(missing, 64)
				below.Div(below, new(big.Int).SetUint64(order1)).Add(below, big.NewInt(d))
				if below.Sign() >= 0 && below.BitLen() <= 64 {
					f(top, below)
				}
			}
		}
	}
	tops(16, func(top uint64, below *big.Int) {
		h := new(big.Int).Lsh(new(big.Int).SetUint64(top), 64)
		h.Or(h, below)
		for range 3 {
			h.Lsh(h, 64).Or(h, ones)
		}
		out = append(out, h.Lsh(h, 252))
	})
	tops(21, func(top uint64, below *big.Int) {
		h1 := new(big.Int).Lsh(new(big.Int).SetUint64(top), 64)
		h1.Or(h1, below).Lsh(h1, 64).Or(h1, ones)
		h := h1.Lsh(h1, 252)
		h.Div(h, c).Add(h, big.NewInt(1)) // the least h with c·h / 2^252 = h1
		if h.BitLen() <= 260 {
			out = append(out, h.Lsh(h, 252))
		}
	})
	// A borrow of c·h2 from the highest word of l2 + x0 + 2·ℓ - l1: the three
	// words below it are made zero by the choice of x0.
	low252 := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 252), big.NewInt(1))
	word := new(big.Int).Lsh(big.NewInt(1), 192)
	for i := range uint(130) {
		h := new(big.Int).Lsh(big.NewInt(1), 260)
		h.Sub(h, new(big.Int).Lsh(big.NewInt(1), 2*i))
		t := new(big.Int).Mul(c, h)
		l1 := new(big.Int).And(t, low252)
		u := t.Rsh(t, 252)
		u.Mul(u, c)
		l2 := new(big.Int).And(u, low252)
		x0 := l1.Sub(l1, l2)
		x0.Sub(x0, order).Sub(x0, order).Mod(x0, word)
		out = append(out, x0.Or(x0, h.Lsh(h, 252)))
	}
	return out
}

// edgeWords are the wideEdges below 2^256, most of them below ℓ.
func edgeWords() [][4]uint64 {
	var out [][4]uint64
	for _, n := range wideEdges() {
		if n.BitLen() <= 256 {
			out = append(out, [4]uint64(toWords(n, 4)))
		}
	}
	return out
}

// bitPatterns are words of zeros and ones in every pattern.
func bitPatterns() (out [16][4]uint64) {
	for pattern := range out {
		for i := range out[pattern] {
			out[pattern][i] = -uint64(pattern >> i & 1)
		}
	}
	return out
}

func scalarRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5ca1a6)) }

func weirdWords(r *rand.Rand) (w [8]uint64) {
	for i := range w {
		w[i] = testvec.WeirdUint64(r)
	}
	return w
}

func weirdScalar(r *rand.Rand) *Scalar {
	w := weirdWords(r)
	if r.IntN(4) == 0 { // just below ℓ
		return scalarOf(new(big.Int).Sub(order, big.NewInt(int64(1+r.IntN(50)))))
	}
	return scalarOf(bigWords(w[:4]...))
}

// Generate serves testing/quick.
func (Scalar) Generate(r *mathrand.Rand, _ int) reflect.Value {
	return reflect.ValueOf(*weirdScalar(scalarRand(r.Uint64())))
}

func checkScalar(t *testing.T, op string, got *Scalar, want *big.Int) {
	t.Helper()
	if got.value().Cmp(modOrder(want)) != 0 {
		t.Fatalf("%s = %x, want %x", op, got.value(), want)
	}
}

func TestScalarWide(t *testing.T) {
	edges := wideEdges()
	if len(edges) < 3000 {
		t.Fatalf("only %d edge values", len(edges))
	}
	impltest.All(t, "curve", func(t *testing.T) {
		for _, n := range edges {
			s, err := new(Scalar).SetUniformBytes(scalarBytes(n, 64))
			if err != nil {
				t.Fatal(err)
			}
			checkScalar(t, fmt.Sprintf("SetUniformBytes(%x)", n), s, new(big.Int).Set(n))
		}
		r := scalarRand(1)
		for range 5000 {
			w := weirdWords(r)
			n := bigWords(w[:]...)
			s, _ := new(Scalar).SetUniformBytes(scalarBytes(n, 64))
			checkScalar(t, fmt.Sprintf("SetUniformBytes(%x)", n), s, n)
		}
	})
}

func TestScalarArithmetic(t *testing.T) {
	var edges []*Scalar
	for i, w := range edgeWords() {
		if n := bigWords(w[:]...); n.Cmp(order) < 0 && i%7 == 0 {
			edges = append(edges, &Scalar{w})
		}
	}
	for d := int64(-3); d <= 3; d++ {
		edges = append(edges, scalarOf(big.NewInt(d)))
	}
	impltest.All(t, "curve", func(t *testing.T) {
		check := func(x, y, z *Scalar) {
			t.Helper()
			bx, by, bz := x.value(), y.value(), z.value()
			at := fmt.Sprintf("(%x, %x, %x)", bx, by, bz)
			checkScalar(t, "Add"+at, new(Scalar).Add(x, y), new(big.Int).Add(bx, by))
			checkScalar(t, "Subtract"+at, new(Scalar).Subtract(x, y), new(big.Int).Sub(bx, by))
			checkScalar(t, "Negate"+at, new(Scalar).Negate(x), new(big.Int).Neg(bx))
			checkScalar(t, "Set"+at, new(Scalar).Set(x), new(big.Int).Set(bx))
			product := new(big.Int).Mul(bx, by)
			checkScalar(t, "Multiply"+at, new(Scalar).Multiply(x, y), new(big.Int).Set(product))
			checkScalar(t, "MultiplyAdd"+at, new(Scalar).MultiplyAdd(x, y, z), product.Add(product, bz))
			if got, want := x.Equal(y) == 1, bx.Cmp(by) == 0; got != want {
				t.Fatalf("Equal%s = %v", at, got)
			}
			b := x.Bytes()
			if !bytes.Equal(b, scalarBytes(bx, 32)) {
				t.Fatalf("Bytes%s = %x", at, b)
			}
			back, err := new(Scalar).SetCanonicalBytes(b)
			if err != nil || back.Equal(x) != 1 {
				t.Fatalf("SetCanonicalBytes(%x): %v", b, err)
			}
		}
		for i, x := range edges {
			for j, y := range edges {
				check(x, y, edges[(3*i+7*j)%len(edges)])
			}
		}
		r := scalarRand(2)
		for range 2000 {
			check(weirdScalar(r), weirdScalar(r), weirdScalar(r))
		}
		// Equal compares every word.
		for i := range 256 {
			x := scalarOf(big.NewInt(0))
			x.s[i/64] |= 1 << (i % 64)
			if x.Equal(new(Scalar)) != 0 || new(Scalar).Equal(x) != 0 {
				t.Fatalf("2^%d equals 0", i)
			}
		}
	})
}

func TestScalarDecode(t *testing.T) {
	decoders := map[string]struct {
		f    func(s *Scalar, b []byte) (*Scalar, error)
		size int
	}{
		"SetUniformBytes":      {(*Scalar).SetUniformBytes, 64},
		"SetCanonicalBytes":    {(*Scalar).SetCanonicalBytes, 32},
		"SetBytesWithClamping": {(*Scalar).SetBytesWithClamping, 32},
	}
	for name, d := range decoders {
		for n := range 70 {
			s := &Scalar{[4]uint64{1, 2, 3, 4}}
			got, err := d.f(s, make([]byte, n))
			if n == d.size {
				if err != nil || got != s || s.s == [4]uint64{1, 2, 3, 4} {
					t.Errorf("%s of %d bytes: %v", name, n, err)
				}
			} else if !errors.Is(err, ErrKeyLength) || got != nil || s.s != [4]uint64{1, 2, 3, 4} {
				t.Errorf("%s of %d bytes: %v, receiver %x", name, n, err, s.s)
			}
		}
	}
	accepted, refused := 0, 0
	for _, w := range edgeWords() {
		n := bigWords(w[:]...)
		s := &Scalar{[4]uint64{1, 2, 3, 4}}
		got, err := s.SetCanonicalBytes(scalarBytes(n, 32))
		if n.Cmp(order) < 0 {
			accepted++
			if err != nil || got != s || s.value().Cmp(n) != 0 {
				t.Errorf("SetCanonicalBytes(%x) = %x, %v", n, s.s, err)
			}
		} else {
			refused++
			if !errors.Is(err, ErrNonCanonical) || got != nil || s.s != [4]uint64{1, 2, 3, 4} {
				t.Errorf("SetCanonicalBytes(%x) = %v, receiver %x", n, err, s.s)
			}
		}

		k := scalarBytes(n, 32)
		before := bytes.Clone(k)
		s.SetBytesWithClamping(k)
		if !bytes.Equal(k, before) {
			t.Error("SetBytesWithClamping changes its argument")
		}
		c := new(big.Int).Set(n)
		for _, i := range []int{0, 1, 2, 255} {
			c.SetBit(c, i, 0)
		}
		checkScalar(t, fmt.Sprintf("SetBytesWithClamping(%x)", n), s, c.SetBit(c, 254, 1))
	}
	if accepted < 500 || refused < 20 {
		t.Errorf("%d edge values are canonical, %d are not", accepted, refused)
	}
}

func TestScalarProperties(t *testing.T) {
	impltest.All(t, "curve", func(t *testing.T) {
		for name, f := range map[string]any{
			"x(y+z) = xy + xz": func(x, y, z Scalar) bool {
				l := new(Scalar).Multiply(&x, new(Scalar).Add(&y, &z))
				return l.Equal(new(Scalar).MultiplyAdd(&x, &y, new(Scalar).Multiply(&x, &z))) == 1
			},
			"(xy)z = x(yz)": func(x, y, z Scalar) bool {
				l := new(Scalar).Multiply(new(Scalar).Multiply(&x, &y), &z)
				return l.Equal(new(Scalar).Multiply(&x, new(Scalar).Multiply(&y, &z))) == 1
			},
			"x - y = x + (-y)": func(x, y Scalar) bool {
				return new(Scalar).Subtract(&x, &y).Equal(new(Scalar).Add(&x, new(Scalar).Negate(&y))) == 1
			},
			"x·y + (-x)·y = 0": func(x, y Scalar) bool {
				p := new(Scalar).Multiply(new(Scalar).Negate(&x), &y)
				return p.MultiplyAdd(&x, &y, p).Equal(new(Scalar)) == 1
			},
		} {
			if err := quick.Check(f, &quick.Config{MaxCount: 300, Rand: mathrand.New(mathrand.NewSource(3))}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

func TestScalarAliasing(t *testing.T) {
	two := map[string]func(s, x, y *Scalar) *Scalar{
		"Add":         (*Scalar).Add,
		"Subtract":    (*Scalar).Subtract,
		"Multiply":    (*Scalar).Multiply,
		"Negate":      func(s, x, _ *Scalar) *Scalar { return s.Negate(x) },
		"Set":         func(s, x, _ *Scalar) *Scalar { return s.Set(x) },
		"MultiplyAdd": func(s, x, y *Scalar) *Scalar { return s.MultiplyAdd(x, y, y) },
		"MultiplyAdd, other order": func(s, x, y *Scalar) *Scalar {
			return s.MultiplyAdd(y, y, x)
		},
	}
	impltest.All(t, "curve", func(t *testing.T) {
		r := scalarRand(4)
		for name, f := range two {
			for range 50 {
				x, y := weirdScalar(r), weirdScalar(r)
				a, b, s := *x, *y, *weirdScalar(r)
				want := f(new(Scalar), x, y).s
				if got := f(&s, &a, &b); got != &s || s.s != want || a != *x || b != *y {
					t.Fatalf("%s: %x, want %x", name, s.s, want)
				}
				if f(&a, &a, &b); a.s != want || b != *y {
					t.Fatalf("%s, s = x: %x, want %x", name, a.s, want)
				}
				a = *x
				if f(&b, &a, &b); b.s != want || a != *x {
					t.Fatalf("%s, s = y: %x, want %x", name, b.s, want)
				}
				want = f(new(Scalar), x, x).s
				if f(&a, &a, &a); a.s != want {
					t.Fatalf("%s, s = x = y: %x, want %x", name, a.s, want)
				}
			}
		}
	})
}

func TestNonAdjacentForm(t *testing.T) {
	check := func(s *Scalar, w, list, logSpan uint) {
		t.Helper()
		var all digits
		all.add(s, w, list, logSpan)
		var naf [256]int8
		for n, d := range all.at {
			if set := all.set[n/64]>>(n%64)&1 == 1; set != (d != 0) {
				t.Fatalf("width %d: digit %d of %x is %d, its bit %v", w, n, s.value(), d, set)
			}
			pos, block, l := place(uint(n), logSpan)
			if l == list {
				naf[block<<logSpan+pos] = d
			} else if d != 0 {
				t.Fatalf("width %d: digit %d of %x is of another scalar", w, n, s.value())
			}
		}
		sum, last := new(big.Int), -256
		for i := 255; i >= 0; i-- {
			sum.Lsh(sum, 1).Add(sum, big.NewInt(int64(naf[i])))
		}
		if sum.Cmp(s.value()) != 0 {
			t.Fatalf("width %d: the digits of %x sum to %x", w, s.value(), sum)
		}
		for i, d := range naf {
			if d == 0 {
				continue
			}
			if limit := 1 << (w - 1); d&1 == 0 || int(d) >= limit || int(d) <= -limit {
				t.Fatalf("width %d: digit %d of %x is %d", w, i, s.value(), d)
			}
			if i-last < int(w) {
				t.Fatalf("width %d: digits %d and %d of %x are not zero", w, last, i, s.value())
			}
			last = i
		}
	}
	r := scalarRand(5)
	for w := uint(2); w <= 8; w++ {
		for _, e := range edgeWords() {
			if bigWords(e[:]...).Cmp(order) < 0 {
				check(&Scalar{e}, w, 0, 8)
				check(&Scalar{e}, w, 1, 5)
			}
		}
		for range 500 {
			check(weirdScalar(r), w, uint(r.IntN(2)), uint(r.IntN(9)))
		}
	}
}

func TestScalarRadix16(t *testing.T) {
	check := func(k [4]uint64) {
		t.Helper()
		k[3] &= 1<<63 - 1
		n := bigWords(k[:]...)
		d := signedRadix16((*[32]byte)(scalarBytes(n, 32)))
		sum := new(big.Int)
		for i := 63; i >= 0; i-- {
			v := d.at(i)
			if v < -8 || v > 8 || v > 7 && i < 63 || v < 0 && i == 63 {
				t.Fatalf("digit %d of %x is %d", i, n, v)
			}
			sum.Lsh(sum, 4).Add(sum, big.NewInt(v))
		}
		if sum.Cmp(n) != 0 {
			t.Fatalf("the digits of %x sum to %x", n, sum)
		}
	}
	for _, w := range edgeWords() {
		check(w)
	}
	r := scalarRand(6)
	for range 2000 {
		w := weirdWords(r)
		check([4]uint64(w[:4]))
	}
}

// The hash over the results of operations on the scalars of one SHAKE stream.
// The constants hold for every implementation, and for filippo.io/edwards25519.
func TestScalarAccumulated(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want string
	}{
		{100, "b069761e12a1f2ecd2dc0f7b98826df4b63661a4333bc37ca7c636ef7ab59695"},
		{10_000, "27da60fc0813f075c044e4037b752365bc259c807f86d2c5abbcc75b16e40d5b"},
		{1_000_000, "1f46efd94bdde10594a4be7668f433507eef627e7f0cde75d82be17e5a14c42c"},
	} {
		if tc.n == 1_000_000 && os.Getenv("SIGCORE_TEST_LONG") != "1" || tc.n > 100 && testing.Short() {
			continue
		}
		impltest.All(t, "curve", func(t *testing.T) {
			if got := accumulateScalars(tc.n, scalarChain); got != tc.want {
				t.Errorf("%d cases: %s, want %s", tc.n, got, tc.want)
			}
		})
		if got := accumulateScalars(tc.n, peerScalarChain); got != tc.want {
			t.Errorf("%d cases of the peer: %s, want %s", tc.n, got, tc.want)
		}
	}
}

func accumulateScalars(n int, f func(wide, clamped []byte, out *sha3.SHAKE)) string {
	in, out := sha3.NewSHAKE128(), sha3.NewSHAKE128()
	in.Write([]byte("sigcore scalar"))
	var b [96]byte
	for range n {
		in.Read(b[:])
		f(b[:64], b[64:], out)
	}
	var sum [32]byte
	out.Read(sum[:])
	return hex.EncodeToString(sum[:])
}

func scalarChain(wide, clamped []byte, out *sha3.SHAKE) {
	x, _ := new(Scalar).SetUniformBytes(wide)
	y, _ := new(Scalar).SetBytesWithClamping(clamped)
	var z Scalar
	z.Subtract(x, y)
	z.MultiplyAdd(x, y, &z)
	out.Write(z.Bytes())
	z.Multiply(&z, y)
	z.Add(&z, x)
	z.Negate(&z)
	out.Write(z.Bytes())
}

func peerScalarChain(wide, clamped []byte, out *sha3.SHAKE) {
	x, _ := new(peer.Scalar).SetUniformBytes(wide)
	y, _ := new(peer.Scalar).SetBytesWithClamping(clamped)
	var z peer.Scalar
	z.Subtract(x, y)
	z.MultiplyAdd(x, y, &z)
	out.Write(z.Bytes())
	z.Multiply(&z, y)
	z.Add(&z, x)
	z.Negate(&z)
	out.Write(z.Bytes())
}

func TestScalarAllocations(t *testing.T) {
	impltest.All(t, "curve", func(t *testing.T) {
		wide, b := make([]byte, 64), make([]byte, 32)
		if n := testing.AllocsPerRun(20, func() {
			var x, y Scalar
			x.SetUniformBytes(wide)
			y.SetBytesWithClamping(b)
			x.SetCanonicalBytes(b)
			x.Add(&x, &y)
			x.Subtract(&x, &y)
			x.Negate(&x)
			x.Multiply(&x, &y)
			x.MultiplyAdd(&x, &y, &x)
			y.Set(&x)
			c := x.Bytes()
			var d digits
			d.add(&x, 5, 0, 8)
			b[0] = c[0] ^ byte(d.at[0])&byte(x.Equal(&y))
			clear(b)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
