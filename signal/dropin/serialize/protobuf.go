package serialize

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/util/bytehelper"
	"go.mau.fi/libsignal/util/optional"
	"google.golang.org/protobuf/encoding/protowire"
)

// A message of version 2 is read as one of version 3, from which it differs in
// nothing that is read, and refused by the session.
func version(serialized []byte) (b []byte, v int, err error) {
	if len(serialized) == 0 {
		return nil, 0, fmt.Errorf("%w: empty", signalerror.ErrIncompleteMessage)
	}
	v = int(serialized[0] >> 4)
	switch {
	case v <= protocol.UnsupportedVersion:
		return nil, v, fmt.Errorf("%w %d", signalerror.ErrOldMessageVersion, v)
	case v > protocol.CurrentVersion:
		return nil, v, fmt.Errorf("%w %d", signalerror.ErrUnknownMessageVersion, v)
	case v < protocol.CurrentVersion:
		serialized = bytehelper.CopySlice(serialized)
		serialized[0] = protocol.CurrentVersion<<4 | protocol.CurrentVersion
	}
	return serialized, v, nil
}

// failure says in the words of this module why a message was not read.
func failure(err error) error {
	switch {
	case errors.Is(err, signal.ErrLegacyVersion):
		return fmt.Errorf("%w: %w", signalerror.ErrOldMessageVersion, err)
	case errors.Is(err, signal.ErrUnknownVersion):
		return fmt.Errorf("%w: %w", signalerror.ErrUnknownMessageVersion, err)
	}
	return fmt.Errorf("%w: %w", signalerror.ErrIncompleteMessage, err)
}

// versionByte is the first byte of a message: as a digit, which is how it is
// written, of which readers take the upper half.
func versionByte(v int) byte { return '0' + byte(v) }

func tagged(key signal.PublicKey) []byte {
	b := key.Tagged()
	return b[:]
}

func array32(b []byte) [32]byte { return bytehelper.SliceToArray(b) }

// publicKey returns the key of a structure.
func publicKey(b []byte) signal.PublicKey {
	if len(b) != signal.PublicKeySize {
		return signal.PublicKey{}
	}
	return signal.PublicKey(b[1:])
}

// ProtoBufSignalMessageSerializer has the wire form of messages of sessions.
type ProtoBufSignalMessageSerializer struct{}

// Serialize returns the wire form, without a MAC if the structure has none.
func (j *ProtoBufSignalMessageSerializer) Serialize(signalMessage *protocol.SignalMessageStructure) []byte {
	m := signal.SignalMessage{
		RatchetKey:      publicKey(signalMessage.RatchetKey),
		Counter:         signalMessage.Counter,
		PreviousCounter: signalMessage.PreviousCounter,
		Ciphertext:      signalMessage.CipherText,
	}
	copy(m.MAC[:], signalMessage.Mac)
	b, _ := m.AppendBinary(nil) // whose error is nil
	b[0] = versionByte(signalMessage.Version)
	if len(signalMessage.Mac) == 0 {
		b = b[:len(b)-len(m.MAC)]
	}
	return b
}

// Deserialize reads the wire form. The structure has parts of serialized.
func (j *ProtoBufSignalMessageSerializer) Deserialize(serialized []byte) (*protocol.SignalMessageStructure, error) {
	b, v, err := version(serialized)
	if err != nil {
		return nil, err
	}
	m, err := signal.ParseSignalMessage(b)
	if err != nil {
		return nil, failure(err)
	}
	return &protocol.SignalMessageStructure{
		RatchetKey:      tagged(m.RatchetKey),
		Counter:         m.Counter,
		PreviousCounter: m.PreviousCounter,
		CipherText:      m.Ciphertext,
		Version:         v,
		Mac:             m.MAC[:],
	}, nil
}

// ProtoBufPreKeySignalMessageSerializer has the wire form of messages that start
// sessions.
type ProtoBufPreKeySignalMessageSerializer struct{}

// Serialize returns the wire form.
func (j *ProtoBufPreKeySignalMessageSerializer) Serialize(signalMessage *protocol.PreKeySignalMessageStructure) []byte {
	inner, _, err := version(signalMessage.Message)
	if err != nil {
		return nil
	}
	m := signal.PreKeySignalMessage{
		RegistrationID: signalMessage.RegistrationID,
		SignedPreKeyID: signalMessage.SignedPreKeyID,
		BaseKey:        publicKey(signalMessage.BaseKey),
		Identity:       publicKey(signalMessage.IdentityKey),
	}
	if id := signalMessage.PreKeyID; id != nil && !id.IsEmpty {
		m.HasPreKeyID, m.PreKeyID = true, id.Value
	}
	if m.Message, err = signal.ParseSignalMessage(inner); err != nil {
		return nil
	}
	b, _ := m.AppendBinary(nil) // whose error is nil
	b[0] = versionByte(signalMessage.Version)
	return b
}

