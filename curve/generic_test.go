package curve

import (
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

func TestGenericSelfTest(t *testing.T) {
	if genericFailed || !selfTestGeneric(ladderGeneric, fixedBaseGeneric, oddMultiplesGeneric, varTimeDoubleBaseGeneric) {
		t.Fatal("the generic code fails")
	}
	if selfTestGeneric(func(x, z *[4]uint64, k, u *[32]byte) { ladderGeneric(x, z, k, u); x[3] ^= 1 },
		fixedBaseGeneric, oddMultiplesGeneric, varTimeDoubleBaseGeneric) {
		t.Error("a lie of the ladder is not noticed")
	}
	if selfTestGeneric(ladderGeneric, func(v *Point, table *[64][8]packedNiels, digits *radix16) {
		fixedBaseGeneric(v, table, digits)
		v.x.Negate(&v.x)
	}, oddMultiplesGeneric, varTimeDoubleBaseGeneric) {
		t.Error("a lie of the fixed base is not noticed")
	}
	if selfTestGeneric(ladderGeneric, fixedBaseGeneric, func(table *[8][16]uint64, p *[4][4]uint64) {
		oddMultiplesGeneric(table, p)
		table[5][7] ^= 1
	}, varTimeDoubleBaseGeneric) {
		t.Error("a lie of the multiples is not noticed")
	}
	if selfTestGeneric(ladderGeneric, fixedBaseGeneric, oddMultiplesGeneric,
		func(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64) {
			varTimeDoubleBaseGeneric(out, steps, n, a, b)
			out[1][0] ^= 1
		}) {
		t.Error("a lie of the double base is not noticed")
	}
}

// Where the generic code fails, whatever rests on it computes nothing.
func TestGenericRefused(t *testing.T) {
	key, err := NewPrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := NewEd25519PrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	u, message := key.PublicKey(), []byte("message")
	sig, edSig := key.SignWithRandom(new([64]byte), message), signer.Sign(message)
	public := signer.PublicKey()
	prepared := NewVerificationKey(&u)
	prepared.Precompute()
	s, p := new(Scalar), NewGeneratorPoint()

	if !impl.Select("curve", "") {
		t.Skip("this build has no generic code")
	}
	defer impl.Reset("curve")
	genericFailed = true
	defer func() { genericFailed = false }()
	for name, f := range map[string]func(){
		"X25519":                      func() { X25519(new([32]byte), &u, &u) },
		"X25519Strict":                func() { _ = X25519Strict(new([32]byte), (*[32]byte)(key.Bytes()), &u) },
		"Agree":                       func() { key.Agree(new([32]byte), &u) },
		"PublicKey":                   func() { PublicKey(new([32]byte), &u) },
		"Sign":                        func() { _, _ = key.Sign(message) },
		"NewEd25519PrivateKey":        func() { _, _ = NewEd25519PrivateKey(make([]byte, 32)) },
		"Ed25519PrivateKey.Sign":      func() { signer.Sign(message) },
		"Verify":                      func() { Verify(&u, message, sig[:]) },
		"VerifyStrict":                func() { VerifyStrict(&u, message, sig[:]) },
		"VerificationKey.Verify":      func() { prepared.Verify(message, sig[:]) },
		"VerifyEd25519":               func() { VerifyEd25519(&public, message, edSig[:]) },
		"ScalarBaseMult":              func() { p.ScalarBaseMult(s) },
		"ScalarMult":                  func() { new(Point).ScalarMult(s, p) },
		"VarTimeDoubleScalarBaseMult": func() { new(Point).VarTimeDoubleScalarBaseMult(s, p, s) },
	} {
		func() {
			defer func() {
				if r := recover(); r != selfTestFailed {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			f()
			t.Errorf("%s computes something", name)
		}()
	}
}
