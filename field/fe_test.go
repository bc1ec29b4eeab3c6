package field

import (
	"bytes"
	"crypto/sha3"
	"encoding/hex"
	"errors"
	"math/big"
	mathrand "math/rand"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"testing/quick"

	peer "filippo.io/edwards25519/field"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// p is 2^255 - 19.
var p = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))

const maxLimb = 1<<52 - 1

// element returns the element with the given limbs.
func element(l ...uint64) *Element {
	v := new(Element)
	copy(v.l[:], l)
	return v
}

// fromBig returns n mod p with the canonical limbs.
func fromBig(n *big.Int) *Element {
	var b [32]byte
	new(big.Int).Mod(n, p).FillBytes(b[:])
	reverse(b[:])
	v, err := new(Element).SetCanonicalBytes(b[:])
	if err != nil {
		panic(err)
	}
	return v
}

func reverse(b []byte) {
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
}

// bigLimbs returns the number that the limbs stand for, not reduced.
func bigLimbs(l *[5]uint64) *big.Int {
	n := new(big.Int)
	for i := 4; i >= 0; i-- {
		n.Lsh(n, 51).Add(n, new(big.Int).SetUint64(l[i]))
	}
	return n
}

// value returns the value of v mod p, by its limbs.
func (v *Element) value() *big.Int { n := bigLimbs(&v.l); return n.Mod(n, p) }

// littleEndian returns the number that b encodes.
func littleEndian(b []byte) *big.Int {
	r := bytes.Clone(b)
	reverse(r)
	return new(big.Int).SetBytes(r)
}

// isInBounds reports whether every limb is below 2^51 + slack, slack being at
// most 2^51.
func isInBounds(v *Element, slack uint64) bool {
	for _, l := range v.l {
		if l >= 1<<51+slack {
			return false
		}
	}
	return true
}

// Any limbs are good for a bound of 2^52.
const anySlack = 1 << 51

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x5167c07e)) }

func weird(r *rand.Rand) *Element {
	v := new(Element)
	for i := range v.l {
		v.l[i] = testvec.WeirdLimb(r, 52)
	}
	return v
}

// Generate serves testing/quick: half of the limbs are near a limit.
func (Element) Generate(r *mathrand.Rand, _ int) reflect.Value {
	return reflect.ValueOf(*weird(newRand(r.Uint64())))
}

// edges are elements whose limbs or values are at a limit: every pattern of
// zero and largest limbs, and numbers near 0, p, 2p and powers of two in
// several forms.
func edges() []*Element {
	var out []*Element
	for pattern := range 1 << 5 {
		v := new(Element)
		for i := range v.l {
			v.l[i] = uint64(pattern>>i&1) * maxLimb
		}
		out = append(out, v)
	}
	for _, top := range []uint64{1<<51 - 1, 1 << 51} {
		for pattern := range 1 << 5 {
			v := new(Element)
			for i := range v.l {
				v.l[i] = uint64(pattern>>i&1) * top
			}
			out = append(out, v)
		}
	}
	for d := uint64(0); d < 40; d++ {
		out = append(out,
			element(d),
			element(1<<51-1-d, 1<<51-1, 1<<51-1, 1<<51-1, 1<<51-1), // 2^255 - 1 - d
			element(1<<51+d, 1<<51-1, 1<<51-1, 1<<51-1, 1<<51-1),   // 2^255 + d
			element(1<<52-1-d, 1<<52-2, 1<<52-2, 1<<52-2, 1<<52-2), // near 2p
		)
	}
	for i := range uint(256) {
		out = append(out, fromBig(new(big.Int).Lsh(big.NewInt(1), i)))
	}
	for _, b := range testvec.EdgeBytes32() {
		v, _ := new(Element).SetBytes(b[:])
		out = append(out, v, new(Element).SetWords((*[4]uint64)(words(b[:]))))
	}
	return out
}

func words(b []byte) []uint64 { w := loadWords(b); return w[:] }

var mult32Factors = []uint32{0, 1, 2, 19, 121665, 121666, 1 << 31, 1<<32 - 1}

