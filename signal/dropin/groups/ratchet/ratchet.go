// Package ratchet has the chains of sender keys.
package ratchet

import (
	"crypto/hmac"
	"crypto/sha256"

	"go.mau.fi/libsignal/kdf"
)

// KdfInfo is the info with which message keys are derived.
const KdfInfo string = "WhisperGroup"

// A SenderChainKey is the chain key of a sender at a counter.
type SenderChainKey struct {
	iteration uint32
	chainKey  []byte
}

// SenderChainKeyStructure is the stored form of a SenderChainKey.
type SenderChainKeyStructure struct {
	Iteration uint32
	ChainKey  []byte
}

// NewSenderChainKey returns the chain key at iteration.
func NewSenderChainKey(iteration uint32, chainKey []byte) *SenderChainKey {
	return &SenderChainKey{iteration, chainKey}
}

// NewSenderChainKeyFromStruct returns the chain key of its stored form.
func NewSenderChainKeyFromStruct(structure *SenderChainKeyStructure) *SenderChainKey {
	return NewSenderChainKey(structure.Iteration, structure.ChainKey)
}

// NewStructFromSenderChainKey returns the stored form of a chain key.
func NewStructFromSenderChainKey(key *SenderChainKey) *SenderChainKeyStructure {
	return &SenderChainKeyStructure{key.iteration, key.chainKey}
}

// Iteration returns the counter of the next message.
func (k *SenderChainKey) Iteration() uint32 { return k.iteration }

// Seed returns the bytes of the chain key.
func (k *SenderChainKey) Seed() []byte { return k.chainKey }

// SenderMessageKey returns the keys of the message at the counter.
func (k *SenderChainKey) SenderMessageKey() (*SenderMessageKey, error) {
	return NewSenderMessageKey(k.iteration, k.derive(1))
}

// Next returns the chain key of the next counter.
func (k *SenderChainKey) Next() *SenderChainKey {
	return NewSenderChainKey(k.iteration+1, k.derive(2))
}

func (k *SenderChainKey) derive(seed byte) []byte {
	h := hmac.New(sha256.New, k.chainKey)
	h.Write([]byte{seed})
	return h.Sum(nil)
}

// A SenderMessageKey has the keys of one message.
type SenderMessageKey struct {
	iteration uint32
	iv        []byte
	cipherKey []byte
	seed      []byte
}

// SenderMessageKeyStructure is the stored form of a SenderMessageKey.
type SenderMessageKeyStructure struct {
	Iteration uint32
	IV        []byte
	CipherKey []byte
	Seed      []byte
}

// NewSenderMessageKey derives the keys of a message from its seed.
func NewSenderMessageKey(iteration uint32, seed []byte) (*SenderMessageKey, error) {
	okm, err := kdf.DeriveSecrets(seed, nil, []byte(KdfInfo), 48)
	if err != nil {
		return nil, err
	}
	return &SenderMessageKey{iteration, okm[:16:16], okm[16:], seed}, nil
}

// NewSenderMessageKeyFromStruct returns the keys of their stored form.
func NewSenderMessageKeyFromStruct(structure *SenderMessageKeyStructure) *SenderMessageKey {
	return &SenderMessageKey{structure.Iteration, structure.IV, structure.CipherKey, structure.Seed}
}

// NewStructFromSenderMessageKey returns the stored form of keys.
func NewStructFromSenderMessageKey(key *SenderMessageKey) *SenderMessageKeyStructure {
	return &SenderMessageKeyStructure{key.iteration, key.iv, key.cipherKey, key.seed}
}

// Iteration returns the counter of the message.
func (k *SenderMessageKey) Iteration() uint32 { return k.iteration }

// Iv returns the initialization vector.
func (k *SenderMessageKey) Iv() []byte { return k.iv }

// CipherKey returns the key of AES-256.
func (k *SenderMessageKey) CipherKey() []byte { return k.cipherKey }

// Seed returns what the keys are derived from.
func (k *SenderMessageKey) Seed() []byte { return k.seed }
