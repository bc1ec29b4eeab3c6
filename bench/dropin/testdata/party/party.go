// Package party is one device over the API of go.mau.fi/libsignal, with stores
// that keep what a database keeps: bytes.
package party

import (
	"context"
	"errors"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	group "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"
)

var ctx = context.Background()

// Keys are the long-term keys of a device.
type Keys struct {
	Identity, SignedPreKey [32]byte
	RegistrationID         uint32
	Signature              [64]byte
}

// A Bundle is what a device publishes.
type Bundle struct {
	RegistrationID         uint32
	Identity, SignedPreKey [32]byte
	Signature              [64]byte
	PreKeyID               uint32 // 0: none
	PreKey                 [32]byte
}

// A Party is one device.
type Party struct {
	Keys
	Sessions, SenderKeys, Identities map[string][]byte
	PreKeys                          map[uint32][32]byte
	Removed                          []uint32
	serializer                       *serialize.Serializer
}

// New returns a device without sessions.
func New(k Keys) *Party {
	return &Party{
		Keys: k, Sessions: map[string][]byte{}, SenderKeys: map[string][]byte{}, Identities: map[string][]byte{},
		PreKeys: map[uint32][32]byte{}, serializer: serialize.NewProtoBufSerializer(),
	}
}

// GenerateKeys makes the keys of a device.
func GenerateKeys(registrationID uint32) (Keys, error) {
	id, err := ecc.GenerateKeyPair()
	if err != nil {
		return Keys{}, err
	}
	signed, err := ecc.GenerateKeyPair()
	if err != nil {
		return Keys{}, err
	}
	return Keys{
		Identity: id.PrivateKey().Serialize(), SignedPreKey: signed.PrivateKey().Serialize(), RegistrationID: registrationID,
		Signature: ecc.CalculateSignature(id.PrivateKey(), signed.PublicKey().Serialize()),
	}, nil
}

// Publish returns a bundle with a prekey of that id, or without one if it is 0.
func (p *Party) Publish(id uint32) Bundle {
	b := Bundle{
		RegistrationID: p.RegistrationID, Identity: public(p.Identity), SignedPreKey: public(p.SignedPreKey),
		Signature: p.Signature, PreKeyID: id,
	}
	if id != 0 {
		pair, err := ecc.GenerateKeyPair()
		if err != nil {
			panic(err)
		}
		p.PreKeys[id] = pair.PrivateKey().Serialize()
		b.PreKey = pair.PublicKey().PublicKey()
	}
	return b
}

func public(private [32]byte) [32]byte { return ecc.CreateKeyPair(private[:]).PublicKey().PublicKey() }

// ProcessBundle starts a session.
func (p *Party) ProcessBundle(name string, b Bundle) error {
	id, key := optional.NewEmptyUint32(), ecc.ECPublicKeyable(nil)
	if b.PreKeyID != 0 {
		id, key = optional.NewOptionalUint32(b.PreKeyID), ecc.NewDjbECPublicKey(b.PreKey)
	}
	bundle := prekey.NewBundle(b.RegistrationID, 1, id, 1, key, ecc.NewDjbECPublicKey(b.SignedPreKey), b.Signature,
		identity.NewKey(ecc.NewDjbECPublicKey(b.Identity)))
	return p.builder(name).ProcessBundle(ctx, bundle)
}

func (p *Party) builder(name string) *session.Builder {
	return session.NewBuilderFromSignal(p, address(name), p.serializer)
}

func address(name string) *protocol.SignalAddress { return protocol.NewSignalAddress(name, 1) }

// Encrypt returns the next message of a session and its type.
func (p *Party) Encrypt(name string, plaintext []byte) (uint32, []byte, error) {
	m, err := session.NewCipher(p.builder(name), address(name)).Encrypt(ctx, plaintext)
	if err != nil {
		return 0, nil, err
	}
	return m.Type(), m.Serialize(), nil
}

