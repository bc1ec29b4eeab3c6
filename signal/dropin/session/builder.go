// Package session encrypts and decrypts the messages of sessions, and starts
// sessions.
package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/internal/keycache"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/state/store"
	"go.mau.fi/libsignal/util/optional"
)

// A Builder starts sessions with one device.
type Builder struct {
	sessionStore      store.Session
	preKeyStore       store.PreKey
	signedPreKeyStore store.SignedPreKey
	identityKeyStore  store.IdentityKey
	remoteAddress     *protocol.SignalAddress
	serializer        *serialize.Serializer
}

// NewBuilder returns a builder over stores.
func NewBuilder(sessionStore store.Session, preKeyStore store.PreKey, signedStore store.SignedPreKey, identityStore store.IdentityKey,
	remoteAddress *protocol.SignalAddress, serializer *serialize.Serializer,
) *Builder {
	return &Builder{sessionStore, preKeyStore, signedStore, identityStore, remoteAddress, serializer}
}

// NewBuilderFromSignal returns a builder over one store of everything.
func NewBuilderFromSignal(signalStore store.SignalProtocol, remoteAddress *protocol.SignalAddress, serializer *serialize.Serializer) *Builder {
	return NewBuilder(signalStore, signalStore, signalStore, signalStore, remoteAddress, serializer)
}

// ProcessBundle starts a session from what a device publishes. Nothing is stored
// if there is an error.
func (b *Builder) ProcessBundle(ctx context.Context, preKey *prekey.Bundle) error {
	if preKey == nil || preKey.IdentityKey() == nil || preKey.SignedPreKey() == nil {
		return fmt.Errorf("%w: bundle without a key", signalerror.ErrInvalidSignature)
	}
	if err := b.trusted(ctx, preKey.IdentityKey()); err != nil {
		return err
	}
	bundle := signal.Bundle{
		RegistrationID: preKey.RegistrationID(),
		Identity:       signal.PublicKey(preKey.IdentityKey().PublicKey().PublicKey()),
		SignedPreKeyID: preKey.SignedPreKeyID(),
		SignedPreKey:   signal.PublicKey(preKey.SignedPreKey().PublicKey()),
		Signature:      preKey.SignedPreKeySignature(),
	}
	if key, id := preKey.PreKey(), preKey.PreKeyID(); key != nil && id != nil && !id.IsEmpty {
		bundle.HasPreKey, bundle.PreKeyID, bundle.PreKey = true, id.Value, signal.PublicKey(key.PublicKey())
	}
	// The verdict of package ecc, which is the stricter one.
	if !ecc.VerifySignature(preKey.IdentityKey().PublicKey(), preKey.SignedPreKey().Serialize(), bundle.Signature) {
		return signalerror.ErrInvalidSignature
	}
	rec, err := b.sessionStore.LoadSession(ctx, b.remoteAddress)
	if err != nil {
		return err
	}
	l, err := liveOf(rec)
	if err != nil {
		return err
	}
	local, err := b.local()
	if err != nil {
		return err
	}
	if err := l.Initiate(local, &bundle); err != nil {
		return failure(err)
	}
	live.SessionChanged(rec)
	if err := b.sessionStore.StoreSession(ctx, b.remoteAddress, rec); err != nil {
		return err
	}
	return b.identityKeyStore.SaveIdentity(ctx, b.remoteAddress, preKey.IdentityKey())
}

