package session

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/store"
)

// A Cipher encrypts messages to one device and decrypts its messages. Whoever
// uses a record in two calls at once serialises them.
type Cipher struct {
	sessionStore            store.Session
	preKeyMessageSerializer protocol.PreKeySignalMessageSerializer
	signalMessageSerializer protocol.SignalMessageSerializer
	preKeyStore             store.PreKey
	remoteAddress           *protocol.SignalAddress
	builder                 *Builder
	identityKeyStore        store.IdentityKey
}

// NewCipher returns a cipher over the stores of a builder.
func NewCipher(builder *Builder, remoteAddress *protocol.SignalAddress) *Cipher {
	return &Cipher{
		sessionStore:            builder.sessionStore,
		preKeyMessageSerializer: builder.serializer.PreKeySignalMessage,
		signalMessageSerializer: builder.serializer.SignalMessage,
		preKeyStore:             builder.preKeyStore,
		remoteAddress:           remoteAddress,
		builder:                 builder,
		identityKeyStore:        builder.identityKeyStore,
	}
}

// NewCipherFromSession returns a cipher that starts no sessions.
func NewCipherFromSession(remoteAddress *protocol.SignalAddress, sessionStore store.Session, preKeyStore store.PreKey, identityKeyStore store.IdentityKey,
	preKeyMessageSerializer protocol.PreKeySignalMessageSerializer, signalMessageSerializer protocol.SignalMessageSerializer,
) *Cipher {
	return &Cipher{
		sessionStore:            sessionStore,
		preKeyMessageSerializer: preKeyMessageSerializer,
		signalMessageSerializer: signalMessageSerializer,
		preKeyStore:             preKeyStore,
		remoteAddress:           remoteAddress,
		identityKeyStore:        identityKeyStore,
	}
}

// Encrypt returns the next message of the session. Nothing is stored if there is
// an error.
func (d *Cipher) Encrypt(ctx context.Context, plaintext []byte) (protocol.CiphertextMessage, error) {
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, err
	}
	l, err := liveOf(rec)
	if err != nil {
		return nil, err
	}
	remote, ok := l.RemoteIdentity()
	if !ok {
		return nil, fmt.Errorf("%w: %w", signalerror.ErrUninitializedSession, signalerror.ErrNoSessionForUser)
	}
	key := identity.NewKey(ecc.NewDjbECPublicKey(remote))
	if err := d.trusted(ctx, key); err != nil {
		return nil, err
	}
	t, message, err := l.Encrypt(plaintext)
	if err != nil {
		return nil, failure(err)
	}
	live.SessionChanged(rec)
	if err := d.identityKeyStore.SaveIdentity(ctx, d.remoteAddress, key); err != nil {
		return nil, err
	}
	if err := d.sessionStore.StoreSession(ctx, d.remoteAddress, rec); err != nil {
		return nil, err
	}
	return d.outgoing(t, message)
}

// outgoing returns a message in the form of the serializer of this cipher.
func (d *Cipher) outgoing(t signal.MessageType, message []byte) (protocol.CiphertextMessage, error) {
	var wire serialize.ProtoBufSignalMessageSerializer
	var wirePreKey serialize.ProtoBufPreKeySignalMessageSerializer
	if t == signal.TypeSignal {
		m, err := protocol.NewSignalMessageFromBytes(message, &wire)
		if err != nil || d.signalMessageSerializer == nil || isWire(d.signalMessageSerializer) {
			return m, err
		}
		return protocol.NewSignalMessageFromStruct(m.Structure(), d.signalMessageSerializer)
	}
	m, err := protocol.NewPreKeySignalMessageFromBytes(message, &wirePreKey, &wire)
	if err != nil || d.signalMessageSerializer == nil || isWire(d.signalMessageSerializer) {
		return m, err
	}
	inner, err := protocol.NewSignalMessageFromStruct(m.WhisperMessage().Structure(), d.signalMessageSerializer)
	if err != nil {
		return nil, err
	}
	return protocol.NewPreKeySignalMessage(m.MessageVersion(), m.RegistrationID(), m.PreKeyID(), m.SignedPreKeyID(),
		m.BaseKey(), m.IdentityKey(), inner, d.preKeyMessageSerializer, d.signalMessageSerializer)
}

// trusted asks the store whether an identity may be used.
func (d *Cipher) trusted(ctx context.Context, key *identity.Key) error {
	ok, err := d.identityKeyStore.IsTrustedIdentity(ctx, d.remoteAddress, key)
	if err != nil {
		return err
	}
	if !ok {
		return signalerror.ErrUntrustedIdentity
	}
	return nil
}

