package curve

import (
	"crypto/sha512"
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
)

const (
	// Ed25519SeedSize is the size of an Ed25519 private key, in bytes: the
	// seed of RFC 8032, without the public key that some formats append.
	Ed25519SeedSize = 32
	// Ed25519PublicKeySize is the size of an Ed25519 public key in bytes.
	Ed25519PublicKeySize = 32
)

// An Ed25519PrivateKey is a private key of RFC 8032, Section 5.1, with all that
// its signatures have in common. It is safe for concurrent use.
type Ed25519PrivateKey struct {
	seed   [Ed25519SeedSize]byte
	prefix [32]byte
	signingState
}

// NewEd25519PrivateKey returns the key of the 32-byte seed, which it copies.
// Another length is an error that wraps ErrKeyLength. Constant time.
func NewEd25519PrivateKey(seed []byte) (*Ed25519PrivateKey, error) {
	if len(seed) != Ed25519SeedSize {
		return nil, fmt.Errorf("curve: Ed25519 seed of %d bytes: %w", len(seed), ErrKeyLength)
	}
	// RFC 8032, Section 5.1.5.
	digest := sha512.Sum512(seed)
	k := &Ed25519PrivateKey{seed: [32]byte(seed), prefix: [32]byte(digest[32:])}
	s := [32]byte(digest[:32])
	clamp(&s)
	k.a.setClamped(&s)
	var A Point
	fixedBase(&A, &s)
	A.encode(&k.public)
	return k, nil
}

// GenerateEd25519Key draws 32 bytes and returns the key of that seed. It fails
// only if the draw does.
func GenerateEd25519Key() (*Ed25519PrivateKey, error) {
	var seed [Ed25519SeedSize]byte
	if err := random.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("curve: generate Ed25519 key: %w", err)
	}
	return NewEd25519PrivateKey(seed[:])
}

// Seed returns a copy of the 32-byte seed.
func (k *Ed25519PrivateKey) Seed() []byte {
	// Outlined so that the array is allocated in the caller.
	b := k.seed
	return b[:]
}

// PublicKey returns the encoded public key.
func (k *Ed25519PrivateKey) PublicKey() [Ed25519PublicKeySize]byte { return k.public }

// Sign returns the signature of the concatenation of the parts of msg (RFC 8032,
// Section 5.1.6: pure Ed25519). Constant time.
func (k *Ed25519PrivateKey) Sign(msg ...[]byte) (sig [SignatureSize]byte) {
	var digest [sha512.Size]byte
	h := sha512.New()
	h.Write(k.prefix[:])
	for _, m := range msg {
		h.Write(m)
	}
	h.Sum(digest[:0])
	k.finish(&sig, &digest, msg)
	return sig
}

// VerifyEd25519 reports whether sig is a valid Ed25519 signature of msg under
// public, with the verdicts of crypto/ed25519: s must be below ℓ, the equation
// is that without cofactor, and public is decoded as Point.SetBytes does. A
// signature of another length than SignatureSize is not valid.
// Variable time: the arguments are public.
func VerifyEd25519(public *[Ed25519PublicKeySize]byte, msg, sig []byte) bool {
	if len(sig) != SignatureSize {
		return false
	}
	var s Scalar
	if _, err := s.SetCanonicalBytes(sig[32:]); err != nil {
		return false
	}
	var A Point
	if _, err := A.SetBytes(public[:]); err != nil {
		return false
	}
	// The hash is over the bytes as they came, canonical or not.
	return verifyOnce(&A, public, msg, sig, &s)
}