// checkPair compares every operation on x and y with math/big, and checks the
// bounds that the package documentation states.
func checkPair(t *testing.T, x, y *Element) {
	t.Helper()
	bx, by := x.value(), y.value()
	check := func(op string, got *Element, slack uint64, want *big.Int) {
		t.Helper()
		want.Mod(want, p)
		if got.value().Cmp(want) != 0 {
			t.Fatalf("%s(%x, %x) = %x, want %x", op, x.l, y.l, got.l, want)
		}
		if !isInBounds(got, slack) {
			t.Fatalf("%s(%x, %x) = %x, beyond 2^51 + %#x", op, x.l, y.l, got.l, slack)
		}
	}
	check("Add", new(Element).Add(x, y), 1<<6, new(big.Int).Add(bx, by))
	check("Subtract", new(Element).Subtract(x, y), 1<<7, new(big.Int).Sub(bx, by))
	check("Multiply", new(Element).Multiply(x, y), 1<<18, new(big.Int).Mul(bx, by))
	check("Select 1", new(Element).Select(x, y, 1), anySlack, new(big.Int).Set(bx))
	check("Select 0", new(Element).Select(x, y, 0), anySlack, new(big.Int).Set(by))
	u, v := *x, *y
	u.Swap(&v, 0)
	check("Swap 0", &u, anySlack, new(big.Int).Set(bx))
	u.Swap(&v, 1)
	check("Swap 1", &u, anySlack, new(big.Int).Set(by))
	check("Swap 1", &v, anySlack, new(big.Int).Set(bx))
	if got, want := x.Equal(y), boolInt(bx.Cmp(by) == 0); got != want {
		t.Fatalf("Equal(%x, %x) = %d", x.l, y.l, got)
	}
}

