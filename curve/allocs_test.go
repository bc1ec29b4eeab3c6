package curve

import (
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

func TestAllocations(t *testing.T) {
	if testvec.Race || testing.CoverMode() != "" {
		t.Skip("instrumentation changes what escapes")
	}
	var k, u, out [32]byte
	var z [64]byte
	k[5], u[0] = 1, 9
	msg := make([]byte, 300)
	p, err := NewPrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEd25519PrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	pub, ePub := p.PublicKey(), e.PublicKey()
	sig, eSig := p.SignWithRandom(&z, msg), e.Sign(msg)
	v := NewVerificationKey(&pub)
	v.Precompute()
	strict := [32]byte{8, 31: 0x40}
	eachTier(t, func(t *testing.T) {
		for name, f := range map[string]func() bool{
			"X25519":         func() bool { X25519(&out, &k, &u); return true },
			"X25519Strict":   func() bool { return X25519Strict(&out, &strict, &u) == nil },
			"PublicKey":      func() bool { PublicKey(&out, &k); return true },
			"Agree":          func() bool { p.Agree(&out, &u); return true },
			"public key":     func() bool { return p.PublicKey() == pub },
			"SignWithRandom": func() bool { return p.SignWithRandom(&z, msg[:7], msg[7:]) == sig },
			"Sign":           func() bool { _, err := p.Sign(msg[:7], msg[7:]); return err == nil },
			"Verify":         func() bool { return Verify(&pub, msg, sig[:]) },
			"VerifyStrict":   func() bool { return VerifyStrict(&pub, msg, sig[:]) },
			"prepared":       func() bool { return v.Verify(msg, sig[:]) },
			"Ed25519 Sign":   func() bool { return e.Sign(msg[:7], msg[7:]) == eSig },
			"VerifyEd25519":  func() bool { return VerifyEd25519(&ePub, msg, eSig[:]) },
			"points": func() bool {
				var q, r Point
				var s Scalar
				if _, err := q.SetCanonicalBytes(ePub[:]); err != nil {
					return false
				}
				if _, err := s.SetUniformBytes(z[:]); err != nil {
					return false
				}
				r.ScalarBaseMult(&s).ScalarMult(&s, &q).VarTimeDoubleScalarBaseMult(&s, &q, &s)
				r.Add(&r, &q).Double(&r).Negate(&r).Subtract(&r, &q).MultByCofactor(&r)
				return r.Equal(&q) == 0 && r.Bytes()[0] != r.BytesMontgomery()[0] && !r.IsSmallOrder()
			},
		} {
			ok := true
			if n := testing.AllocsPerRun(5, func() { ok = ok && f() }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
			if !ok {
				t.Errorf("%s: wrong result", name)
			}
		}
	})
}
