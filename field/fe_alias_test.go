package field

import (
	"reflect"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

var oneArgument = map[string]func(v, x *Element) *Element{
	"Absolute": (*Element).Absolute,
	"Invert":   (*Element).Invert,
	"Mult32":   func(v, x *Element) *Element { return v.Mult32(x, 0xfffffffd) },
	"Negate":   (*Element).Negate,
	"Pow22523": (*Element).Pow22523,
	"Set":      (*Element).Set,
	"Square":   (*Element).Square,
	"SquareN":  func(v, x *Element) *Element { return v.SquareN(x, 5) },
}

var twoArguments = map[string][]func(v, x, y *Element) *Element{
	"Add":      {(*Element).Add},
	"Multiply": {(*Element).Multiply},
	"Select": {
		func(v, x, y *Element) *Element { return v.Select(x, y, 0) },
		func(v, x, y *Element) *Element { return v.Select(x, y, 1) },
	},
	"SqrtRatio": {func(v, x, y *Element) *Element { r, _ := v.SqrtRatio(x, y); return r }},
	"Subtract":  {(*Element).Subtract},
}

// Methods whose only other argument is read, or that have none.
var noAliasing = []string{
	"Bytes", "BytesInto", "Equal", "IsNegative", "Limbs", "One", "SetBytes", "SetCanonicalBytes", "SetWideBytes",
	"SetWords", "Swap", "Words", "Zero",
	"Generate", // of the tests
}

func TestAliasing(t *testing.T) {
	typ := reflect.TypeFor[*Element]()
	if n := len(oneArgument) + len(twoArguments) + len(noAliasing); n != typ.NumMethod() {
		t.Errorf("the tables have %d methods, Element has %d", n, typ.NumMethod())
	}
	for m := range typ.Methods() {
		_, one := oneArgument[m.Name]
		_, two := twoArguments[m.Name]
		none := false
		for _, n := range noAliasing {
			none = none || n == m.Name
		}
		if !one && !two && !none {
			t.Errorf("%s is in no table", m.Name)
		}
	}

	impltest.All(t, "field", func(t *testing.T) {
		r := newRand(9)
		same := func(name, how string, got, v *Element, want [5]uint64) {
			t.Helper()
			if got != v || v.l != want {
				t.Fatalf("%s with %s: %x, want %x; the receiver is returned: %v", name, how, v.l, want, got == v)
			}
		}
		for range 100 {
			x, y, garbage := weird(r), weird(r), weird(r)
			for name, f := range oneArgument {
				a, v := *x, *garbage
				same(name, "distinct operands", f(&v, &a), &v, f(new(Element), x).l)
				if a.l != x.l {
					t.Fatalf("%s changes its argument", name)
				}
				same(name, "v = x", f(&a, &a), &a, v.l)
			}
			for name, variants := range twoArguments {
				for _, f := range variants {
					a, b, v := *x, *y, *garbage
					same(name, "distinct operands", f(&v, &a, &b), &v, f(new(Element), x, y).l)
					if a.l != x.l || b.l != y.l {
						t.Fatalf("%s changes an argument", name)
					}
					same(name, "v = x", f(&a, &a, &b), &a, v.l)
					a = *x
					same(name, "v = y", f(&b, &a, &b), &b, v.l)
					b = *x
					want := f(new(Element), &a, &b).l
					same(name, "x = y", f(&v, &a, &a), &v, want)
					same(name, "v = x = y", f(&a, &a, &a), &a, want)
				}
			}
			for cond := range 2 {
				a := *x
				a.Swap(&a, cond)
				same("Swap", "itself", &a, &a, x.l)
			}
		}
	})
}
