// Package identity has the long-term keys of devices.
package identity

import (
	"encoding/hex"

	"go.mau.fi/libsignal/ecc"
)

// A Key is the public identity key of a device.
type Key struct{ publicKey ecc.ECPublicKeyable }

// NewKey returns the identity of a public key.
func NewKey(publicKey ecc.ECPublicKeyable) *Key { return &Key{publicKey} }

// NewKeyFromBytes returns the identity with these 32 bytes. The offset is not
// used.
func NewKeyFromBytes(publicKey [32]byte, _ int) Key {
	return Key{ecc.NewDjbECPublicKey(publicKey)}
}

// PublicKey returns the public key.
func (k *Key) PublicKey() ecc.ECPublicKeyable { return k.publicKey }

// Serialize returns the key with its type byte.
func (k *Key) Serialize() []byte { return k.publicKey.Serialize() }

// Fingerprint returns the key in hexadecimal.
func (k *Key) Fingerprint() string { return hex.EncodeToString(k.publicKey.Serialize()) }

// A KeyPair is an identity with its private key.
type KeyPair struct {
	publicKey  *Key
	privateKey ecc.ECPrivateKeyable
}

// NewKeyPair returns the pair of the two keys, which are not compared.
func NewKeyPair(publicKey *Key, privateKey ecc.ECPrivateKeyable) *KeyPair {
	return &KeyPair{publicKey, privateKey}
}

// PublicKey returns the public half.
func (k *KeyPair) PublicKey() *Key { return k.publicKey }

// PrivateKey returns the private half.
func (k *KeyPair) PrivateKey() ecc.ECPrivateKeyable { return k.privateKey }