// Decrypt returns the plaintext of a message of a session that is there. Nothing
// is stored if there is an error, and the record is as it was.
func (d *Cipher) Decrypt(ctx context.Context, ciphertextMessage *protocol.SignalMessage) ([]byte, error) {
	there, err := d.sessionStore.ContainsSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, signalerror.ErrNoSessionForUser
	}
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, err
	}
	l, err := liveOf(rec)
	if err != nil {
		return nil, err
	}
	wire, err := wireSignal(ciphertextMessage)
	if err != nil {
		return nil, err
	}
	var remote *identity.Key
	plaintext, err := l.Decrypt(wire, func(k signal.PublicKey) error {
		remote = identity.NewKey(ecc.NewDjbECPublicKey(k))
		return d.trusted(ctx, remote)
	})
	if err != nil {
		return nil, failure(err)
	}
	live.SessionChanged(rec)
	if err := d.identityKeyStore.SaveIdentity(ctx, d.remoteAddress, remote); err != nil {
		return nil, err
	}
	if err := d.sessionStore.StoreSession(ctx, d.remoteAddress, rec); err != nil {
		return nil, err
	}
	return plaintext, nil
}

// DecryptMessage returns the plaintext of a message that may start a session. Its
// one-time prekey is removed once the session is stored. Nothing is stored if
// there is an error, and the record is as it was.
func (d *Cipher) DecryptMessage(ctx context.Context, ciphertextMessage *protocol.PreKeySignalMessage) ([]byte, error) {
	if ciphertextMessage == nil {
		return nil, fmt.Errorf("%w: nil", signalerror.ErrIncompleteMessage)
	}
	rec, err := d.sessionStore.LoadSession(ctx, d.remoteAddress)
	if err != nil {
		return nil, err
	}
	l, err := liveOf(rec)
	if err != nil {
		return nil, err
	}
	if err := d.trusted(ctx, ciphertextMessage.IdentityKey()); err != nil {
		return nil, err
	}
	m, err := wirePreKey(ciphertextMessage)
	if err != nil {
		return nil, err
	}
	r := new(signal.Responder)
	if !l.Matches(m) {
		if r, err = d.builder.responder(ctx, ciphertextMessage); err != nil {
			return nil, err
		}
	}
	var used *signal.Received
	plaintext, err := l.DecryptPreKey(m, r, func(received *signal.Received) error {
		used = received
		return d.identityKeyStore.SaveIdentity(ctx, d.remoteAddress, ciphertextMessage.IdentityKey())
	})
	if err != nil {
		return nil, failure(err)
	}
	live.SessionChanged(rec)
	if err := d.sessionStore.StoreSession(ctx, d.remoteAddress, rec); err != nil {
		return nil, err
	}
	if used.ConsumedPreKey {
		if err := d.preKeyStore.RemovePreKey(ctx, used.PreKeyID); err != nil {
			return nil, err
		}
	}
	return plaintext, nil
}

// isWire reports whether a serializer is the one that devices understand.
func isWire(s protocol.SignalMessageSerializer) bool {
	_, ok := s.(*serialize.ProtoBufSignalMessageSerializer)
	return ok
}

// wireSignal returns a message in the form that devices understand: what came, if
// it has that form.
func wireSignal(m *protocol.SignalMessage) ([]byte, error) {
	if m == nil {
		return nil, fmt.Errorf("%w: nil", signalerror.ErrIncompleteMessage)
	}
	if v := m.MessageVersion(); v != protocol.CurrentVersion {
		return nil, fmt.Errorf("%w: %w: message version %d", signalerror.ErrNoValidSessions, signalerror.ErrWrongMessageVersion, v)
	}
	if b := m.Serialize(); len(b) > 0 && b[0]>>4 == protocol.CurrentVersion {
		return b, nil
	}
	return new(serialize.ProtoBufSignalMessageSerializer).Serialize(m.Structure()), nil
}

// wirePreKey is wireSignal for a message that may start a session.
func wirePreKey(p *protocol.PreKeySignalMessage) (*signal.PreKeySignalMessage, error) {
	inner, err := wireSignal(p.WhisperMessage())
	if err != nil {
		return nil, err
	}
	m := &signal.PreKeySignalMessage{
		RegistrationID: p.RegistrationID(),
		SignedPreKeyID: p.SignedPreKeyID(),
		BaseKey:        signal.PublicKey(p.BaseKey().PublicKey()),
		Identity:       signal.PublicKey(p.IdentityKey().PublicKey().PublicKey()),
	}
	if id := p.PreKeyID(); id != nil && !id.IsEmpty {
		m.HasPreKeyID, m.PreKeyID = true, id.Value
	}
	if m.Message, err = signal.ParseSignalMessage(inner); err != nil {
		return nil, err
	}
	return m, nil
}
