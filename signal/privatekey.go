package signal

import (
	"fmt"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/internal/random"
)

// PrivateKey is a clamped X25519 private key as bytes. It prints as a
// placeholder in every format.
type PrivateKey [32]byte

// NewPrivateKey returns the clamped key of 32 bytes. The error wraps
// ErrBadKeyLength.
func NewPrivateKey(b []byte) (PrivateKey, error) {
	if len(b) != 32 {
		return PrivateKey{}, fmt.Errorf("signal: private key of %d bytes: %w", len(b), ErrBadKeyLength)
	}
	k := PrivateKey(b)
	k.clamp()
	return k, nil
}

// generatePrivateKey sets k to a fresh key. It draws 32 bytes.
func generatePrivateKey(k *PrivateKey) error {
	if err := random.Read(k[:]); err != nil {
		return err
	}
	k.clamp()
	return nil
}

// clamp is decodeScalar25519 of RFC 7748, Section 5. Keys are clamped when
// made and when loaded, so that what is stored is what is used.
func (k *PrivateKey) clamp() {
	k[0] &= 248
	k[31] = k[31]&127 | 64
}

// public returns the public key. Constant time.
func (k *PrivateKey) public() (p PublicKey) {
	curve.PublicKey((*[32]byte)(&p), (*[32]byte)(k))
	return p
}

// agree sets dst to the X25519 shared secret. Constant time. A low order point
// gives zeros, as in every deployed peer.
func (k *PrivateKey) agree(dst *[32]byte, peer *PublicKey) {
	curve.X25519(dst, (*[32]byte)(k), (*[32]byte)(peer))
}

// String returns a placeholder.
func (PrivateKey) String() string { return redacted }

// Format prints a placeholder for every verb.
func (PrivateKey) Format(f fmt.State, _ rune) { redact(f) }