// Deserialize reads the wire form. The structure has parts of serialized. A prekey
// id of 0 counts as none.
func (j *ProtoBufPreKeySignalMessageSerializer) Deserialize(serialized []byte) (*protocol.PreKeySignalMessageStructure, error) {
	b, v, err := version(serialized)
	if err != nil {
		return nil, err
	}
	m, err := signal.ParsePreKeySignalMessage(b)
	if err != nil {
		return nil, failure(err)
	}
	id := optional.NewEmptyUint32()
	if m.HasPreKeyID && m.PreKeyID != 0 {
		id = optional.NewOptionalUint32(m.PreKeyID)
	}
	return &protocol.PreKeySignalMessageStructure{
		RegistrationID: m.RegistrationID,
		PreKeyID:       id,
		SignedPreKeyID: m.SignedPreKeyID,
		BaseKey:        tagged(m.BaseKey),
		IdentityKey:    tagged(m.Identity),
		Message:        messageIn(b[1:]),
		Version:        v,
	}, nil
}

// messageIn returns the message inside a message that parses: the last field 4.
func messageIn(fields []byte) (inner []byte) {
	for len(fields) > 0 {
		num, typ, n := protowire.ConsumeField(fields)
		if n < 0 {
			break
		}
		if num == 4 && typ == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(fields)
			inner, _ = protowire.ConsumeBytes(fields[tag:n])
		}
		fields = fields[n:]
	}
	return inner
}

// ProtoBufSenderKeyMessageSerializer has the wire form of messages to groups.
type ProtoBufSenderKeyMessageSerializer struct{}

// Serialize returns the wire form, without a signature if the structure has none.
func (j *ProtoBufSenderKeyMessageSerializer) Serialize(message *protocol.SenderKeyMessageStructure) []byte {
	m := signal.SenderKeyMessage{KeyID: message.ID, Iteration: message.Iteration, Ciphertext: message.CipherText}
	copy(m.Signature[:], message.Signature)
	b, _ := m.AppendBinary(nil) // whose error is nil
	b[0] = versionByte(int(message.Version))
	if len(message.Signature) == 0 {
		b = b[:len(b)-len(m.Signature)]
	}
	return b
}

// Deserialize reads the wire form. The structure has parts of serialized.
func (j *ProtoBufSenderKeyMessageSerializer) Deserialize(serialized []byte) (*protocol.SenderKeyMessageStructure, error) {
	b, v, err := version(serialized)
	if err != nil {
		return nil, err
	}
	m, err := signal.ParseSenderKeyMessage(b)
	if err != nil {
		return nil, failure(err)
	}
	return &protocol.SenderKeyMessageStructure{
		ID: m.KeyID, Iteration: m.Iteration, CipherText: m.Ciphertext, Version: uint32(v), Signature: m.Signature[:],
	}, nil
}

// ProtoBufSenderKeyDistributionMessageSerializer has the wire form of
// distribution messages.
type ProtoBufSenderKeyDistributionMessageSerializer struct{}

// Serialize returns the wire form.
func (j *ProtoBufSenderKeyDistributionMessageSerializer) Serialize(message *protocol.SenderKeyDistributionMessageStructure) []byte {
	m := signal.SenderKeyDistributionMessage{
		KeyID: message.ID, Iteration: message.Iteration,
		ChainKey: array32(message.ChainKey), SigningKey: publicKey(message.SigningKey),
	}
	b, _ := m.AppendBinary(nil) // whose error is nil
	b[0] = versionByte(int(message.Version))
	return b
}

// Deserialize reads the wire form.
func (j *ProtoBufSenderKeyDistributionMessageSerializer) Deserialize(serialized []byte) (*protocol.SenderKeyDistributionMessageStructure, error) {
	b, v, err := version(serialized)
	if err != nil {
		return nil, err
	}
	m, err := signal.ParseSenderKeyDistributionMessage(b)
	if err != nil {
		return nil, failure(err)
	}
	return &protocol.SenderKeyDistributionMessageStructure{
		ID: m.KeyID, Iteration: m.Iteration, ChainKey: m.ChainKey[:], SigningKey: tagged(m.SigningKey), Version: uint32(v),
	}, nil
}
