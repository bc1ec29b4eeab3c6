package curve

import (
	"bytes"
	"crypto/ed25519"
	"math/rand/v2"
	"testing"
)

func TestEd25519AgainstLibrary(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(19, 20))
		for i := range randomKeys() {
			var seed [32]byte
			fill(r, seed[:])
			msg := make([]byte, i%200)
			fill(r, msg)
			key, err := NewEd25519PrivateKey(seed[:])
			if err != nil {
				t.Fatal(err)
			}
			lib := ed25519.NewKeyFromSeed(seed[:])
			public := key.PublicKey()
			if !bytes.Equal(public[:], lib[32:]) {
				t.Fatalf("seed %x: public key %x", seed, public)
			}
			sig := key.Sign(msg)
			if want := ed25519.Sign(lib, msg); !bytes.Equal(sig[:], want) {
				t.Fatalf("seed %x, message %x: signature %x, want %x", seed, msg, sig, want)
			}
			for n := int64(0); n < 8; n++ {
				high, ok := addS(sig[:], n)
				if !ok {
					break
				}
				if got, want := VerifyEd25519(&public, msg, high), ed25519.Verify(public[:], msg, high); got != want || got != (n == 0) {
					t.Fatalf("s + %dℓ: %v, the library says %v", n, got, want)
				}
			}
			bad := sig
			bad[r.IntN(64)] ^= 1 << r.IntN(8)
			if VerifyEd25519(&public, msg, bad[:]) {
				t.Fatalf("signature %x accepted for %x", bad, sig)
			}
		}
	})
}

// TestEd25519OddKeys compares verdicts with crypto/ed25519 on public keys and R
// at the edges of decoding.
func TestEd25519OddKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	keys := encodings(r, 20)
	messages := byte(8)
	if testing.Short() {
		messages = 2
	}
	eachTier(t, func(t *testing.T) {
		accepted := 0
		for i := range keys {
			for _, R := range [][32]byte{{1}, {1, 31: 0x80}, keys[r.IntN(len(keys))]} {
				for m := range messages {
					sig := append(R[:], make([]byte, 32)...)
					got, want := VerifyEd25519(&keys[i], []byte{m}, sig), ed25519.Verify(keys[i][:], []byte{m}, sig)
					if got != want {
						t.Fatalf("key %x, message %d, signature %x: %v, the library says %v", keys[i], m, sig, got, want)
					}
					if got {
						accepted++
					}
				}
			}
		}
		if accepted == 0 {
			t.Error("nothing accepted")
		}
	})
}
