package curve

import "sync/atomic"

// wideAfter is the number of valid signatures after which a key gets wider
// tables: building them costs as much as they save in four verifications.
const wideAfter = 4

// preparedPoint is a public key as verification needs it. It must not be copied.
type preparedPoint struct {
	encoding [32]byte // of A
	minusA   packedPoint

	valid atomic.Uint32 // how many signatures were, until there is wide
	wide  atomic.Pointer[wideMultiples]
}

// set prepares A, whose Z is one.
func (k *preparedPoint) set(A *Point) {
	A.encodeAffine(&k.encoding)
	negated(&k.minusA, A)
}

// widen gives k the tables of a key that verifies often.
func (k *preparedPoint) widen() {
	t := new(wideMultiples)
	t.set(&k.minusA)
	// Callers that race compute and store the same.
	k.wide.Store(t)
}

// verify reports whether s and the R of sig sign msg. Variable time.
func (k *preparedPoint) verify(msg, sig []byte, s *Scalar) bool {
	c := challenge(sig[:32], &k.encoding, msg)
	var p packedPoint
	if t := k.wide.Load(); t != nil {
		varTimeWideDoubleBaseMult(&p, &c, t, s)
		return encodesTo(&p, sig[:32])
	}
	varTimeDoubleBaseMult(&p, &c, &k.minusA, s)
	ok := encodesTo(&p, sig[:32])
	if ok {
		k.countValid()
	}
	return ok
}

// countValid counts a valid signature. Only a key that has signed is worth the
// memory of the tables.
func (k *preparedPoint) countValid() {
	if k.wide.Load() == nil && k.valid.Add(1) == wideAfter {
		k.widen()
	}
}
