//go:build !purego

package curve

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useFixedBaseIFMA turns on the multiplication of the base point by one scalar over
// four lanes.
var useFixedBaseIFMA = cpu.IFMA

func init() {
	impl.Register("ifma", &useFixedBaseIFMA, false)
	if useFixedBaseIFMA && !selfTestFixedBaseOne(fixedBaseIFMA) {
		impl.Demote(&useFixedBaseIFMA, selfTestFailed)
	}
}

// multiplyBaseIFMA sets v to the sum of digit i times 16^i * B.
func multiplyBaseIFMA(v *Point, digits *radix16) {
	var out [4][5][4]uint64
	fixedBaseIFMA(&out, &fixedBaseTable, (*[4]uint64)(digits))
	v.sumLanes(&out)
}

// sumLanes sets v to the sum of four points, with coordinates in limbs.
func (v *Point) sumLanes(p *[4][5][4]uint64) {
	var lane [4]Point
	for i := range lane {
		x, y, z, t := lane[i].x.Limbs(), lane[i].y.Limbs(), lane[i].z.Limbs(), lane[i].t.Limbs()
		for j := range 5 {
			x[j], y[j], z[j], t[j] = p[0][j][i], p[1][j][i], p[2][j][i], p[3][j][i]
		}
	}
	var c cached
	var r completed
	c.fromPoint(&lane[1])
	r.add(&lane[0], &c)
	r.point(v)
	for i := 2; i < 4; i++ {
		c.fromPoint(&lane[i])
		r.add(v, &c)
		r.point(v)
	}
}
