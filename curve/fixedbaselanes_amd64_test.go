//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// A laneMultiplier runs a kernel on digits, and returns the coordinates in limbs.
type laneMultiplier func(table *[64][8]packedNiels, digits []radix16) [][4][5]uint64

func multiplierOf8(f func(out *[4][5][8]uint64, table *[64][8][12]uint64, digits *[4][8]uint64)) laneMultiplier {
	return func(table *[64][8]packedNiels, digits []radix16) [][4][5]uint64 {
		var d [4][8]uint64
		var out [4][5][8]uint64
		for lane := range 8 {
			for j := range d {
				d[j][lane] = digits[lane][j]
			}
		}
		f(&out, table, &d)
		p := make([][4][5]uint64, 8)
		for lane := range p {
			for i := range out {
				for j := range out[i] {
					p[lane][i][j] = out[i][j][lane]
				}
			}
		}
		return p
	}
}

func testFixedBaseLanes(t *testing.T, lanes int, f laneMultiplier) {
	r := rand.New(rand.NewPCG(43, uint64(lanes)))
	n := 300
	switch {
	case longTests():
		n = 100_000
	case testing.Short():
		n = 20
	}
	weird := weirdTable(r)
	digits := make([]radix16, lanes)
	for round := range n {
		if round%50 == 49 {
			weird = weirdTable(r)
		}
		for lane := range digits {
			d := radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r)}
			d[3] = d[3]&^(0xf<<60) | r.Uint64N(9)<<60
			if i := uint64(round*lanes + lane); i < 16 { // the same digit everywhere
				w := i * 0x1111111111111111
				d = radix16{w, w, w, w&^(0xf<<60) | min(i, 8)<<60}
			}
			digits[lane] = d
		}
		for _, table := range []*[64][8]packedNiels{weird, &fixedBaseTable} {
			for lane, p := range f(table, digits) {
				for _, c := range p {
					for _, l := range c {
						if l >= 1<<51+1<<18 {
							t.Fatalf("digits %x: a limb of %x is out of bounds", digits[lane], c)
						}
					}
				}
				var got, want Point
				*got.x.Limbs(), *got.y.Limbs(), *got.z.Limbs(), *got.t.Limbs() = p[0], p[1], p[2], p[3]
				fixedBaseGeneric(&want, table, &digits[lane])
				if !got.sameCoordinates(&want) {
					t.Fatalf("lane %d, digits %x: %x, not what the twin gives", lane, digits[lane], p)
				}
			}
		}
	}
}

// Each lane of the kernel by name gives what the twin gives, within the bounds that
// it states, for tables at the limits too.
func TestFixedBase8IFMA(t *testing.T) {
	needIFMA(t, true)
	testFixedBaseLanes(t, 8, multiplierOf8(fixedBase8IFMA))
	if noticed, differs := fixedBase8IFMAMutant(fixedBase8IFMA); noticed || differs {
		t.Error("the self-test fails")
	}
	for lane := range 8 {
		if noticed, _ := fixedBase8IFMAMutant(func(out *[4][5][8]uint64, table *[64][8][12]uint64, digits *[4][8]uint64) {
			fixedBase8IFMA(out, table, digits)
			out[lane%4][lane%5][lane] ^= 1 << 33
		}); !noticed {
			t.Errorf("a lie in lane %d is not noticed", lane)
		}
	}
}

func fixedBase8IFMAMutant(f func(out *[4][5][8]uint64, table *[64][8][12]uint64, digits *[4][8]uint64)) (noticed, differs bool) {
	return !selfTestFixedBase8(f), multiplierDiffers(8, multiplierOf8(f), multiplierOf8(fixedBase8IFMA))
}

func multiplierDiffers(lanes int, f, honest laneMultiplier) (differs bool) {
	r := rand.New(rand.NewPCG(44, uint64(lanes)))
	for range 20 {
		digits := make([]radix16, lanes)
		for lane := range digits {
			digits[lane] = radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), r.Uint64() >> 4}
		}
		got, want := f(&fixedBaseTable, digits), honest(&fixedBaseTable, digits)
		for lane := range got {
			var p, q Point
			*p.x.Limbs(), *p.y.Limbs(), *p.z.Limbs(), *p.t.Limbs() = got[lane][0], got[lane][1], got[lane][2], got[lane][3]
			*q.x.Limbs(), *q.y.Limbs(), *q.z.Limbs(), *q.t.Limbs() = want[lane][0], want[lane][1], want[lane][2], want[lane][3]
			differs = differs || !p.sameCoordinates(&q)
		}
	}
	return differs
}
