package curve

import "sync/atomic"

// A VerificationKey is an XEdDSA public key prepared for many verifications: it
// keeps the Edwards point and its multiples for each sign bit that signatures
// have carried. It is safe for concurrent use and must not be copied.
type VerificationKey struct {
	u     [32]byte
	point [2]atomic.Pointer[preparedPoint]
}

// noPoint stands in VerificationKey.point for a key without a point.
var noPoint = new(preparedPoint)

// NewVerificationKey returns the prepared form of u, filled at first use.
func NewVerificationKey(u *[32]byte) *VerificationKey { return &VerificationKey{u: *u} }

// Precompute prepares v for both sign bits.
func (v *VerificationKey) Precompute() {
	v.prepared(0)
	v.prepared(1)
}

// Verify is the function Verify with the public key of v; it has the same
// verdicts. Variable time: the arguments are public.
func (v *VerificationKey) Verify(msg, sig []byte) bool {
	s, bit, ok := parseSignature(sig)
	if !ok {
		return false
	}
	k := v.prepared(bit)
	return k != noPoint && k.verify(msg, sig, &s)
}

// IsFor reports whether v was made from the 32 bytes u.
func (v *VerificationKey) IsFor(u *[32]byte) bool { return v.u == *u }

func (v *VerificationKey) prepared(bit int) *preparedPoint {
	if k := v.point[bit].Load(); k != nil {
		return k
	}
	k := new(preparedPoint)
	if !k.set(&v.u, bit) {
		k = noPoint
	}
	// Callers that race compute and store the same point.
	v.point[bit].Store(k)
	return k
}