// Process makes the session that a message starts the current one of a record,
// without reading the message, and returns the id of the one-time prekey that it
// uses. A cipher does this by itself, and only once the message is known to be
// genuine.
func (b *Builder) Process(ctx context.Context, sessionRecord *record.Session, message *protocol.PreKeySignalMessage) (unsignedPreKeyID *optional.Uint32, err error) {
	if message == nil {
		return nil, fmt.Errorf("%w: nil", signalerror.ErrIncompleteMessage)
	}
	l, err := liveOf(sessionRecord)
	if err != nil {
		return nil, err
	}
	if err := b.trusted(ctx, message.IdentityKey()); err != nil {
		return nil, err
	}
	m, err := wirePreKey(message)
	if err != nil {
		return nil, err
	}
	if l.Matches(m) {
		return optional.NewEmptyUint32(), nil
	}
	r, err := b.responder(ctx, message)
	if err != nil {
		return nil, err
	}
	used := optional.NewEmptyUint32()
	_, err = l.DecryptPreKey(m, r, func(received *signal.Received) error {
		if received.ConsumedPreKey {
			used = optional.NewOptionalUint32(received.PreKeyID)
		}
		return b.identityKeyStore.SaveIdentity(ctx, b.remoteAddress, message.IdentityKey())
	})
	if err != nil {
		return nil, failure(err)
	}
	live.SessionChanged(sessionRecord)
	return used, nil
}

// trusted asks the store whether an identity may be used.
func (b *Builder) trusted(ctx context.Context, key *identity.Key) error {
	ok, err := b.identityKeyStore.IsTrustedIdentity(ctx, b.remoteAddress, key)
	if err != nil {
		return err
	}
	if !ok {
		return signalerror.ErrUntrustedIdentity
	}
	return nil
}

// responder loads what a message that starts a session is answered with.
func (b *Builder) responder(ctx context.Context, message *protocol.PreKeySignalMessage) (*signal.Responder, error) {
	signed, err := b.signedPreKey(ctx, message)
	if err != nil {
		return nil, err
	}
	local, err := b.local()
	if err != nil {
		return nil, err
	}
	r := &signal.Responder{Local: local, SignedPreKey: &signal.SignedPreKey{
		ID:      message.SignedPreKeyID(),
		Public:  signal.PublicKey(signed.KeyPair().PublicKey().PublicKey()),
		Private: privateKey(signed.KeyPair()),
	}}
	if preKeyID := message.PreKeyID(); preKeyID != nil && !preKeyID.IsEmpty {
		key, err := b.preKeyStore.LoadPreKey(ctx, preKeyID.Value)
		if err != nil {
			return nil, err
		}
		if key == nil || key.KeyPair().PrivateKey() == nil {
			return nil, fmt.Errorf("%w with ID %d", signalerror.ErrNoOneTimeKeyFound, preKeyID.Value)
		}
		r.PreKey = &signal.PreKey{
			ID:      preKeyID.Value,
			Public:  signal.PublicKey(key.KeyPair().PublicKey().PublicKey()),
			Private: privateKey(key.KeyPair()),
		}
	}
	return r, nil
}

func (b *Builder) signedPreKey(ctx context.Context, message *protocol.PreKeySignalMessage) (*record.SignedPreKey, error) {
	if b == nil {
		return nil, fmt.Errorf("%w: a cipher without a builder starts none", signalerror.ErrNoSessionForUser)
	}
	signed, err := b.signedPreKeyStore.LoadSignedPreKey(ctx, message.SignedPreKeyID())
	if err != nil {
		return nil, err
	}
	if signed == nil || signed.KeyPair().PrivateKey() == nil {
		return nil, fmt.Errorf("%w with ID %d", signalerror.ErrNoSignedPreKey, message.SignedPreKeyID())
	}
	return signed, nil
}

func privateKey(pair *ecc.ECKeyPair) signal.PrivateKey {
	return signal.PrivateKey(pair.PrivateKey().Serialize())
}

// local returns who we are.
func (b *Builder) local() (signal.Local, error) {
	pair := b.identityKeyStore.GetIdentityKeyPair()
	if pair == nil || pair.PrivateKey() == nil {
		return signal.Local{}, errors.New("no identity in store")
	}
	key := pair.PrivateKey().Serialize()
	return signal.Local{Identity: signal.NewIdentityKeyPair(keycache.Private(&key)), RegistrationID: b.identityKeyStore.GetLocalRegistrationID()}, nil
}

// liveOf returns what ciphers work on.
func liveOf(rec *record.Session) (*live.Session, error) {
	if rec == nil {
		return nil, signalerror.ErrNoSessionForUser
	}
	return live.OfSession(rec)
}
