package record

import (
	"errors"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/util/bytehelper"
	"go.mau.fi/libsignal/util/optional"
)

// PreKeyStructure is the stored form of a PreKey.
type PreKeyStructure struct {
	ID         uint32
	PublicKey  []byte
	PrivateKey []byte
}

// A PreKeySerializer has a stored form of prekeys.
type PreKeySerializer interface {
	Serialize(preKey *PreKeyStructure) []byte
	Deserialize(serialized []byte) (*PreKeyStructure, error)
}

// A PreKey is a one-time prekey.
type PreKey struct {
	id         uint32
	keyPair    *ecc.ECKeyPair
	serializer PreKeySerializer
}

// NewPreKey returns the prekey of these parts. The serializer may be nil if
// Serialize is never called.
func NewPreKey(id uint32, keyPair *ecc.ECKeyPair, serializer PreKeySerializer) *PreKey {
	return &PreKey{id, keyPair, serializer}
}

// NewPreKeyFromBytes reads a stored prekey.
func NewPreKeyFromBytes(serialized []byte, serializer PreKeySerializer) (*PreKey, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewPreKeyFromStruct(structure, serializer)
}

// NewPreKeyFromStruct returns the prekey of its stored form.
func NewPreKeyFromStruct(structure *PreKeyStructure, serializer PreKeySerializer) (*PreKey, error) {
	if structure == nil {
		return nil, errors.New("prekey without a structure")
	}
	pair, err := keyPair(structure.PublicKey, structure.PrivateKey)
	if err != nil {
		return nil, err
	}
	return NewPreKey(structure.ID, pair, serializer), nil
}

// ID returns the id.
func (p *PreKey) ID() *optional.Uint32 { return optional.NewOptionalUint32(p.id) }

// KeyPair returns the keys.
func (p *PreKey) KeyPair() *ecc.ECKeyPair { return p.keyPair }

// Serialize returns the stored form.
func (p *PreKey) Serialize() []byte {
	structure := PreKeyStructure{ID: p.id}
	structure.PublicKey, structure.PrivateKey = pairBytes(p.keyPair)
	return p.serializer.Serialize(&structure)
}

// SignedPreKeyStructure is the stored form of a SignedPreKey.
type SignedPreKeyStructure struct {
	ID         uint32
	PublicKey  []byte
	PrivateKey []byte
	Signature  []byte
	Timestamp  int64
}

// A SignedPreKeySerializer has a stored form of signed prekeys.
type SignedPreKeySerializer interface {
	Serialize(signedPreKey *SignedPreKeyStructure) []byte
	Deserialize(serialized []byte) (*SignedPreKeyStructure, error)
}

// A SignedPreKey is a signed prekey.
type SignedPreKey struct {
	id         uint32
	timestamp  int64
	keyPair    *ecc.ECKeyPair
	signature  [64]byte
	serializer SignedPreKeySerializer
}

// NewSignedPreKey returns the signed prekey of these parts. The serializer may be
// nil if Serialize is never called.
func NewSignedPreKey(id uint32, timestamp int64, keyPair *ecc.ECKeyPair, sig [64]byte, serializer SignedPreKeySerializer) *SignedPreKey {
	return &SignedPreKey{id, timestamp, keyPair, sig, serializer}
}

// NewSignedPreKeyFromBytes reads a stored signed prekey.
func NewSignedPreKeyFromBytes(serialized []byte, serializer SignedPreKeySerializer) (*SignedPreKey, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewSignedPreKeyFromStruct(structure, serializer)
}

// NewSignedPreKeyFromStruct returns the signed prekey of its stored form.
func NewSignedPreKeyFromStruct(structure *SignedPreKeyStructure, serializer SignedPreKeySerializer) (*SignedPreKey, error) {
	if structure == nil {
		return nil, errors.New("signed prekey without a structure")
	}
	pair, err := keyPair(structure.PublicKey, structure.PrivateKey)
	if err != nil {
		return nil, err
	}
	return NewSignedPreKey(structure.ID, structure.Timestamp, pair, bytehelper.SliceToArray64(structure.Signature), serializer), nil
}

// ID returns the id.
func (s *SignedPreKey) ID() uint32 { return s.id }

// Timestamp returns when the prekey was made.
func (s *SignedPreKey) Timestamp() int64 { return s.timestamp }

// KeyPair returns the keys.
func (s *SignedPreKey) KeyPair() *ecc.ECKeyPair { return s.keyPair }

// Signature returns the signature of the public key.
func (s *SignedPreKey) Signature() [64]byte { return s.signature }

// Serialize returns the stored form.
func (s *SignedPreKey) Serialize() []byte {
	structure := SignedPreKeyStructure{ID: s.id, Timestamp: s.timestamp, Signature: s.signature[:]}
	structure.PublicKey, structure.PrivateKey = pairBytes(s.keyPair)
	return s.serializer.Serialize(&structure)
}
