package curve

// Sums of two multiples whose scalars are public. The digits of the scalars
// decide on a list of steps, and the evaluation of that list over tables of odd
// multiples is what has kernels. The tables are the same for every tier.

// packedPoint is a point as four 64-bit words, little endian, for each of X, Y,
// Z and T.
type packedPoint = [4][4]uint64

// packedCached is a cached as it stands in tables: any numbers below 2^256.
type packedCached = [16]uint64

// oddMultiples holds 1, 3, ..., 15 times a point.
type oddMultiples = [8]packedCached

func (v *Point) pack(p *packedPoint) {
	p[0], p[1], p[2], p[3] = v.x.Words(), v.y.Words(), v.z.Words(), v.t.Words()
}

// VarTimeDoubleScalarBaseMult sets v = a * A + b * B for the base point B, and
// returns v. Variable time: every argument must be public.
func (v *Point) VarTimeDoubleScalarBaseMult(a *Scalar, A *Point, b *Scalar) *Point {
	checkInitialized(A)
	var p packedPoint
	A.pack(&p)
	varTimeDoubleBaseMult(&p, a, &p, b)
	v.setWords(&p)
	return v
}

// doubleBaseShape is Straus' method.
var doubleBaseShape = shape{logSpan: 8, width: [2]uint{5, 8}}

// varTimeDoubleBaseMult sets out = a * A + b * B. Variable time.
func varTimeDoubleBaseMult(out *packedPoint, a *Scalar, A *packedPoint, b *Scalar) {
	var t oddMultiples
	oddMultiplesOf(&t, A)
	var s steps
	s.set(doubleBaseShape, a, b)
	varTimeDoubleBase(out, &s.list, s.n, &t, &oddBaseTable)
}
