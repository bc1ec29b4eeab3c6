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
	p        [batchGroup]packedPoint // s·B - c·A, or anything with Z = 1
	z        [batchGroup]field.Element
	inverse  [batchGroup]field.Element
	prepared [batchGroup]*preparedPoint
}

func (v *verifications) verify(valid []bool, items []SignedMessage) {
	for i := range items {
		valid[i] = v.evaluate(i, &items[i])
		if valid[i] {
			v.z[i].SetWords(&v.p[i][2])
		} else {
			v.z[i].One()
		}
	}
	n := len(items)
	field.InvertBatch(v.inverse[:n], v.z[:n])
	for i := range items {
		if !valid[i] {
			continue
		}
		var x, y field.Element
		x.Multiply(x.SetWords(&v.p[i][0]), &v.inverse[i])
		y.Multiply(y.SetWords(&v.p[i][1]), &v.inverse[i])
		var b [32]byte
		y.BytesInto(&b)
		b[31] |= byte(x.IsNegative() << 7)
		valid[i] = b == [32]byte(items[i].Signature[:32])
		if k := v.prepared[i]; k != nil && valid[i] {
			k.countValid()
		}
	}
}

// evaluate sets v.p[i] to s·B - c·A for the item; its encoding is R if and only if
// the signature is valid. It returns false if there is no such point.
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
			varTimeWideDoubleBaseMult(&v.p[i], &c, t, &s)
		} else {
			varTimeDoubleBaseMult(&v.p[i], &c, &k.minusA, &s)
		}
		return true
	}
	var A Point
	if !A.setMontgomery(item.Key, bit) {
		return false
	}
	var encoding [32]byte
	A.encodeAffine(&encoding)
	c := challenge(R, &encoding, item.Message)
	negated(&v.p[i], &A)
	varTimeDoubleBaseMult(&v.p[i], &c, &v.p[i], &s)
	return true
}
