// Package root has the root keys of sessions.
package root

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/session"
)

// DerivedSecretsSize is the size of what a ratchet step derives.
const DerivedSecretsSize = 64

// KdfInfo is the info with which it does.
const KdfInfo string = "WhisperRatchet"

// A Key is the root key of a session.
type Key struct {
	kdf kdf.HKDF
	key []byte
}

// NewKey returns the root key with these bytes.
func NewKey(kdf kdf.HKDF, key []byte) *Key { return &Key{kdf, key} }

// Bytes returns the bytes of the key.
func (k *Key) Bytes() []byte { return k.key }

// CreateChain makes a ratchet step: it returns the next root key and the chain
// of the two ratchet keys.
func (k *Key) CreateChain(theirRatchetKey ecc.ECPublicKeyable, ourRatchetKey *ecc.ECKeyPair) (*session.KeyPair, error) {
	secret := kdf.CalculateSharedSecret(theirRatchetKey.PublicKey(), ourRatchetKey.PrivateKey().Serialize())
	okm, err := k.kdf(secret[:], k.key, []byte(KdfInfo), DerivedSecretsSize)
	if err != nil {
		return nil, err
	}
	keys := session.NewDerivedSecrets(okm)
	return session.NewKeyPair(NewKey(k.kdf, keys.RootKey()), chain.NewKey(k.kdf, keys.ChainKey(), 0)), nil
}
