package protocol

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/util/bytehelper"
)

// MacLength is the size in bytes of the MAC of a SignalMessage.
const MacLength int = 8

// A SignalMessageSerializer has a wire form of SignalMessages.
type SignalMessageSerializer interface {
	Serialize(signalMessage *SignalMessageStructure) []byte
	Deserialize(serialized []byte) (*SignalMessageStructure, error)
}

// A SignalMessageStructure has the parts of a SignalMessage.
type SignalMessageStructure struct {
	RatchetKey      []byte
	Counter         uint32
	PreviousCounter uint32
	CipherText      []byte
	Version         int
	Mac             []byte
}

// A SignalMessage is a message of a session.
type SignalMessage struct {
	structure        SignalMessageStructure
	senderRatchetKey ecc.ECPublicKeyable
	serializer       SignalMessageSerializer
	serialized       []byte // as it came; nil if it did not
}

// NewSignalMessageFromBytes reads a message, of which it keeps the bytes.
func NewSignalMessageFromBytes(serialized []byte, serializer SignalMessageSerializer) (*SignalMessage, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	m, err := NewSignalMessageFromStruct(structure, serializer)
	if err != nil {
		return nil, err
	}
	m.serialized = serialized
	return m, nil
}

// NewSignalMessageFromStruct returns the message of these parts.
func NewSignalMessageFromStruct(structure *SignalMessageStructure, serializer SignalMessageSerializer) (*SignalMessage, error) {
	if structure == nil {
		return nil, errNil
	}
	if err := checkVersion(structure.Version); err != nil {
		return nil, err
	}
	if len(structure.CipherText) == 0 {
		return nil, fmt.Errorf("%w: no ciphertext", signalerror.ErrIncompleteMessage)
	}
	key, err := point(structure.RatchetKey)
	if err != nil {
		return nil, err
	}
	return &SignalMessage{structure: *structure, senderRatchetKey: key, serializer: serializer}, nil
}

// NewSignalMessage makes a message and its MAC.
func NewSignalMessage(messageVersion int, counter, previousCounter uint32, macKey []byte, senderRatchetKey ecc.ECPublicKeyable,
	ciphertext []byte, senderIdentityKey, receiverIdentityKey *identity.Key, serializer SignalMessageSerializer,
) (*SignalMessage, error) {
	m := &SignalMessage{
		structure: SignalMessageStructure{
			RatchetKey:      senderRatchetKey.Serialize(),
			Counter:         counter,
			PreviousCounter: previousCounter,
			CipherText:      ciphertext,
			Version:         messageVersion,
		},
		senderRatchetKey: senderRatchetKey,
		serializer:       serializer,
	}
	mac, err := computeMAC(macKey, senderIdentityKey, receiverIdentityKey, serializer.Serialize(&m.structure))
	if err != nil {
		return nil, err
	}
	m.structure.Mac = mac
	return m, nil
}

// Structure returns a copy of the parts.
func (s *SignalMessage) Structure() *SignalMessageStructure {
	structure := s.structure
	return &structure
}

// MessageVersion returns the version of the message.
func (s *SignalMessage) MessageVersion() int { return s.structure.Version }

// SenderRatchetKey returns the ratchet key of the sender.
func (s *SignalMessage) SenderRatchetKey() ecc.ECPublicKeyable { return s.senderRatchetKey }

// Counter returns the counter of the message.
func (s *SignalMessage) Counter() uint32 { return s.structure.Counter }

// Body returns the ciphertext.
func (s *SignalMessage) Body() []byte { return s.structure.CipherText }

// VerifyMac checks the MAC over the bytes that came. The error has
// signalerror.ErrBadMAC in its chain. Constant time.
func (s *SignalMessage) VerifyMac(messageVersion int, senderIdentityKey, receiverIdentityKey *identity.Key, macKey []byte) error {
	authenticated := s.serialized
	if n := len(authenticated) - MacLength; n >= 0 && hmac.Equal(authenticated[n:], s.structure.Mac) {
		authenticated = authenticated[:n]
	} else {
		structure := s.structure
		structure.Mac, structure.Version = nil, messageVersion
		authenticated = s.serializer.Serialize(&structure)
	}
	mac, err := computeMAC(macKey, senderIdentityKey, receiverIdentityKey, authenticated)
	if err != nil {
		return err
	}
	if !hmac.Equal(mac, s.structure.Mac) {
		return signalerror.ErrBadMAC
	}
	return nil
}

func computeMAC(key []byte, sender, receiver *identity.Key, authenticated []byte) ([]byte, error) {
	if len(key) == 0 {
		return nil, fmt.Errorf("%w: no MAC key", signalerror.ErrBadMAC)
	}
	h := hmac.New(sha256.New, key)
	h.Write(sender.Serialize())
	h.Write(receiver.Serialize())
	h.Write(authenticated)
	return bytehelper.Trim(h.Sum(nil), MacLength), nil
}

// Serialize returns the bytes that came, or those of the parts, the MAC included.
func (s *SignalMessage) Serialize() []byte {
	if s.serialized != nil {
		return s.serialized
	}
	return s.serializer.Serialize(&s.structure)
}

// Type returns WHISPER_TYPE.
func (s *SignalMessage) Type() uint32 { return WHISPER_TYPE }
