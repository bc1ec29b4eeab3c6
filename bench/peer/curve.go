package main

import (
	"fmt"

	"github.com/sigcore/sigcore/curve"
)

func init() {
	register("pub", func(_ *peer, r *struct{ Priv hexBytes }) (answer, error) {
		k, err := r.Priv.array32()
		if err != nil {
			return nil, err
		}
		var u [32]byte
		curve.PublicKey(&u, k)
		return answer{"pub": tagged(&u)}, nil
	})
	register("dh", func(_ *peer, r *struct {
		Priv, Pub hexBytes
		Strict    bool
	},
	) (answer, error) {
		k, err := r.Priv.array32()
		if err != nil {
			return nil, err
		}
		u, err := r.Pub.point()
		if err != nil {
			return nil, err
		}
		var shared [32]byte
		if r.Strict {
			// Strict is about the public key and the result here: the private
			// one is clamped, as by every peer, not refused.
			k[0] &= 248
			k[31] = k[31]&127 | 64
			if err := curve.X25519Strict(&shared, k, u); err != nil {
				return nil, err
			}
		} else {
			curve.X25519(&shared, k, u)
		}
		return answer{"shared": hexBytes(shared[:])}, nil
	})
	register("sign", func(_ *peer, r *struct {
		Priv, Msg, Random hexBytes
	},
	) (answer, error) {
		k, err := curve.NewPrivateKey(r.Priv)
		if err != nil {
			return nil, err
		}
		if r.Random == nil {
			sig, err := k.Sign(r.Msg)
			if err != nil {
				return nil, err
			}
			return answer{"sig": hexBytes(sig[:])}, nil
		}
		if len(r.Random) != 64 {
			return nil, fmt.Errorf("%w: random of %d bytes", errBadRequest, len(r.Random))
		}
		sig := k.SignWithRandom((*[64]byte)(r.Random), r.Msg)
		return answer{"sig": hexBytes(sig[:])}, nil
	})
	register("verify", func(_ *peer, r *struct{ Pub, Msg, Sig hexBytes }) (answer, error) {
		if n := len(r.Pub); n != 32 && n != 33 || len(r.Sig) != 64 {
			return answer{"valid": false}, nil
		}
		u, err := r.Pub.point()
		if err != nil {
			return nil, err
		}
		// The prepared key must say the same as the plain function.
		valid := curve.Verify(u, r.Msg, r.Sig)
		if curve.NewVerificationKey(u).Verify(r.Msg, r.Sig) != valid {
			return nil, fmt.Errorf("%w: prepared and plain verification disagree", errPanic)
		}
		return answer{"valid": valid}, nil
	})
	register("ed25519_sign", func(_ *peer, r *struct{ Seed, Msg hexBytes }) (answer, error) {
		k, err := curve.NewEd25519PrivateKey(r.Seed)
		if err != nil {
			return nil, err
		}
		sig := k.Sign(r.Msg)
		return answer{"sig": hexBytes(sig[:])}, nil
	})
	register("ed25519_verify", func(_ *peer, r *struct{ Pub, Msg, Sig hexBytes }) (answer, error) {
		if len(r.Pub) != curve.Ed25519PublicKeySize {
			return answer{"valid": false}, nil
		}
		return answer{"valid": curve.VerifyEd25519((*[32]byte)(r.Pub), r.Msg, r.Sig)}, nil
	})
	register("decode_point", func(_ *peer, r *struct{ Bytes hexBytes }) (answer, error) {
		if len(r.Bytes) != 33 {
			return nil, badKeyf("tagged public key of %d bytes", len(r.Bytes))
		}
		u, err := r.Bytes.point()
		if err != nil {
			return nil, err
		}
		return answer{"pub": tagged(u)}, nil
	})
}
