package main

import (
	"crypto/ed25519"
	"errors"

	circl "github.com/cloudflare/circl/sign/ed25519"
	voi "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"go.mau.fi/libsignal/ecc"

	"github.com/sigcore/sigcore/curve"
)

// The message has the size of a signed prekey's public key with its type byte.
var signed = [33]byte{0: 5, 9: 0xa7, 30: 0x3c}

var errOwnSignature = errors.New("own signature refused")

// checked is steady for a verification, which must say true in setup.
func checked(valid func() bool) (subject, error) {
	if !valid() {
		return subject{}, errOwnSignature
	}
	return subject{run: func(n int) error {
		for range n {
			if !valid() {
				return errOwnSignature
			}
		}
		return nil
	}}, nil
}

func init() {
	contend("ed25519_sign", "sigcore", func() (subject, error) {
		k, err := curve.NewEd25519PrivateKey(ourScalar[:])
		if err != nil {
			return subject{}, err
		}
		return steady(func() { k.Sign(signed[:]) })
	})
	contend("ed25519_sign", "crypto", func() (subject, error) {
		k := ed25519.NewKeyFromSeed(ourScalar[:])
		return steady(func() { ed25519.Sign(k, signed[:]) })
	})
	contend("ed25519_sign", "circl", func() (subject, error) {
		k := circl.NewKeyFromSeed(ourScalar[:])
		return steady(func() { circl.Sign(k, signed[:]) })
	})
	contend("ed25519_sign", "voi", func() (subject, error) {
		k := voi.NewKeyFromSeed(ourScalar[:])
		return steady(func() { voi.Sign(k, signed[:]) })
	})

	contend("ed25519_verify", "sigcore", func() (subject, error) {
		k, err := curve.NewEd25519PrivateKey(ourScalar[:])
		if err != nil {
			return subject{}, err
		}
		pub, sig := k.PublicKey(), k.Sign(signed[:])
		return checked(func() bool { return curve.VerifyEd25519(&pub, signed[:], sig[:]) })
	})
	contend("ed25519_verify", "crypto", func() (subject, error) {
		k := ed25519.NewKeyFromSeed(ourScalar[:])
		pub, sig := k.Public().(ed25519.PublicKey), ed25519.Sign(k, signed[:])
		return checked(func() bool { return ed25519.Verify(pub, signed[:], sig) })
	})
	contend("ed25519_verify", "circl", func() (subject, error) {
		k := circl.NewKeyFromSeed(ourScalar[:])
		pub, sig := k.Public().(circl.PublicKey), circl.Sign(k, signed[:])
		return checked(func() bool { return circl.Verify(pub, signed[:], sig) })
	})
	contend("ed25519_verify", "voi", func() (subject, error) {
		k := voi.NewKeyFromSeed(ourScalar[:])
		pub, sig := k.Public().(voi.PublicKey), voi.Sign(k, signed[:])
		return checked(func() bool { return voi.Verify(pub, signed[:], sig) })
	})

	contend("xeddsa_sign", "sigcore", func() (subject, error) {
		k, err := curve.NewPrivateKey(ourScalar[:])
		if err != nil {
			return subject{}, err
		}
		return subject{run: func(n int) error {
			for range n {
				if _, err := k.Sign(signed[:]); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
	contend("xeddsa_sign", "mau", func() (subject, error) {
		k := ecc.NewDjbECPrivateKey(ourScalar)
		return steady(func() { ecc.CalculateSignature(k, signed[:]) })
	})

	contend("xeddsa_verify", "sigcore", func() (subject, error) {
		sig, err := ourSignature()
		if err != nil {
			return subject{}, err
		}
		return checked(func() bool { return curve.Verify(&ourPoint, signed[:], sig[:]) })
	})
	contend("xeddsa_verify", "mau", func() (subject, error) {
		sig, err := ourSignature()
		if err != nil {
			return subject{}, err
		}
		pub := ecc.NewDjbECPublicKey(ourPoint)
		return checked(func() bool { return ecc.VerifySignature(pub, signed[:], sig) })
	})
	contend("xeddsa_verify_prepared", "sigcore", func() (subject, error) {
		sig, err := ourSignature()
		if err != nil {
			return subject{}, err
		}
		key := curve.NewVerificationKey(&ourPoint)
		return checked(func() bool { return key.Verify(signed[:], sig[:]) })
	})
}

func ourSignature() (sig [64]byte, err error) {
	k, err := curve.NewPrivateKey(ourScalar[:])
	if err != nil {
		return sig, err
	}
	return k.Sign(signed[:])
}
