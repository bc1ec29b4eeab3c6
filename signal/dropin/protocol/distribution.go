package protocol

import (
	"fmt"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/signalerror"
)

// A SenderKeyDistributionMessageSerializer has a wire form of distribution
// messages.
type SenderKeyDistributionMessageSerializer interface {
	Serialize(signalMessage *SenderKeyDistributionMessageStructure) []byte
	Deserialize(serialized []byte) (*SenderKeyDistributionMessageStructure, error)
}

// A SenderKeyDistributionMessageStructure has the parts of a distribution
// message.
type SenderKeyDistributionMessageStructure struct {
	ID         uint32
	Iteration  uint32
	ChainKey   []byte
	SigningKey []byte
	Version    uint32
}

// A SenderKeyDistributionMessage hands a sender key to a member of a group.
type SenderKeyDistributionMessage struct {
	structure    SenderKeyDistributionMessageStructure
	signatureKey ecc.ECPublicKeyable
	serializer   SenderKeyDistributionMessageSerializer
	serialized   []byte // as it came; nil if it did not
}

// NewSenderKeyDistributionMessageFromBytes reads a message, of which it keeps the
// bytes.
func NewSenderKeyDistributionMessageFromBytes(serialized []byte, serializer SenderKeyDistributionMessageSerializer) (*SenderKeyDistributionMessage, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	m, err := NewSenderKeyDistributionMessageFromStruct(structure, serializer)
	if err != nil {
		return nil, err
	}
	m.serialized = serialized
	return m, nil
}

// NewSenderKeyDistributionMessageFromStruct returns the message of these parts.
func NewSenderKeyDistributionMessageFromStruct(structure *SenderKeyDistributionMessageStructure, serializer SenderKeyDistributionMessageSerializer) (*SenderKeyDistributionMessage, error) {
	if structure == nil {
		return nil, errNil
	}
	if err := checkVersion(int(structure.Version)); err != nil {
		return nil, err
	}
	if len(structure.ChainKey) == 0 || len(structure.SigningKey) == 0 {
		return nil, fmt.Errorf("%w: no chain key or no signing key", signalerror.ErrIncompleteMessage)
	}
	key, err := point(structure.SigningKey)
	if err != nil {
		return nil, err
	}
	return &SenderKeyDistributionMessage{structure: *structure, signatureKey: key, serializer: serializer}, nil
}

// NewSenderKeyDistributionMessage returns the message of these parts.
func NewSenderKeyDistributionMessage(id, iteration uint32, chainKey []byte, signatureKey ecc.ECPublicKeyable, serializer SenderKeyDistributionMessageSerializer) *SenderKeyDistributionMessage {
	return &SenderKeyDistributionMessage{
		structure: SenderKeyDistributionMessageStructure{
			ID: id, Iteration: iteration, ChainKey: chainKey, SigningKey: signatureKey.Serialize(), Version: CurrentVersion,
		},
		signatureKey: signatureKey, serializer: serializer,
	}
}

// ID returns the id of the sender key.
func (p *SenderKeyDistributionMessage) ID() uint32 { return p.structure.ID }

// Iteration returns the counter from which on the key reads.
func (p *SenderKeyDistributionMessage) Iteration() uint32 { return p.structure.Iteration }

// ChainKey returns the chain key.
func (p *SenderKeyDistributionMessage) ChainKey() []byte { return p.structure.ChainKey }

// SignatureKey returns the public key that messages are signed with.
func (p *SenderKeyDistributionMessage) SignatureKey() ecc.ECPublicKeyable { return p.signatureKey }

// Serialize returns the bytes that came, or those of the parts.
func (p *SenderKeyDistributionMessage) Serialize() []byte {
	if p.serialized != nil {
		return p.serialized
	}
	return p.serializer.Serialize(&p.structure)
}

// Type returns SENDERKEY_DISTRIBUTION_TYPE.
func (p *SenderKeyDistributionMessage) Type() uint32 { return SENDERKEY_DISTRIBUTION_TYPE }
