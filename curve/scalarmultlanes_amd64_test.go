//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// A lanePointMultiplier runs a kernel on points and digits, and returns the
// coordinates in limbs.
type lanePointMultiplier func(points [][4][5]uint64, digits []radix16) [][4][5]uint64

func pointMultiplierOf8(f func(out, p *[4][5][8]uint64, digits *[4][8]uint64)) lanePointMultiplier {
	return func(points [][4][5]uint64, digits []radix16) [][4][5]uint64 {
		var d [4][8]uint64
		var out, p [4][5][8]uint64
		for lane := range 8 {
			for j := range d {
				d[j][lane] = digits[lane][j]
			}
			for i := range p {
				for j := range p[i] {
					p[i][j][lane] = points[lane][i][j]
				}
			}
		}
		f(&out, &p, &d)
		c := make([][4][5]uint64, 8)
		for lane := range c {
			for i := range out {
				for j := range out[i] {
					c[lane][i][j] = out[i][j][lane]
				}
			}
		}
		return c
	}
}

func pointMultiplierOf4(f func(out, p *[4][5][4]uint64, digits *[4][4]uint64)) lanePointMultiplier {
	return func(points [][4][5]uint64, digits []radix16) [][4][5]uint64 {
		var d [4][4]uint64
		var out, p [4][5][4]uint64
		for lane := range 4 {
			for j := range d {
				d[j][lane] = digits[lane][j]
			}
			for i := range p {
				for j := range p[i] {
					p[i][j][lane] = points[lane][i][j]
				}
			}
		}
		f(&out, &p, &d)
		c := make([][4][5]uint64, 4)
		for lane := range c {
			for i := range out {
				for j := range out[i] {
					c[lane][i][j] = out[i][j][lane]
				}
			}
		}
		return c
	}
}

// weirdCoordinates returns limbs near the limits, of no point: the formulas are
// polynomials, on which the kernel and its twin agree whatever goes in.
func weirdCoordinates(r *rand.Rand) (c [4][5]uint64) {
	for i := range c {
		for j := range c[i] {
			c[i][j] = min(testvec.WeirdLimb(r, 52), 1<<51+1<<18-1)
		}
	}
	return c
}

func pointOfLimbs(c *[4][5]uint64) *Point {
	p := new(Point)
	*p.x.Limbs(), *p.y.Limbs(), *p.z.Limbs(), *p.t.Limbs() = c[0], c[1], c[2], c[3]
	return p
}

func testScalarMultLanes(t *testing.T, lanes int, f lanePointMultiplier) {
	r := rand.New(rand.NewPCG(45, uint64(lanes)))
	n := 120
	switch {
	case longTests():
		n = 30_000
	case testing.Short():
		n = 10
	}
	points, digits := make([][4][5]uint64, lanes), make([]radix16, lanes)
	for round := range n {
		for lane := range digits {
			d := radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r)}
			d[3] = d[3]&^(0xf<<60) | r.Uint64N(9)<<60
			if i := uint64(round*lanes + lane); i < 16 { // the same digit everywhere
				w := i * 0x1111111111111111
				d = radix16{w, w, w, w&^(0xf<<60) | min(i, 8)<<60}
			}
			digits[lane] = d
			points[lane] = weirdCoordinates(r)
			if r.IntN(2) == 0 {
				var p Point
				k := testvec.WeirdBytes32(r)
				k[31] &= 0x7f
				fixedBase(&p, &k)
				points[lane] = p.carriedLimbs()
			}
		}
		for lane, c := range f(points, digits) {
			for _, l := range c {
				for _, w := range l {
					if w >= 1<<51+1<<18 {
						t.Fatalf("digits %x: a limb of %x is out of bounds", digits[lane], l)
					}
				}
			}
			var want Point
			want.multiply(pointOfLimbs(&points[lane]), &digits[lane])
			if !pointOfLimbs(&c).sameCoordinates(&want) {
				t.Fatalf("lane %d, digits %x, point %x: %x, not what the twin gives", lane, digits[lane], points[lane], c)
			}
		}
	}
}

// Each lane of the kernels by name gives what the twin gives, within the bounds
// that they state, for coordinates at the limits too.
func TestScalarMult8IFMA(t *testing.T) {
	needIFMA(t, true)
	testScalarMultLanes(t, 8, pointMultiplierOf8(scalarMult8IFMA))
	if noticed, differs := scalarMult8IFMAMutant(scalarMult8IFMA); noticed || differs {
		t.Error("the self-test fails")
	}
	for lane := range 8 {
		if noticed, _ := scalarMult8IFMAMutant(func(out, p *[4][5][8]uint64, digits *[4][8]uint64) {
			scalarMult8IFMA(out, p, digits)
			out[lane%4][lane%5][lane] ^= 1 << 33
		}); !noticed {
			t.Errorf("a lie in lane %d is not noticed", lane)
		}
	}
}

func TestScalarMult4IFMA(t *testing.T) {
	needIFMA(t, false)
	testScalarMultLanes(t, 4, pointMultiplierOf4(scalarMult4IFMA))
	if noticed, differs := scalarMult4IFMAMutant(scalarMult4IFMA); noticed || differs {
		t.Error("the self-test fails")
	}
	for lane := range 4 {
		if noticed, _ := scalarMult4IFMAMutant(func(out, p *[4][5][4]uint64, digits *[4][4]uint64) {
			scalarMult4IFMA(out, p, digits)
			out[lane][lane][lane] ^= 1
		}); !noticed {
			t.Errorf("a lie in lane %d is not noticed", lane)
		}
	}
}

func scalarMult8IFMAMutant(f func(out, p *[4][5][8]uint64, digits *[4][8]uint64)) (noticed, differs bool) {
	return !selfTestScalarMult8(selfTestProducts(), f), pointMultiplierDiffers(8, pointMultiplierOf8(f), pointMultiplierOf8(scalarMult8IFMA))
}

func scalarMult4IFMAMutant(f func(out, p *[4][5][4]uint64, digits *[4][4]uint64)) (noticed, differs bool) {
	return !selfTestScalarMult4(selfTestProducts(), f), pointMultiplierDiffers(4, pointMultiplierOf4(f), pointMultiplierOf4(scalarMult4IFMA))
}

func pointMultiplierDiffers(lanes int, f, honest lanePointMultiplier) (differs bool) {
	r := rand.New(rand.NewPCG(46, uint64(lanes)))
	for range 8 {
		points, digits := make([][4][5]uint64, lanes), make([]radix16, lanes)
		for lane := range digits {
			digits[lane] = radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), r.Uint64() >> 4}
			points[lane] = weirdCoordinates(r)
		}
		got, want := f(points, digits), honest(points, digits)
		for lane := range got {
			differs = differs || !pointOfLimbs(&got[lane]).sameCoordinates(pointOfLimbs(&want[lane]))
		}
	}
	return differs
}
