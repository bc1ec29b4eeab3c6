// Package session has what a ratchet step gives.
package session

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/message"
)

// A RootKeyable is a root key.
type RootKeyable interface {
	Bytes() []byte
	CreateChain(theirRatchetKey ecc.ECPublicKeyable, ourRatchetKey *ecc.ECKeyPair) (*KeyPair, error)
}

// A ChainKeyable is the key of a chain.
type ChainKeyable interface {
	Key() []byte
	Index() uint32
	NextKey() *chain.Key
	MessageKeys() *message.Keys
	Current() *chain.Key
}

// A KeyPair is a root key and the chain that was made with it.
type KeyPair struct {
	RootKey  RootKeyable
	ChainKey ChainKeyable
}

// NewKeyPair returns the pair of the two keys.
func NewKeyPair(rootKey RootKeyable, chainKey ChainKeyable) *KeyPair {
	return &KeyPair{rootKey, chainKey}
}

// DerivedSecrets are 64 bytes of key material, cut in two.
type DerivedSecrets struct {
	rootKey  []byte
	chainKey []byte
}

// NewDerivedSecrets cuts 64 bytes into a root key and a chain key. From other
// lengths come keys of nothing.
func NewDerivedSecrets(keyMaterial []byte) *DerivedSecrets {
	if len(keyMaterial) != 64 {
		return new(DerivedSecrets)
	}
	return &DerivedSecrets{keyMaterial[:32:32], keyMaterial[32:]}
}

// RootKey returns the bytes of the root key.
func (d *DerivedSecrets) RootKey() []byte { return d.rootKey }

// ChainKey returns the bytes of the chain key.
func (d *DerivedSecrets) ChainKey() []byte { return d.chainKey }
