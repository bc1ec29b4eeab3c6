// Package kdf has the key derivation functions of the protocol.
package kdf

import (
	"crypto/hkdf"
	"crypto/sha256"

	"github.com/sigcore/sigcore/curve"
)

// An HKDF derives outputLength bytes.
type HKDF func(inputKeyMaterial, salt, info []byte, outputLength int) ([]byte, error)

// KeyMaterial is what a message is encrypted with.
type KeyMaterial struct {
	CipherKey []byte
	MacKey    []byte
	IV        []byte
}

// DeriveSecrets is HKDF-SHA256 (RFC 5869).
func DeriveSecrets(inputKeyMaterial, salt, info []byte, outputLength int) ([]byte, error) {
	return hkdf.Key(sha256.New, inputKeyMaterial, salt, string(info), outputLength)
}

// CalculateSharedSecret returns the X25519 shared secret (RFC 7748). Points of
// low order give zeros. Constant time.
func CalculateSharedSecret(theirKey, ourKey [32]byte) (secret [32]byte) {
	curve.X25519(&secret, &ourKey, &theirKey)
	return secret
}