// checkOne is checkPair for the operations on one element.
func checkOne(t *testing.T, x *Element) {
	t.Helper()
	bx := x.value()
	check := func(op string, got *Element, slack uint64, want *big.Int) {
		t.Helper()
		want.Mod(want, p)
		if got.value().Cmp(want) != 0 {
			t.Fatalf("%s(%x) = %x, want %x", op, x.l, got.l, want)
		}
		if !isInBounds(got, slack) {
			t.Fatalf("%s(%x) = %x, beyond 2^51 + %#x", op, x.l, got.l, slack)
		}
	}
	odd := bx.Bit(0) == 1
	check("Set", new(Element).Set(x), anySlack, new(big.Int).Set(bx))
	check("Square", new(Element).Square(x), 1<<18, new(big.Int).Mul(bx, bx))
	check("Negate", new(Element).Negate(x), 1<<7, new(big.Int).Neg(bx))
	abs := new(big.Int).Set(bx)
	if odd {
		abs.Neg(abs)
	}
	check("Absolute", new(Element).Absolute(x), anySlack, abs)
	for _, n := range []int{0, 1, 2, 5, 100} {
		e := new(big.Int).Lsh(big.NewInt(1), uint(n))
		slack := uint64(1 << 18)
		if n == 0 {
			slack = anySlack
		}
		check("SquareN", new(Element).SquareN(x, n), slack, e.Exp(bx, e, p))
	}
	for _, f := range mult32Factors {
		check("Mult32", new(Element).Mult32(x, f), 1<<38, new(big.Int).Mul(bx, big.NewInt(int64(f))))
	}
	check("Invert", new(Element).Invert(x), 1<<18, new(big.Int).Exp(bx, new(big.Int).Sub(p, big.NewInt(2)), p))
	e := new(big.Int).Rsh(p, 3) // (p-5)/8, as p is 5 mod 8
	check("Pow22523", new(Element).Pow22523(x), 1<<18, e.Exp(bx, e, p))
	if got := x.IsNegative(); got != boolInt(odd) {
		t.Fatalf("IsNegative(%x) = %d", x.l, got)
	}

	b := x.Bytes()
	if n := littleEndian(b); n.Cmp(bx) != 0 {
		t.Fatalf("Bytes(%x) = %x, want %x", x.l, n, bx)
	}
	back, err := new(Element).SetCanonicalBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	check("SetCanonicalBytes", back, 0, new(big.Int).Set(bx))
	w := x.Words()
	check("SetWords", new(Element).SetWords(&w), 0, new(big.Int).Set(bx))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestEdges(t *testing.T) {
	all := edges()
	if len(all) < 600 {
		t.Fatalf("only %d edge values", len(all))
	}
	impltest.All(t, "field", func(t *testing.T) {
		for _, x := range all {
			checkOne(t, x)
		}
		step := 1
		if testing.Short() {
			step = 17
		}
		for i, x := range all {
			for j := i % step; j < len(all); j += 3 * step {
				checkPair(t, x, all[j])
			}
		}
		// Every pattern of largest and zero limbs against every other.
		for _, x := range all[:32] {
			for _, y := range all[:32] {
				checkPair(t, x, y)
			}
		}
	})
}

func TestWeird(t *testing.T) {
	impltest.All(t, "field", func(t *testing.T) {
		r := newRand(1)
		for range 2000 {
			checkPair(t, weird(r), weird(r))
		}
		for range 200 {
			checkOne(t, weird(r))
		}
	})
}

// The method set and the results of filippo.io/edwards25519/field.
func TestPeer(t *testing.T) {
	impltest.All(t, "field", func(t *testing.T) {
		r := newRand(2)
		for range 500 {
			bx, by := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
			x, err := new(Element).SetBytes(bx[:])
			px, perr := new(peer.Element).SetBytes(bx[:])
			if err != nil || perr != nil {
				t.Fatal(err, perr)
			}
			y, _ := new(Element).SetBytes(by[:])
			py, _ := new(peer.Element).SetBytes(by[:])
			check := func(op string, got *Element, want *peer.Element) {
				t.Helper()
				if !bytes.Equal(got.Bytes(), want.Bytes()) {
					t.Fatalf("%s(%x, %x) = %x, want %x", op, bx, by, got.Bytes(), want.Bytes())
				}
			}
			check("SetBytes", x, px)
			check("Add", new(Element).Add(x, y), new(peer.Element).Add(px, py))
			check("Subtract", new(Element).Subtract(x, y), new(peer.Element).Subtract(px, py))
			check("Multiply", new(Element).Multiply(x, y), new(peer.Element).Multiply(px, py))
			check("Square", new(Element).Square(x), new(peer.Element).Square(px))
			check("Negate", new(Element).Negate(x), new(peer.Element).Negate(px))
			check("Absolute", new(Element).Absolute(x), new(peer.Element).Absolute(px))
			check("Invert", new(Element).Invert(x), new(peer.Element).Invert(px))
			check("Pow22523", new(Element).Pow22523(x), new(peer.Element).Pow22523(px))
			check("Mult32", new(Element).Mult32(x, 121666), new(peer.Element).Mult32(px, 121666))
			got, is := new(Element).SqrtRatio(x, y)
			want, wantIs := new(peer.Element).SqrtRatio(px, py)
			check("SqrtRatio", got, want)
			if is != wantIs || x.Equal(y) != px.Equal(py) || x.IsNegative() != px.IsNegative() {
				t.Fatalf("a flag differs for %x, %x", bx, by)
			}
			wide := append(bx[:], by[:]...)
			got, _ = new(Element).SetWideBytes(wide)
			want, _ = new(peer.Element).SetWideBytes(wide)
			check("SetWideBytes", got, want)
		}
	})
}

func TestSqrtRatio(t *testing.T) {
	if v := new(Element).Square(sqrtM1); v.Equal(new(Element).Negate(new(Element).One())) != 1 {
		t.Fatal("sqrtM1 is no square root of -1")
	}
	impltest.All(t, "field", func(t *testing.T) {
		r := newRand(3)
		zero, one := new(Element), new(Element).One()
		for _, tc := range []struct {
			u, v, want *Element
			square     int
		}{
			{zero, zero, zero, 1},
			{zero, one, zero, 1},
			{one, zero, zero, 0},
			{one, one, new(Element).Negate(one), 1}, // p-1 is even, 1 is odd
			{element(4), one, element(2), 1},
			{element(1), element(4), new(Element).Absolute(new(Element).Invert(element(2))), 1},
			{new(Element).Negate(one), one, new(Element).Absolute(sqrtM1), 1},
		} {
			got, square := new(Element).SqrtRatio(tc.u, tc.v)
			if got.Equal(tc.want) != 1 || square != tc.square {
				t.Errorf("SqrtRatio(%x, %x) = %x, %d", tc.u.Bytes(), tc.v.Bytes(), got.Bytes(), square)
			}
		}
		squares := 0
		for range 300 {
			u, v := weird(r), weird(r)
			q := new(Element).Multiply(u, new(Element).Invert(v))
			isSquare := big.Jacobi(q.value(), p) >= 0 && !(v.value().Sign() == 0 && u.value().Sign() != 0)
			x, was := new(Element).SqrtRatio(u, v)
			if was != boolInt(isSquare) {
				t.Fatalf("SqrtRatio(%x, %x): square is %d", u.l, v.l, was)
			}
			if x.IsNegative() == 1 {
				t.Fatalf("SqrtRatio(%x, %x) is negative", u.l, v.l)
			}
			if !isSquare {
				q.Multiply(q, sqrtM1)
			}
			if new(Element).Square(x).Equal(q) != 1 {
				t.Fatalf("SqrtRatio(%x, %x) = %x, not a root", u.l, v.l, x.l)
			}
			squares += was
		}
		if squares < 60 || squares > 260 {
			t.Errorf("%d of 300 were squares: the other case is hardly tested", squares)
		}
	})
}

func TestInvertBatch(t *testing.T) {
	impltest.All(t, "field", func(t *testing.T) {
		r := newRand(4)
		for n := range 20 {
			in, out := make([]Element, n), make([]Element, n)
			for i := range in {
				switch r.IntN(4) {
				case 0: // one of the forms of zero
					in[i] = *element(0)
					if r.IntN(2) == 0 {
						in[i] = *element(1<<51-19, 1<<51-1, 1<<51-1, 1<<51-1, 1<<51-1)
					}
				default:
					in[i] = *weird(r)
				}
				out[i] = *weird(r)
			}
			before := append([]Element(nil), in...)
			InvertBatch(out, in)
			for i := range in {
				if in[i].l != before[i].l {
					t.Fatalf("n = %d: in[%d] has changed", n, i)
				}
				if want := new(Element).Invert(&in[i]); out[i].Equal(want) != 1 {
					t.Fatalf("n = %d: the inverse of %x is %x", n, in[i].l, out[i].l)
				}
				if !isInBounds(&out[i], 1<<18) {
					t.Fatalf("n = %d: out of bounds: %x", n, out[i].l)
				}
			}
		}
	})
	mustPanic(t, "lengths", func() { InvertBatch(make([]Element, 2), make([]Element, 3)) })
	v := make([]Element, 2)
	mustPanic(t, "in place", func() { InvertBatch(v, v) })
}

func TestSquareNPanics(t *testing.T) {
	mustPanic(t, "negative count", func() { new(Element).SquareN(new(Element), -1) })
}

func mustPanic(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}

func TestDecode(t *testing.T) {
	decoders := map[string]struct {
		f    func(v *Element, b []byte) (*Element, error)
		size int
	}{
		"SetBytes":          {(*Element).SetBytes, 32},
		"SetCanonicalBytes": {(*Element).SetCanonicalBytes, 32},
		"SetWideBytes":      {(*Element).SetWideBytes, 64},
	}
	for name, d := range decoders {
		for n := range 130 {
			v := element(1, 2, 3, 4, 5)
			got, err := d.f(v, make([]byte, n))
			if n == d.size {
				if err != nil || got != v || v.Equal(new(Element)) != 1 {
					t.Errorf("%s of %d zero bytes: %v", name, n, err)
				}
				continue
			}
			if !errors.Is(err, ErrLength) || got != nil || v.l != [5]uint64{1, 2, 3, 4, 5} {
				t.Errorf("%s of %d bytes: %v, receiver %x", name, n, err, v.l)
			}
		}
	}

	limit := new(big.Int).Lsh(big.NewInt(1), 255)
	accepted := 0
	for _, b := range testvec.EdgeBytes32() {
		n := littleEndian(b[:])
		v, err := new(Element).SetBytes(b[:])
		if err != nil || v.value().Cmp(new(big.Int).Mod(new(big.Int).Mod(n, limit), p)) != 0 || !isInBounds(v, 0) {
			t.Errorf("SetBytes(%x) = %x, %v", b, v.l, err)
		}
		c := element(9)
		got, err := c.SetCanonicalBytes(b[:])
		if n.Cmp(p) < 0 {
			accepted++
			if err != nil || got != c || c.value().Cmp(n) != 0 {
				t.Errorf("SetCanonicalBytes(%x) = %x, %v", b, c.l, err)
			}
		} else if !errors.Is(err, ErrNonCanonical) || got != nil || c.l != [5]uint64{9} {
			t.Errorf("SetCanonicalBytes(%x) = %v, receiver %x", b, err, c.l)
		}
	}
	if accepted < 20 {
		t.Errorf("only %d canonical edge values", accepted)
	}

	r := newRand(5)
	for i := range 2000 {
		var b [64]byte
		lo, hi := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
		copy(b[:], lo[:])
		copy(b[32:], hi[:])
		if i == 0 {
			b = [64]byte(bytes.Repeat([]byte{0xff}, 64))
		}
		v, err := new(Element).SetWideBytes(b[:])
		if err != nil || v.value().Cmp(new(big.Int).Mod(littleEndian(b[:]), p)) != 0 || !isInBounds(v, 1<<11) {
			t.Fatalf("SetWideBytes(%x) = %x, %v", b, v.l, err)
		}
		w := loadWords(lo[:])
		v.SetWords(&w)
		if bigLimbs(&v.l).Cmp(littleEndian(lo[:])) != 0 || !isInBounds(v, anySlack) {
			t.Fatalf("SetWords(%x) = %x", lo, v.l)
		}
	}
}

func TestProperties(t *testing.T) {
	impltest.All(t, "field", func(t *testing.T) {
		one := new(Element).One()
		for name, f := range map[string]any{
			"x(y+z) = xy + xz": func(x, y, z Element) bool {
				l := new(Element).Multiply(&x, new(Element).Add(&y, &z))
				r := new(Element).Add(new(Element).Multiply(&x, &y), new(Element).Multiply(&x, &z))
				return l.Equal(r) == 1
			},
			"(xy)z = x(yz)": func(x, y, z Element) bool {
				l := new(Element).Multiply(new(Element).Multiply(&x, &y), &z)
				r := new(Element).Multiply(&x, new(Element).Multiply(&y, &z))
				return l.Equal(r) == 1
			},
			"xy = yx": func(x, y Element) bool {
				return new(Element).Multiply(&x, &y).Equal(new(Element).Multiply(&y, &x)) == 1
			},
			"(x-y)+y = x": func(x, y Element) bool {
				v := new(Element).Subtract(&x, &y)
				return v.Add(v, &y).Equal(&x) == 1
			},
			"x·x = x²": func(x Element) bool {
				return new(Element).Multiply(&x, &x).Equal(new(Element).Square(&x)) == 1
			},
			"SquareN = n squares": func(x Element, n uint8) bool {
				v := new(Element).Set(&x)
				for range n {
					v.Square(v)
				}
				return new(Element).SquareN(&x, int(n)).Equal(v) == 1
			},
			"x/x = 1": func(x Element) bool {
				v := new(Element).Invert(&x)
				return x.Equal(new(Element)) == 1 || v.Multiply(v, &x).Equal(one) == 1
			},
			"x + (-x) = 0": func(x Element) bool {
				return new(Element).Add(&x, new(Element).Negate(&x)).Equal(new(Element)) == 1
			},
			"decode(encode(x)) = x": func(x Element) bool {
				v, err := new(Element).SetCanonicalBytes(x.Bytes())
				return err == nil && v.Equal(&x) == 1
			},
		} {
			if err := quick.Check(f, &quick.Config{MaxCount: 300, Rand: mathrand.New(mathrand.NewSource(6))}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// The hash over the results of a chain of operations on the elements of one
// SHAKE stream. The constants hold for every implementation: the chain run with
// filippo.io/edwards25519/field gives the same.
func TestAccumulated(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want string
	}{
		{100, accumulated100},
		{10_000, accumulated10k},
		{1_000_000, accumulated1M},
	} {
		if tc.n == 1_000_000 && os.Getenv("SIGCORE_TEST_LONG") != "1" || tc.n > 100 && testing.Short() {
			continue
		}
		impltest.All(t, "field", func(t *testing.T) {
			if got := accumulate(tc.n, chain); got != tc.want {
				t.Errorf("%d cases: %s, want %s", tc.n, got, tc.want)
			}
		})
		if got := accumulate(tc.n, peerChain); got != tc.want {
			t.Errorf("%d cases of the peer: %s, want %s", tc.n, got, tc.want)
		}
	}
}

const (
	accumulated100 = "c17e604cffd4d9df0e9034492ada8ee07742a4f3dc7f2e25d0fbdc09210680d1"
	accumulated10k = "eb87ef39d1b61b65a5364dd69a734b56bf6e6fcdb550914adc6d317a3469e65a"
	accumulated1M  = "adde47bb74bd0300324f0a3fefcbe9eff19588fa8fdd475a6b07f7a29bd17938"
)

func accumulate(n int, f func(x, y []byte, out *sha3.SHAKE)) string {
	in, out := sha3.NewSHAKE128(), sha3.NewSHAKE128()
	in.Write([]byte("sigcore field"))
	var b [96]byte
	for range n {
		in.Read(b[:])
		f(b[:32], b[32:], out)
	}
	var sum [32]byte
	out.Read(sum[:])
	return hex.EncodeToString(sum[:])
}

func chain(b, wide []byte, out *sha3.SHAKE) {
	x, _ := new(Element).SetBytes(b)
	y, _ := new(Element).SetWideBytes(wide)
	var s, d, m, r Element
	s.Add(x, y)
	d.Subtract(x, y)
	m.Multiply(&s, &d)
	out.Write(m.Bytes())
	m.Square(&m)
	m.Mult32(&m, uint32(b[0])<<24|121666)
	m.Negate(&m)
	out.Write(m.Bytes())
	_, was := r.SqrtRatio(&m, y)
	out.Write(r.Bytes())
	s.Invert(&s)
	s.Absolute(&s)
	s.Select(&s, &d, was)
	out.Write(append(s.Bytes(), byte(was)))
}

func peerChain(b, wide []byte, out *sha3.SHAKE) {
	x, _ := new(peer.Element).SetBytes(b)
	y, _ := new(peer.Element).SetWideBytes(wide)
	var s, d, m, r peer.Element
	s.Add(x, y)
	d.Subtract(x, y)
	m.Multiply(&s, &d)
	out.Write(m.Bytes())
	m.Square(&m)
	m.Mult32(&m, uint32(b[0])<<24|121666)
	m.Negate(&m)
	out.Write(m.Bytes())
	_, was := r.SqrtRatio(&m, y)
	out.Write(r.Bytes())
	s.Invert(&s)
	s.Absolute(&s)
	s.Select(&s, &d, was)
	out.Write(append(s.Bytes(), byte(was)))
}

func TestAllocations(t *testing.T) {
	impltest.All(t, "field", func(t *testing.T) {
		x, y := weird(newRand(7)), weird(newRand(8))
		in, wide := x.Bytes(), make([]byte, 64)
		batch, inverses := make([]Element, 8), make([]Element, 8)
		var buf [32]byte
		if n := testing.AllocsPerRun(20, func() {
			var v, u Element
			v.One()
			v.Add(x, &v)
			v.Subtract(&v, y)
			v.Negate(&v)
			v.Multiply(&v, x)
			v.Square(&v)
			v.SquareN(&v, 3)
			v.Mult32(&v, 121666)
			v.Invert(&v)
			v.Pow22523(&v)
			v.Absolute(&v)
			u.SqrtRatio(&v, x)
			u.Select(&u, &v, u.IsNegative())
			u.Swap(&v, u.Equal(&v))
			v.BytesInto(&buf)
			b := v.Bytes()
			buf[0] ^= b[0]
			w := v.Words()
			v.SetWords(&w)
			v.SetBytes(in)
			v.SetCanonicalBytes(in)
			u.SetWideBytes(wide)
			InvertBatch(inverses, batch)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
