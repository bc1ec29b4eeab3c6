// Package ecc has the keys of Curve25519 and their signatures.
//
// Public keys travel with a type byte: 5, then the Montgomery u-coordinate.
// Signatures are XEdDSA.
package ecc

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/curve"
)

// KeySize is the size of a public key with its type byte.
const KeySize int = 33

// DjbType is the type byte of keys of Curve25519.
const DjbType = 5

// ErrBadKeyType is a public key of another type.
var ErrBadKeyType = errors.New("bad key type")

// An ECPublicKeyable is a public key.
type ECPublicKeyable interface {
	Serialize() []byte
	Type() int
	PublicKey() [32]byte
}

// An ECPrivateKeyable is a private key.
type ECPrivateKeyable interface {
	Serialize() [32]byte
	Type() int
}

// A DjbECPublicKey is a public key of Curve25519.
type DjbECPublicKey struct{ publicKey [32]byte }

// NewDjbECPublicKey returns the key with these 32 bytes.
func NewDjbECPublicKey(publicKey [32]byte) *DjbECPublicKey {
	return &DjbECPublicKey{publicKey}
}

// PublicKey returns the 32 bytes of the key.
func (d *DjbECPublicKey) PublicKey() [32]byte { return d.publicKey }

// Serialize returns the key with its type byte.
func (d *DjbECPublicKey) Serialize() []byte {
	return append(append(make([]byte, 0, KeySize), DjbType), d.publicKey[:]...)
}

// Type returns DjbType.
func (d *DjbECPublicKey) Type() int { return DjbType }

// A DjbECPrivateKey is a private key of Curve25519.
type DjbECPrivateKey struct{ privateKey [32]byte }

// NewDjbECPrivateKey returns the key with these 32 bytes.
func NewDjbECPrivateKey(key [32]byte) *DjbECPrivateKey { return &DjbECPrivateKey{key} }

// PrivateKey returns the 32 bytes of the key.
func (d *DjbECPrivateKey) PrivateKey() [32]byte { return d.privateKey }

// Serialize returns the 32 bytes of the key.
func (d *DjbECPrivateKey) Serialize() [32]byte { return d.privateKey }

// Type returns DjbType.
func (d *DjbECPrivateKey) Type() int { return DjbType }

// Format prints a placeholder for every verb.
func (d *DjbECPrivateKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// An ECKeyPair is a private key with its public key.
type ECKeyPair struct {
	publicKey  ECPublicKeyable
	privateKey ECPrivateKeyable
}

// NewECKeyPair returns the pair of the two keys, which are not compared.
func NewECKeyPair(publicKey ECPublicKeyable, privateKey ECPrivateKeyable) *ECKeyPair {
	return &ECKeyPair{publicKey, privateKey}
}

// PublicKey returns the public key.
func (e *ECKeyPair) PublicKey() ECPublicKeyable { return e.publicKey }

// PrivateKey returns the private key.
func (e *ECKeyPair) PrivateKey() ECPrivateKeyable { return e.privateKey }

// GenerateKeyPair draws 32 bytes and returns the pair of them.
func GenerateKeyPair() (*ECKeyPair, error) {
	key, err := curve.GenerateKey()
	if err != nil {
		return nil, err
	}
	return NewECKeyPair(NewDjbECPublicKey(key.PublicKey()), NewDjbECPrivateKey([32]byte(key.Bytes()))), nil
}

// CreateKeyPair returns the pair of a private key of 32 bytes. What is missing of
// them counts as zero.
func CreateKeyPair(privateKey []byte) *ECKeyPair {
	var private, public [32]byte
	copy(private[:], privateKey)
	curve.PublicKey(&public, &private)
	return NewECKeyPair(NewDjbECPublicKey(public), NewDjbECPrivateKey(private))
}

// DecodePoint reads the public key with a type byte at offset. Bytes behind it
// are ignored. The error of another type is in the chain ErrBadKeyType.
func DecodePoint(bytes []byte, offset int) (ECPublicKeyable, error) {
	if offset < 0 || offset > len(bytes) || len(bytes)-offset < KeySize {
		return nil, fmt.Errorf("public key of %d bytes, not %d", max(0, len(bytes)-max(0, offset)), KeySize)
	}
	if t := bytes[offset]; t != DjbType {
		return nil, fmt.Errorf("%w %d", ErrBadKeyType, t)
	}
	return NewDjbECPublicKey([32]byte(bytes[offset+1 : offset+KeySize])), nil
}
