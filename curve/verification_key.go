package curve

import "sync/atomic"

// A VerificationKey is an XEdDSA public key prepared for many verifications. For
// each sign bit that signatures have carried it keeps the Edwards point, in some
// 200 bytes, and, once a few of them were valid, multiples of it in 6 KiB, which
// make a verification twice as fast. It is safe for concurrent use and must not
// be copied.
type VerificationKey struct {
	u     [32]byte
	point [2]atomic.Pointer[preparedPoint]
}

// noPoint stands in VerificationKey.point for a key without a point.
var noPoint = new(preparedPoint)

// NewVerificationKey returns the prepared form of u, filled at first use.
func NewVerificationKey(u *[32]byte) *VerificationKey { return &VerificationKey{u: *u} }

// Precompute prepares v for both sign bits, the multiples included.
func (v *VerificationKey) Precompute() {
	for bit := range v.point {
		if k := v.prepared(bit); k != noPoint && k.wide.Load() == nil {
			k.widen()
		}
	}
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
	k := noPoint
	var A Point
	if A.setMontgomery(&v.u, bit) {
		k = new(preparedPoint)
		k.set(&A)
	}
	// Of callers that race one stores the point.
	if !v.point[bit].CompareAndSwap(nil, k) {
		k = v.point[bit].Load()
	}
	return k
}
