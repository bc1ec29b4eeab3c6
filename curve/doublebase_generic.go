package curve

// oddMultiplesGeneric sets table to 1, 3, ..., 15 times p. Constant time.
func oddMultiplesGeneric(table *[8][16]uint64, p *[4][4]uint64) {
	var m, twice Point
	var c cached
	var r completed
	m.setWords(p)
	r.double(&m.x, &m.y, &m.z)
	r.point(&twice)
	c.fromPoint(&m)
	c.pack(&table[0])
	for i := range table[1:] {
		r.add(&twice, &c)
		c.fromPoint(r.point(&m))
		c.pack(&table[i+1])
	}
}

// varTimeDoubleBaseGeneric evaluates steps[:n] over the tables a and b. Variable
// time.
func varTimeDoubleBaseGeneric(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64) {
	var e evaluation
	e.begin()
	for _, s := range steps[:n-1] {
		e.double(s)
		if s>>stepB&1 == 0 {
			e.add(&a[s>>stepEntry], s)
		} else {
			e.addNiels(&b[s>>stepEntry], s)
		}
	}
	e.end(out, steps[n-1])
}

// varTimeWideDoubleBaseGeneric evaluates steps[:n] over the tables a and b.
// Variable time.
func varTimeWideDoubleBaseGeneric(out *[4][4]uint64, steps *[96]uint32, n int, a *[64][12]uint64, b *[256][12]uint64) {
	var e evaluation
	e.begin()
	for _, s := range steps[:n-1] {
		e.double(s)
		if s>>stepB&1 == 0 {
			e.addNiels(&a[s>>stepEntry], s)
		} else {
			e.addNiels(&b[s>>stepEntry], s)
		}
	}
	e.end(out, steps[n-1])
}

// evaluation is the state between steps. The T of p is not set: it is the product
// of the X and the Y of r, the result from which p comes.
type evaluation struct {
	p Point
	r completed
}

func (e *evaluation) begin() {
	e.p.identity()
	e.r.x.Zero()
	e.r.y.One()
}

// double does the doublings of a step.
func (e *evaluation) double(step uint32) {
	for range step >> stepDoublings & 0xff {
		e.r.double(&e.p.x, &e.p.y, &e.p.z)
		e.project()
	}
}

func (e *evaluation) project() {
	e.p.x.Multiply(&e.r.x, &e.r.t)
	e.p.y.Multiply(&e.r.y, &e.r.z)
	e.p.z.Multiply(&e.r.z, &e.r.t)
}

func (e *evaluation) add(entry *packedCached, step uint32) {
	e.p.t.Multiply(&e.r.x, &e.r.y)
	var q cached
	q.unpack(entry)
	if step>>stepNegative&1 == 0 {
		e.r.add(&e.p, &q)
	} else {
		e.r.sub(&e.p, &q)
	}
	e.project()
}

func (e *evaluation) addNiels(entry *packedNiels, step uint32) {
	e.p.t.Multiply(&e.r.x, &e.r.y)
	var q niels
	q.unpack(entry)
	if step>>stepNegative&1 == 0 {
		e.r.addNiels(&e.p, &q)
	} else {
		e.r.subNiels(&e.p, &q)
	}
	e.project()
}

// end does the last step.
func (e *evaluation) end(out *packedPoint, step uint32) {
	e.double(step)
	e.p.t.Multiply(&e.r.x, &e.r.y)
	e.p.pack(out)
}
