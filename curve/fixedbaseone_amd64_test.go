//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/testvec"
)

// The kernel by name, on the table of the base point, whose sums have coordinates
// that do not depend on the order of additions once Z is divided out; and on
// others, lane by lane, whose additions the test repeats in the order of the
// kernel.
func TestFixedBaseIFMA(t *testing.T) {
	needIFMA(t, false)
	r := rand.New(rand.NewPCG(47, 1))
	check := func(table *[64][8]packedNiels, d radix16) {
		t.Helper()
		var out [4][5][4]uint64
		fixedBaseIFMA(&out, table, (*[4]uint64)(&d))
		for lane := range 4 {
			var c [4][5]uint64
			for i := range out {
				for j, l := range out[i] {
					c[i][j] = l[lane]
					if l[lane] >= 1<<51+1<<18 {
						t.Fatalf("digits %x: a limb of coordinate %d is %x, out of bounds", d, i, l[lane])
					}
				}
			}
			// The additions of rows 16·lane to 16·lane + 15, from the identity.
			var want Point
			var q niels
			var sum completed
			want.identity()
			for i := 16 * lane; i < 16*lane+16; i++ {
				selectNiels(q.yPlusX.Limbs(), q.yMinusX.Limbs(), q.t2d.Limbs(), &table[i], d.at(i))
				sum.addNiels(&want, &q)
				sum.point(&want)
			}
			if !pointOfLimbs(&c).sameCoordinates(&want) {
				t.Fatalf("digits %x: lane %d is not what its rows give", d, lane)
			}
		}
		if table == &fixedBaseTable {
			var got, want Point
			multiplyBaseIFMA(&got, &d)
			fixedBaseGeneric(&want, table, &d)
			var xy, zt field.Element
			if got.Equal(&want) == 0 || xy.Multiply(&got.x, &got.y).Equal(zt.Multiply(&got.z, &got.t)) == 0 {
				t.Fatalf("digits %x: %x, not the point of the twin", d, got.Bytes())
			}
		}
	}
	n := 500
	switch {
	case longTests():
		n = 200_000
	case testing.Short():
		n = 40
	}
	weird := weirdTable(r)
	for i := range n {
		if i%100 == 99 {
			weird = weirdTable(r)
		}
		d := radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r)}
		d[3] = d[3]&^(0xf<<60) | r.Uint64N(9)<<60
		if i < 16 { // the same digit everywhere
			w := uint64(i) * 0x1111111111111111
			d = radix16{w, w, w, w&^(0xf<<60) | min(uint64(i), 8)<<60}
		}
		check(weird, d)
		check(&fixedBaseTable, d)
	}
	if noticed, differs := fixedBaseIFMAMutant(fixedBaseIFMA); noticed || differs {
		t.Error("the self-test fails")
	}
	for lane := range 4 {
		if noticed, _ := fixedBaseIFMAMutant(func(out *[4][5][4]uint64, table *[64][8][12]uint64, digits *[4]uint64) {
			fixedBaseIFMA(out, table, digits)
			out[lane][lane][lane] ^= 1 << 21
		}); !noticed {
			t.Errorf("a lie in lane %d is not noticed", lane)
		}
	}
}

func fixedBaseIFMAMutant(f func(out *[4][5][4]uint64, table *[64][8][12]uint64, digits *[4]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(48, 1))
	for range 20 {
		d := [4]uint64{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), r.Uint64() >> 4}
		var got, want [4][5][4]uint64
		f(&got, &fixedBaseTable, &d)
		fixedBaseIFMA(&want, &fixedBaseTable, &d)
		for lane := range 4 {
			var g, w [4][5]uint64
			for i := range got {
				for j := range got[i] {
					g[i][j], w[i][j] = got[i][j][lane], want[i][j][lane]
				}
			}
			differs = differs || !pointOfLimbs(&g).sameCoordinates(pointOfLimbs(&w))
		}
	}
	return !selfTestFixedBaseOne(f), differs
}
