package curve

import "github.com/sigcore/sigcore/field"

// wideMultiples holds odd multiples of the powers 2^(32·i)·A of a point A, so
// that a multiple of A takes 31 doublings and not 252: entry 8·i + j is
// (2j+1)·2^(32·i)·A.
type wideMultiples [8 * 8]packedNiels

// wideShape goes with wideMultiples and wideBaseTable.
var wideShape = shape{logSpan: 5, width: [2]uint{5, 7}}

// set makes t of A. Variable time.
func (t *wideMultiples) set(A *packedPoint) {
	p := *A
	var c [len(t)]cached
	for i := range 8 {
		var odd oddMultiples
		oddMultiplesOf(&odd, &p)
		for j := range odd {
			c[8*i+j].unpack(&odd[j])
		}
		// 2^32·(1·p)
		varTimeDoubleBase(&p, &[maxSteps]uint32{1: 32 << stepDoublings}, 2, &odd, &oddBaseTable)
	}

	// The coordinates of cached are those of niels times 2Z. One inversion serves
	// for all (Montgomery's trick); no Z is zero.
	var before [len(t)]field.Element // the product of all 2Z before
	var acc, z field.Element
	acc.One()
	for i := range c {
		before[i].Set(&acc)
		acc.Multiply(&acc, &c[i].z2)
	}
	acc.Invert(&acc)
	for i := len(c) - 1; i >= 0; i-- {
		z.Multiply(&acc, &before[i]) // 1/2Z
		acc.Multiply(&acc, &c[i].z2)
		n := niels{c[i].yPlusX, c[i].yMinusX, c[i].t2d}
		n.yPlusX.Multiply(&n.yPlusX, &z)
		n.yMinusX.Multiply(&n.yMinusX, &z)
		n.t2d.Multiply(&n.t2d, &z)
		n.pack(&t[i])
	}
}

// varTimeWideDoubleBaseMult sets out = a * A + b * B, where t is of A. Variable
// time.
func varTimeWideDoubleBaseMult(out *packedPoint, a *Scalar, t *wideMultiples, b *Scalar) {
	var s steps
	s.set(wideShape, a, b)
	varTimeWideDoubleBase(out, &s.list, s.n, (*[64]packedNiels)(t), &wideBaseTable)
}
