package curve

import (
	"testing"
	"time"

	"github.com/sigcore/sigcore/internal/testvec"
)

func TestStress(t *testing.T) {
	k := [32]byte{0: 0x48, 7: 0x31, 19: 0xc5, 31: 0x6b}
	message, random := []byte("message"), [64]byte{9: 7}
	key, err := NewPrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	signer, err := NewEd25519PrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	u, sig, public, edSig := key.PublicKey(), key.SignWithRandom(&random, message), signer.PublicKey(), signer.Sign(message)
	prepared := NewVerificationKey(&u)
	prepared.Precompute()
	var shared [32]byte
	X25519(&shared, &k, &u)
	a, b := scalarOf(bigOf(k[:])), scalarOf(bigOf(sig[:32]))
	product := new(Scalar).MultiplyAdd(a, b, a)

	d := 500 * time.Millisecond
	switch {
	case longTests():
		d = 30 * time.Second
	case testing.Short():
		d = 100 * time.Millisecond
	}
	eachTier(t, func(t *testing.T) {
		testvec.Stress(t, d, map[string]func() bool{
			"X25519": func() bool {
				var got [32]byte
				X25519(&got, &k, &u)
				return got == shared
			},
			"PublicKey": func() bool {
				var got [32]byte
				PublicKey(&got, &k)
				return got == u
			},
			"Sign":                   func() bool { return key.SignWithRandom(&random, message) == sig },
			"Verify":                 func() bool { return Verify(&u, message, sig[:]) && !Verify(&u, message[1:], sig[:]) },
			"VerificationKey.Verify": func() bool { return prepared.Verify(message, sig[:]) && !prepared.Verify(nil, sig[:]) },
			"Ed25519PrivateKey.Sign": func() bool { return signer.Sign(message) == edSig },
			"VerifyEd25519":          func() bool { return VerifyEd25519(&public, message, edSig[:]) },
			"MultiplyAdd":            func() bool { return new(Scalar).MultiplyAdd(a, b, a).Equal(product) == 1 },
		})
	})
}
