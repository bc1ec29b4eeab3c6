package protocol

import (
	"fmt"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/util/bytehelper"
)

// A SenderKeyMessageSerializer has a wire form of SenderKeyMessages. That of a
// structure without a signature is what is signed.
type SenderKeyMessageSerializer interface {
	Serialize(signalMessage *SenderKeyMessageStructure) []byte
	Deserialize(serialized []byte) (*SenderKeyMessageStructure, error)
}

// A SenderKeyMessageStructure has the parts of a SenderKeyMessage.
type SenderKeyMessageStructure struct {
	ID         uint32
	Iteration  uint32
	CipherText []byte
	Version    uint32
	Signature  []byte
}

// A SenderKeyMessage is a message to a group.
type SenderKeyMessage struct {
	structure  SenderKeyMessageStructure
	serializer SenderKeyMessageSerializer
	serialized []byte // as it came; nil if it did not
}

// signatureLength is the size of the signature at the end of a message.
const signatureLength = 64

// NewSenderKeyMessageFromBytes reads a message, of which it keeps the bytes.
func NewSenderKeyMessageFromBytes(serialized []byte, serializer SenderKeyMessageSerializer) (*SenderKeyMessage, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	m, err := NewSenderKeyMessageFromStruct(structure, serializer)
	if err != nil {
		return nil, err
	}
	m.serialized = serialized
	return m, nil
}

// NewSenderKeyMessageFromStruct returns the message of these parts.
func NewSenderKeyMessageFromStruct(structure *SenderKeyMessageStructure, serializer SenderKeyMessageSerializer) (*SenderKeyMessage, error) {
	if structure == nil {
		return nil, errNil
	}
	if err := checkVersion(int(structure.Version)); err != nil {
		return nil, err
	}
	if len(structure.CipherText) == 0 || len(structure.Signature) != signatureLength {
		return nil, fmt.Errorf("%w: no ciphertext or no signature", signalerror.ErrIncompleteMessage)
	}
	return &SenderKeyMessage{structure: *structure, serializer: serializer}, nil
}

// NewSenderKeyMessage makes a message and signs it.
func NewSenderKeyMessage(keyID, iteration uint32, ciphertext []byte, signatureKey ecc.ECPrivateKeyable, serializer SenderKeyMessageSerializer) *SenderKeyMessage {
	m := &SenderKeyMessage{
		structure: SenderKeyMessageStructure{
			ID: keyID, Iteration: iteration, CipherText: ciphertext, Version: CurrentVersion,
		},
		serializer: serializer,
	}
	signature := ecc.CalculateSignature(signatureKey, m.Serialize())
	m.structure.Signature = signature[:]
	return m
}

// KeyID returns the id of the sender key.
func (p *SenderKeyMessage) KeyID() uint32 { return p.structure.ID }

// Iteration returns the counter of the message.
func (p *SenderKeyMessage) Iteration() uint32 { return p.structure.Iteration }

// Ciphertext returns the ciphertext.
func (p *SenderKeyMessage) Ciphertext() []byte { return p.structure.CipherText }

// Version returns the version of the message.
func (p *SenderKeyMessage) Version() uint32 { return p.structure.Version }

// Signature returns the signature.
func (p *SenderKeyMessage) Signature() [64]byte {
	return bytehelper.SliceToArray64(p.structure.Signature)
}

// Serialize returns what is signed: the message without its signature.
func (p *SenderKeyMessage) Serialize() []byte {
	structure := p.structure
	structure.Signature = nil
	return p.serializer.Serialize(&structure)
}

// SignedSerialize returns the bytes that came, or those of the parts, the
// signature included.
func (p *SenderKeyMessage) SignedSerialize() []byte {
	if p.serialized != nil {
		return p.serialized
	}
	return p.serializer.Serialize(&p.structure)
}

// Type returns SENDERKEY_TYPE.
func (p *SenderKeyMessage) Type() uint32 { return SENDERKEY_TYPE }
