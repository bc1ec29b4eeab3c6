package signal

import (
	"crypto/subtle"
	"encoding/hex"
	"fmt"

	"github.com/sigcore/sigcore/curve"
)

const (
	// PublicKeySize is the size in bytes of a tagged public key.
	PublicKeySize = 33

	// SignatureSize is the size in bytes of an XEdDSA signature.
	SignatureSize = 64

	keyType = 5 // the only type byte, of Curve25519
)

// PublicKey is the Montgomery u-coordinate of a Curve25519 public key. Any 32
// bytes are one: points are not validated, as no deployed peer validates them.
type PublicKey [32]byte

// ParsePublicKey reads a tagged key: exactly 33 bytes, the type byte 5 first.
// The errors wrap ErrBadKeyLength or ErrBadKeyType.
func ParsePublicKey(b []byte) (PublicKey, error) {
	if len(b) > PublicKeySize {
		return PublicKey{}, fmt.Errorf("signal: public key of %d bytes: %w", len(b), ErrBadKeyLength)
	}
	return parseMessageKey(b)
}

// parseMessageKey is ParsePublicKey for a key inside a message, where bytes
// after the key are ignored because deployed peers ignore them and the MAC
// covers them.
func parseMessageKey(b []byte) (PublicKey, error) {
	switch {
	case len(b) > 0 && b[0] != keyType:
		return PublicKey{}, fmt.Errorf("signal: public key of type %d: %w", b[0], ErrBadKeyType)
	case len(b) < PublicKeySize:
		return PublicKey{}, fmt.Errorf("signal: public key of %d bytes: %w", len(b), ErrBadKeyLength)
	}
	return PublicKey(b[1:PublicKeySize]), nil
}

// parseStoredKey reads a key of a stored record: tagged, or the bare 32 bytes.
func parseStoredKey(b []byte) (PublicKey, error) {
	if len(b) == 32 {
		return PublicKey(b), nil
	}
	return ParsePublicKey(b)
}

// AppendBinary appends the tagged form, 33 bytes. The error is always nil.
func (k PublicKey) AppendBinary(dst []byte) ([]byte, error) {
	return k.appendTagged(dst), nil
}

func (k *PublicKey) appendTagged(dst []byte) []byte {
	return append(append(dst, keyType), k[:]...)
}

// Tagged returns the tagged form.
func (k PublicKey) Tagged() (b [PublicKeySize]byte) {
	b[0] = keyType
	copy(b[1:], k[:])
	return b
}

// Equal reports in constant time whether both are the same 32 bytes.
func (k PublicKey) Equal(other PublicKey) bool {
	return subtle.ConstantTimeCompare(k[:], other[:]) == 1
}

// String returns the tagged form in hexadecimal.
func (k PublicKey) String() string {
	b := k.Tagged()
	return hex.EncodeToString(b[:])
}

// VarTimeVerify reports whether sig, 64 bytes, is the XEdDSA signature of message
// under the key. Variable time: all of it is public.
func (k PublicKey) VarTimeVerify(message, sig []byte) bool {
	return curve.Verify((*[32]byte)(&k), message, sig)
}
