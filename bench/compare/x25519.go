package main

import (
	"crypto/ecdh"

	"filippo.io/edwards25519"
	circl "github.com/cloudflare/circl/dh/x25519"
	voicurve "github.com/oasisprotocol/curve25519-voi/curve"
	voiscalar "github.com/oasisprotocol/curve25519-voi/curve/scalar"
	voi "github.com/oasisprotocol/curve25519-voi/primitives/x25519"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"golang.org/x/crypto/curve25519"

	"github.com/sigcore/sigcore/curve"
)

// Two private keys and the public keys that belong to them.
var (
	ourScalar   = [32]byte{0: 0x48, 7: 0x31, 19: 0xc5, 31: 0x6b}
	theirScalar = [32]byte{0: 0x90, 3: 0x17, 24: 0xee, 31: 0x55}
	ourPoint    = publicKey(&ourScalar)
	theirPoint  = publicKey(&theirScalar)
)

func publicKey(scalar *[32]byte) (u [32]byte) {
	curve.PublicKey(&u, scalar)
	return u
}

func init() {
	contend("x25519", "sigcore", func() (subject, error) {
		var shared [32]byte
		return steady(func() { curve.X25519(&shared, &ourScalar, &theirPoint) })
	})
	contend("x25519", "crypto", func() (subject, error) {
		ours, err := ecdh.X25519().NewPrivateKey(ourScalar[:])
		if err != nil {
			return subject{}, err
		}
		theirs, err := ecdh.X25519().NewPublicKey(theirPoint[:])
		if err != nil {
			return subject{}, err
		}
		return steady(func() { must(ours.ECDH(theirs)) })
	})
	contend("x25519", "x_crypto", func() (subject, error) {
		return steady(func() { must(curve25519.X25519(ourScalar[:], theirPoint[:])) })
	})
	contend("x25519", "circl", func() (subject, error) {
		ours, theirs := circl.Key(ourScalar), circl.Key(theirPoint)
		var shared circl.Key
		return steady(func() { circl.Shared(&shared, &ours, &theirs) })
	})
	contend("x25519", "voi", func() (subject, error) {
		return steady(func() { must(voi.X25519(ourScalar[:], theirPoint[:])) })
	})
	contend("x25519", "mau", func() (subject, error) {
		return steady(func() { kdf.CalculateSharedSecret(theirPoint, ourScalar) })
	})

	contend("public_key", "sigcore", func() (subject, error) {
		var u [32]byte
		return steady(func() { curve.PublicKey(&u, &ourScalar) })
	})
	contend("public_key", "crypto", func() (subject, error) {
		return steady(func() { must(ecdh.X25519().NewPrivateKey(ourScalar[:])) })
	})
	contend("public_key", "filippo", func() (subject, error) {
		return steady(func() {
			s, err := edwards25519.NewScalar().SetBytesWithClamping(ourScalar[:])
			must(new(edwards25519.Point).ScalarBaseMult(s).BytesMontgomery(), err)
		})
	})
	contend("public_key", "x_crypto", func() (subject, error) {
		return steady(func() { must(curve25519.X25519(ourScalar[:], curve25519.Basepoint)) })
	})
	contend("public_key", "circl", func() (subject, error) {
		var pub circl.Key
		secret := circl.Key(ourScalar)
		return steady(func() { circl.KeyGen(&pub, &secret) })
	})
	contend("public_key", "voi", func() (subject, error) {
		var u [32]byte
		return steady(func() { voi.ScalarBaseMult(&u, &ourScalar) })
	})
	contend("public_key", "mau", func() (subject, error) {
		return steady(func() { ecc.CreateKeyPair(ourScalar[:]) })
	})

	contend("fixed_base", "sigcore", func() (subject, error) {
		s, err := new(curve.Scalar).SetBytesWithClamping(ourScalar[:])
		p := curve.NewIdentityPoint()
		if err != nil {
			return subject{}, err
		}
		return steady(func() { p.ScalarBaseMult(s) })
	})
	contend("fixed_base", "filippo", func() (subject, error) {
		s, err := edwards25519.NewScalar().SetBytesWithClamping(ourScalar[:])
		p := new(edwards25519.Point)
		if err != nil {
			return subject{}, err
		}
		return steady(func() { p.ScalarBaseMult(s) })
	})
	contend("fixed_base", "voi", func() (subject, error) {
		s, err := voiscalar.NewFromBits(ourScalar[:])
		p := voicurve.NewEdwardsPoint()
		if err != nil {
			return subject{}, err
		}
		return steady(func() { p.MulBasepoint(voicurve.ED25519_BASEPOINT_TABLE, s) })
	})
}

// must panics if a library refuses input that it has accepted in setup.
func must[T any](_ T, err error) {
	if err != nil {
		panic(err)
	}
}
