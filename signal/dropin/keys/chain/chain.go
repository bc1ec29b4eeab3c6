// Package chain has the chains that message keys come from.
package chain

import (
	"crypto/hmac"
	"crypto/sha256"

	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/keys/message"
)

// What a chain key authenticates to give a message's keys and the next chain key.
var (
	messageKeySeed = []byte{1}
	chainKeySeed   = []byte{2}
)

// A Key is the key of a chain at a counter.
type Key struct {
	kdf   kdf.HKDF
	key   []byte
	index uint32
}

// KeyStructure is the stored form of a Key.
type KeyStructure struct {
	Key   []byte
	Index uint32
}

// NewKey returns the chain key at index.
func NewKey(kdf kdf.HKDF, key []byte, index uint32) *Key { return &Key{kdf, key, index} }

// NewKeyFromStruct returns the chain key of its stored form.
func NewKeyFromStruct(structure *KeyStructure, kdf kdf.HKDF) *Key {
	return NewKey(kdf, structure.Key, structure.Index)
}

// NewStructFromKey returns the stored form of a chain key.
func NewStructFromKey(key *Key) *KeyStructure { return &KeyStructure{key.key, key.index} }

// Current returns the key itself.
func (c *Key) Current() *Key { return c }

// Key returns the 32 bytes of the key.
func (c *Key) Key() []byte { return c.key }

// SetKey sets the 32 bytes of the key.
func (c *Key) SetKey(key []byte) { c.key = key }

// Index returns the counter of the next message.
func (c *Key) Index() uint32 { return c.index }

// SetIndex sets the counter of the next message.
func (c *Key) SetIndex(index uint32) { c.index = index }

// NextKey returns the chain key of the next counter.
func (c *Key) NextKey() *Key {
	return NewKey(c.kdf, c.BaseMaterial(chainKeySeed), c.index+1)
}

// MessageKeys returns the keys of the message at the counter of the chain, nil
// if they cannot be derived.
func (c *Key) MessageKeys() *message.Keys {
	okm, err := c.kdf(c.BaseMaterial(messageKeySeed), nil, []byte(message.KdfSalt), message.DerivedSecretsSize)
	if err != nil || len(okm) != message.DerivedSecretsSize {
		return nil
	}
	const mac = message.CipherKeyLength
	const iv = mac + message.MacKeyLength
	return message.NewKeys(okm[:mac:mac], okm[mac:iv:iv], okm[iv:], c.index)
}

// BaseMaterial returns the HMAC-SHA256 of seed under the chain key.
func (c *Key) BaseMaterial(seed []byte) []byte {
	h := hmac.New(sha256.New, c.key)
	h.Write(seed)
	return h.Sum(nil)
}
