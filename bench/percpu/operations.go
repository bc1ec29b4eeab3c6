package main

import (
	"errors"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/field"
)

// An operation has the name that command compare gives it.
type operation struct {
	name  string
	setup func() (func(), error)
}

// Inputs are fixed: the operations in variable time depend on them.
var (
	ourScalar   = [32]byte{0: 0x48, 7: 0x31, 19: 0xc5, 31: 0x6b}
	theirScalar = [32]byte{0: 0x90, 3: 0x17, 24: 0xee, 31: 0x55}
	random      = [64]byte{5: 0x6d, 40: 0xe2}
	message     = [33]byte{0: 5, 9: 0xa7, 30: 0x3c}
)

var errVerdict = errors.New("a valid signature is refused")

var operations = []operation{
	{"field_mul", func() (func(), error) {
		v, a, err := elements()
		return func() { v.Multiply(v, a) }, err
	}},
	{"field_square", func() (func(), error) {
		v, _, err := elements()
		return func() { v.Square(v) }, err
	}},
	{"field_invert", func() (func(), error) {
		v, _, err := elements()
		return func() { v.Invert(v) }, err
	}},
	{"x25519", func() (func(), error) {
		var shared [32]byte
		point := publicKey(&theirScalar)
		return func() { curve.X25519(&shared, &ourScalar, &point) }, nil
	}},
	{"public_key", func() (func(), error) {
		var u [32]byte
		return func() { curve.PublicKey(&u, &ourScalar) }, nil
	}},
	{"fixed_base", func() (func(), error) {
		s, err := new(curve.Scalar).SetBytesWithClamping(ourScalar[:])
		p := curve.NewIdentityPoint()
		return func() { p.ScalarBaseMult(s) }, err
	}},
	{"ed25519_sign", func() (func(), error) {
		k, err := curve.NewEd25519PrivateKey(ourScalar[:])
		return func() { k.Sign(message[:]) }, err
	}},
	{"ed25519_verify", func() (func(), error) {
		k, err := curve.NewEd25519PrivateKey(ourScalar[:])
		if err != nil {
			return nil, err
		}
		public, sig := k.PublicKey(), k.Sign(message[:])
		return verification(func() bool { return curve.VerifyEd25519(&public, message[:], sig[:]) })
	}},
	{"xeddsa_sign", func() (func(), error) {
		k, err := curve.NewPrivateKey(ourScalar[:])
		return func() { k.SignWithRandom(&random, message[:]) }, err
	}},
	{"xeddsa_verify", func() (func(), error) {
		u, sig, err := xeddsaSignature()
		if err != nil {
			return nil, err
		}
		return verification(func() bool { return curve.Verify(&u, message[:], sig[:]) })
	}},
	{"xeddsa_verify_prepared", func() (func(), error) {
		u, sig, err := xeddsaSignature()
		if err != nil {
			return nil, err
		}
		key := curve.NewVerificationKey(&u)
		return verification(func() bool { return key.Verify(message[:], sig[:]) })
	}},
}

func elements() (v, a *field.Element, err error) {
	u, w := publicKey(&theirScalar), publicKey(&ourScalar)
	v, err = new(field.Element).SetBytes(u[:])
	if err != nil {
		return nil, nil, err
	}
	a, err = new(field.Element).SetBytes(w[:])
	return v, a, err
}

func publicKey(scalar *[32]byte) (u [32]byte) {
	curve.PublicKey(&u, scalar)
	return u
}

func xeddsaSignature() (u [32]byte, sig [64]byte, err error) {
	k, err := curve.NewPrivateKey(ourScalar[:])
	if err != nil {
		return u, sig, err
	}
	return k.PublicKey(), k.SignWithRandom(&random, message[:]), nil
}

// verification returns a check that has said true once.
func verification(valid func() bool) (func(), error) {
	if !valid() {
		return nil, errVerdict
	}
	return func() { valid() }, nil
}
