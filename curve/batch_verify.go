package curve

import "github.com/sigcore/sigcore/field"

// A SignedMessage is one item of VerifyBatch.
type SignedMessage struct {
	// Key is the public key, a u-coordinate. It may be nil if there is Prepared.
	Key *[32]byte

	// Prepared, if not nil, stands in the place of Key.
	Prepared *VerificationKey

	Message, Signature []byte
}

// VerifyBatch sets each of valid to what Verify says of the item of the same index,
// or the method of its prepared key: each has its own exact verdict, which does not
// depend on the others. It panics if the lengths differ. Variable time: the items
// are public.
func VerifyBatch(valid []bool, items []SignedMessage) {
	checkBatch(len(valid), len(items))
	var v verifications
	for len(items) > 0 {
		n := min(batchGroup, len(items))
		v.verify(valid[:n], items[:n])
		valid, items = valid[n:], items[n:]
	}
}

// verifications are those of a group, with what they have in common.
type verifications struct {
	// s·B - c·A, or anything with a Z that is not zero: its encoding is R if and
	// only if the signature is valid.
	x, y, z  [batchGroup]field.Element
	inverse  [batchGroup]field.Element
	prepared [batchGroup]*preparedPoint
	waiting  sums
}

// sums are those that wait to be computed side by side.
type sums struct {
	n      int
	at     [maxLanes]int
	minusA [maxLanes]Point
	c, s   [maxLanes][32]byte
}

// maxLanes is the largest number of points that kernels multiply side by side.
const maxLanes = 8

// twoSums is how many sums at most are computed one after the other for less than
// side by side.
const twoSums = 2

func (v *verifications) verify(valid []bool, items []SignedMessage) {
	v.waiting.n = 0
	for i := range items {
		v.z[i].One()
		valid[i] = v.evaluate(i, &items[i])
	}
	v.sum()
	n := len(items)
	field.InvertBatch(v.inverse[:n], v.z[:n])
	for i := range items {
		if !valid[i] {
			continue
		}
		var x, y field.Element
		x.Multiply(&v.x[i], &v.inverse[i])
		y.Multiply(&v.y[i], &v.inverse[i])
		var b [32]byte
		y.BytesInto(&b)
		b[31] |= byte(x.IsNegative() << 7)
		valid[i] = b == [32]byte(items[i].Signature[:32])
		if k := v.prepared[i]; k != nil && valid[i] {
			k.countValid()
		}
	}
}

// evaluate computes the sum of the item, or makes it wait. It returns false if
// there is no such point.
func (v *verifications) evaluate(i int, item *SignedMessage) bool {
	v.prepared[i] = nil
	s, bit, ok := parseSignature(item.Signature)
	if !ok {
		return false
	}
	R := item.Signature[:32]
	if item.Prepared != nil {
		k := item.Prepared.prepared(bit)
		if k == noPoint {
			return false
		}
		v.prepared[i] = k
		c := challenge(R, &k.encoding, item.Message)
		if t := k.wide.Load(); t != nil {
			var p packedPoint
			varTimeWideDoubleBaseMult(&p, &c, t, &s)
			v.set(i, &p)
			return true
		}
		var minusA Point
		minusA.setWords(&k.minusA)
		v.add(i, &c, &minusA, &s)
		return true
	}
	var A Point
	if !A.setMontgomery(item.Key, bit) {
		return false
	}
	var encoding [32]byte
	A.encodeAffine(&encoding)
	c := challenge(R, &encoding, item.Message)
	A.Negate(&A)
	v.add(i, &c, &A, &s)
	return true
}

func (v *verifications) set(i int, p *packedPoint) {
	v.x[i].SetWords(&p[0])
	v.y[i].SetWords(&p[1])
	v.z[i].SetWords(&p[2])
}

// add makes c·minusA + s·B wait, and computes what waits if it is enough.
func (v *verifications) add(i int, c *Scalar, minusA *Point, s *Scalar) {
	lanes := scalarMultLanes()
	if lanes == 0 {
		v.one(i, c, minusA, s)
		return
	}
	w := &v.waiting
	w.at[w.n] = i
	w.minusA[w.n].Set(minusA)
	c.bytesInto(&w.c[w.n])
	s.bytesInto(&w.s[w.n])
	if w.n++; w.n == lanes {
		v.sum()
	}
}

// one computes a sum by itself.
func (v *verifications) one(i int, c *Scalar, minusA *Point, s *Scalar) {
	var p packedPoint
	minusA.pack(&p)
	varTimeDoubleBaseMult(&p, c, &p, s)
	v.set(i, &p)
}

// sum computes what waits.
func (v *verifications) sum() {
	w := &v.waiting
	n := w.n
	w.n = 0
	if n <= twoSums {
		for j, i := range w.at[:n] {
			var wide [2][64]byte
			copy(wide[0][:], w.c[j][:])
			copy(wide[1][:], w.s[j][:])
			var c, s Scalar
			c.setUniform(&wide[0])
			s.setUniform(&wide[1])
			v.one(i, &c, &w.minusA[j], &s)
		}
		return
	}
	var cA, sB [maxLanes]Point
	scalarMultMany(cA[:n], w.minusA[:n], w.c[:n])
	fixedBaseMany(sB[:n], w.s[:n])
	for j, i := range w.at[:n] {
		cA[j].Add(&cA[j], &sB[j])
		v.x[i].Set(&cA[j].x)
		v.y[i].Set(&cA[j].y)
		v.z[i].Set(&cA[j].z)
	}
}
