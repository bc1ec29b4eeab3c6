package ecc

import (
	"crypto/sha512"

	"github.com/sigcore/sigcore/curve"
	"go.mau.fi/libsignal/internal/draw"
	"go.mau.fi/libsignal/internal/keycache"
)

// CalculateSignature returns the XEdDSA signature of message. It draws 64 bytes
// and panics if there is no randomness. Constant time.
func CalculateSignature(signingKey ECPrivateKeyable, message []byte) [64]byte {
	key := signingKey.Serialize()
	if !clamped(&key) {
		return signUnclamped(&key, message)
	}
	sig, err := keycache.Private(&key).Sign(message)
	if err != nil {
		panic("ecc: no randomness")
	}
	return sig
}

// clamped reports whether a key has the bits that clamping would give it, which
// are not secret.
func clamped(key *[32]byte) bool { return key[0]&7 == 0 && key[31]&0xc0 == 0x40 }

// signUnclamped signs with a key that is hashed as it is and clamped for the
// arithmetic, as programs do that keep keys unclamped: the signatures of one
// random value differ from those of the clamped key, and all are valid.
func signUnclamped(key *[32]byte, message []byte) (sig [64]byte) {
	random := draw.Bytes()
	// The errors of setters are those of lengths, which are right.
	a, _ := new(curve.Scalar).SetBytesWithClamping(key[:])
	public := new(curve.Point).ScalarBaseMult(a).Bytes()
	sign := public[31] & 0x80

	h := sha512.New()
	h.Write(append([]byte{0xfe}, allOnes[:]...))
	h.Write(key[:])
	h.Write(message)
	h.Write(random[:])
	r, _ := new(curve.Scalar).SetUniformBytes(h.Sum(nil))
	copy(sig[:32], new(curve.Point).ScalarBaseMult(r).Bytes())

	h.Reset()
	h.Write(sig[:32])
	h.Write(public)
	h.Write(message)
	k, _ := new(curve.Scalar).SetUniformBytes(h.Sum(nil))
	copy(sig[32:], k.MultiplyAdd(k, a, r).Bytes())
	sig[63] |= sign
	return sig
}

// allOnes follow 0xfe in the prefix of nonces (XEdDSA, Section 2.5: hash1).
var allOnes = func() (b [31]byte) {
	for i := range b {
		b[i] = 0xff
	}
	return b
}()

// VerifySignature reports whether signature is a valid XEdDSA signature of
// message. A number s that is not below ℓ is refused. Variable time: the
// arguments are public.
func VerifySignature(signingKey ECPublicKeyable, message []byte, signature [64]byte) bool {
	s := signature[32:]
	var low [32]byte
	copy(low[:], s)
	low[31] &= 0x7f // the sign bit of the key
	if _, err := new(curve.Scalar).SetCanonicalBytes(low[:]); err != nil {
		return false
	}
	u := signingKey.PublicKey()
	return keycache.Public(&u).Verify(message, signature[:])
}
