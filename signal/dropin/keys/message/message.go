// Package message has the keys of single messages.
package message

// Sizes in bytes, and the info of their derivation.
const (
	DerivedSecretsSize = 80
	CipherKeyLength    = 32
	MacKeyLength       = 32
	IVLength           = 16
)

// KdfSalt is the info with which message keys are derived.
const KdfSalt string = "WhisperMessageKeys"

// Keys are the keys of one message.
type Keys struct {
	cipherKey []byte
	macKey    []byte
	iv        []byte
	index     uint32
}

// KeysStructure is the stored form of Keys.
type KeysStructure struct {
	CipherKey []byte
	MacKey    []byte
	IV        []byte
	Index     uint32
}

// NewKeys returns the keys of these parts.
func NewKeys(cipherKey, macKey, iv []byte, index uint32) *Keys {
	return &Keys{cipherKey, macKey, iv, index}
}

// NewKeysFromStruct returns the keys of their stored form.
func NewKeysFromStruct(structure *KeysStructure) *Keys {
	return NewKeys(structure.CipherKey, structure.MacKey, structure.IV, structure.Index)
}

// NewStructFromKeys returns the stored form of keys.
func NewStructFromKeys(keys *Keys) *KeysStructure {
	return &KeysStructure{keys.cipherKey, keys.macKey, keys.iv, keys.index}
}

// CipherKey returns the key of AES-256.
func (k *Keys) CipherKey() []byte { return k.cipherKey }

// MacKey returns the key of HMAC-SHA256.
func (k *Keys) MacKey() []byte { return k.macKey }

// Iv returns the initialization vector.
func (k *Keys) Iv() []byte { return k.iv }

// Index returns the counter of the message.
func (k *Keys) Index() uint32 { return k.index }