// Decrypt returns the plaintext of a message of a session.
func (p *Party) Decrypt(name string, kind uint32, message []byte) ([]byte, error) {
	c := session.NewCipher(p.builder(name), address(name))
	if kind == protocol.PREKEY_TYPE {
		m, err := protocol.NewPreKeySignalMessageFromBytes(message, p.serializer.PreKeySignalMessage, p.serializer.SignalMessage)
		if err != nil {
			return nil, err
		}
		return c.DecryptMessage(ctx, m)
	}
	m, err := protocol.NewSignalMessageFromBytes(message, p.serializer.SignalMessage)
	if err != nil {
		return nil, err
	}
	return c.Decrypt(ctx, m)
}

func senderKeyName(group, name string) *protocol.SenderKeyName {
	return protocol.NewSenderKeyName(group, address(name))
}

// CreateSenderKey returns the distribution message of a sender key of our own.
func (p *Party) CreateSenderKey(group, name string) ([]byte, error) {
	m, err := groups.NewGroupSessionBuilder(p, p.serializer).Create(ctx, senderKeyName(group, name))
	if err != nil {
		return nil, err
	}
	return m.Serialize(), nil
}

// ProcessSenderKey takes in a distribution message.
func (p *Party) ProcessSenderKey(group, name string, message []byte) error {
	m, err := protocol.NewSenderKeyDistributionMessageFromBytes(message, p.serializer.SenderKeyDistributionMessage)
	if err != nil {
		return err
	}
	return groups.NewGroupSessionBuilder(p, p.serializer).Process(ctx, senderKeyName(group, name), m)
}

func (p *Party) groupCipher(group, name string) *groups.GroupCipher {
	return groups.NewGroupCipher(groups.NewGroupSessionBuilder(p, p.serializer), senderKeyName(group, name), p)
}

// EncryptGroup returns the next message of our sender key.
func (p *Party) EncryptGroup(group, name string, plaintext []byte) ([]byte, error) {
	m, err := p.groupCipher(group, name).Encrypt(ctx, plaintext)
	if err != nil {
		return nil, err
	}
	return m.SignedSerialize(), nil
}

// DecryptGroup returns the plaintext of a message of a sender key.
func (p *Party) DecryptGroup(group, name string, message []byte) ([]byte, error) {
	m, err := protocol.NewSenderKeyMessageFromBytes(message, p.serializer.SenderKeyMessage)
	if err != nil {
		return nil, err
	}
	return p.groupCipher(group, name).Decrypt(ctx, m)
}

// Class names the error of this module that is in the chain of err.
func Class(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, signalerror.ErrOldCounter):
		return "old"
	case errors.Is(err, signalerror.ErrUntrustedIdentity):
		return "untrusted"
	case errors.Is(err, signalerror.ErrNoValidSessions):
		return "no valid session"
	case errors.Is(err, signalerror.ErrNoSessionForUser):
		return "no session"
	case errors.Is(err, signalerror.ErrNoSenderKeyForUser):
		return "no sender key"
	case errors.Is(err, signalerror.ErrNoSenderKeyStateForID):
		return "no sender key state"
	case errors.Is(err, signalerror.ErrSenderKeyStateVerificationFailed):
		return "bad signature"
	case errors.Is(err, signalerror.ErrTooFarIntoFuture):
		return "too far"
	case errors.Is(err, signalerror.ErrNoOneTimeKeyFound):
		return "no prekey"
	case errors.Is(err, signalerror.ErrNoSignedPreKey):
		return "no signed prekey"
	}
	return "other"
}

// Reserialize loads and writes a record of a session.
func Reserialize(rec []byte) ([]byte, error) {
	s := serialize.NewProtoBufSerializer()
	r, err := record.NewSessionFromBytes(rec, s.Session, s.State)
	if err != nil {
		return nil, err
	}
	return r.Serialize(), nil
}

// ReserializeSenderKey loads and writes a record of a sender key.
func ReserializeSenderKey(rec []byte) ([]byte, error) {
	s := serialize.NewProtoBufSerializer()
	r, err := group.NewSenderKeyFromBytes(rec, s.SenderKeyRecord, s.SenderKeyState)
	if err != nil {
		return nil, err
	}
	return r.Serialize(), nil
}
