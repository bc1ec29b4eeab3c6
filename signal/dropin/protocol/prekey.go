package protocol

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/util/optional"
)

// A PreKeySignalMessageSerializer has a wire form of PreKeySignalMessages.
type PreKeySignalMessageSerializer interface {
	Serialize(signalMessage *PreKeySignalMessageStructure) []byte
	Deserialize(serialized []byte) (*PreKeySignalMessageStructure, error)
}

// A PreKeySignalMessageStructure has the parts of a PreKeySignalMessage. Message
// is the serialized SignalMessage inside.
type PreKeySignalMessageStructure struct {
	RegistrationID uint32
	PreKeyID       *optional.Uint32
	SignedPreKeyID uint32
	BaseKey        []byte
	IdentityKey    []byte
	Message        []byte
	Version        int
}

// A PreKeySignalMessage is a SignalMessage with what its receiver needs to start
// the session.
type PreKeySignalMessage struct {
	structure   PreKeySignalMessageStructure
	baseKey     ecc.ECPublicKeyable
	identityKey *identity.Key
	message     *SignalMessage
	serializer  PreKeySignalMessageSerializer
	serialized  []byte // as it came; nil if it did not
}

// NewPreKeySignalMessageFromBytes reads a message, of which it keeps the bytes.
func NewPreKeySignalMessageFromBytes(serialized []byte, serializer PreKeySignalMessageSerializer, msgSerializer SignalMessageSerializer) (*PreKeySignalMessage, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	m, err := NewPreKeySignalMessageFromStruct(structure, serializer, msgSerializer)
	if err != nil {
		return nil, err
	}
	m.serialized = serialized
	return m, nil
}

// NewPreKeySignalMessageFromStruct returns the message of these parts.
func NewPreKeySignalMessageFromStruct(structure *PreKeySignalMessageStructure, serializer PreKeySignalMessageSerializer, msgSerializer SignalMessageSerializer) (*PreKeySignalMessage, error) {
	if structure == nil {
		return nil, errNil
	}
	if err := checkVersion(structure.Version); err != nil {
		return nil, err
	}
	base, err := point(structure.BaseKey)
	if err != nil {
		return nil, err
	}
	id, err := point(structure.IdentityKey)
	if err != nil {
		return nil, err
	}
	inner, err := NewSignalMessageFromBytes(structure.Message, msgSerializer)
	if err != nil {
		return nil, err
	}
	m := &PreKeySignalMessage{structure: *structure, baseKey: base, identityKey: identity.NewKey(id), message: inner, serializer: serializer}
	if m.structure.PreKeyID == nil {
		m.structure.PreKeyID = optional.NewEmptyUint32()
	}
	return m, nil
}

// NewPreKeySignalMessage returns the message of these parts. The serializer of
// the message inside is not used.
func NewPreKeySignalMessage(version int, registrationID uint32, preKeyID *optional.Uint32, signedPreKeyID uint32, baseKey ecc.ECPublicKeyable,
	identityKey *identity.Key, message *SignalMessage, serializer PreKeySignalMessageSerializer, _ SignalMessageSerializer,
) (*PreKeySignalMessage, error) {
	if preKeyID == nil {
		preKeyID = optional.NewEmptyUint32()
	}
	return &PreKeySignalMessage{
		structure: PreKeySignalMessageStructure{
			RegistrationID: registrationID,
			PreKeyID:       preKeyID,
			SignedPreKeyID: signedPreKeyID,
			BaseKey:        baseKey.Serialize(),
			IdentityKey:    identityKey.Serialize(),
			Message:        message.Serialize(),
			Version:        version,
		},
		baseKey: baseKey, identityKey: identityKey, message: message, serializer: serializer,
	}, nil
}

// MessageVersion returns the version of the message.
func (p *PreKeySignalMessage) MessageVersion() int { return p.structure.Version }

// IdentityKey returns the identity of the sender.
func (p *PreKeySignalMessage) IdentityKey() *identity.Key { return p.identityKey }

// RegistrationID returns the registration id of the sender.
func (p *PreKeySignalMessage) RegistrationID() uint32 { return p.structure.RegistrationID }

// PreKeyID returns the id of the one-time prekey, empty if there is none.
func (p *PreKeySignalMessage) PreKeyID() *optional.Uint32 { return p.structure.PreKeyID }

// SignedPreKeyID returns the id of the signed prekey.
func (p *PreKeySignalMessage) SignedPreKeyID() uint32 { return p.structure.SignedPreKeyID }

// BaseKey returns the base key of the session.
func (p *PreKeySignalMessage) BaseKey() ecc.ECPublicKeyable { return p.baseKey }

// WhisperMessage returns the message inside.
func (p *PreKeySignalMessage) WhisperMessage() *SignalMessage { return p.message }

// Serialize returns the bytes that came, or those of the parts.
func (p *PreKeySignalMessage) Serialize() []byte {
	if p.serialized != nil {
		return p.serialized
	}
	return p.serializer.Serialize(&p.structure)
}

// Type returns PREKEY_TYPE.
func (p *PreKeySignalMessage) Type() uint32 { return PREKEY_TYPE }
