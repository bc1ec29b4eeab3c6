// Package store has what a program implements to keep identities, prekeys and
// sessions.
package store

import (
	"context"

	senderkey "go.mau.fi/libsignal/groups/state/store"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/state/record"
)

// SignalProtocol keeps everything.
type SignalProtocol interface {
	IdentityKey
	PreKey
	Session
	SignedPreKey
	senderkey.SenderKey
}

// IdentityKey keeps our identity and those of others.
type IdentityKey interface {
	GetIdentityKeyPair() *identity.KeyPair
	GetLocalRegistrationID() uint32
	SaveIdentity(ctx context.Context, address *protocol.SignalAddress, identityKey *identity.Key) error
	IsTrustedIdentity(ctx context.Context, address *protocol.SignalAddress, identityKey *identity.Key) (bool, error)
}

// PreKey keeps one-time prekeys. LoadPreKey returns nil for one that is not there.
type PreKey interface {
	LoadPreKey(ctx context.Context, preKeyID uint32) (*record.PreKey, error)
	StorePreKey(ctx context.Context, preKeyID uint32, preKeyRecord *record.PreKey) error
	ContainsPreKey(ctx context.Context, preKeyID uint32) (bool, error)
	RemovePreKey(ctx context.Context, preKeyID uint32) error
}

// SignedPreKey keeps signed prekeys. LoadSignedPreKey returns nil for one that is
// not there.
type SignedPreKey interface {
	LoadSignedPreKey(ctx context.Context, signedPreKeyID uint32) (*record.SignedPreKey, error)
	LoadSignedPreKeys(ctx context.Context) ([]*record.SignedPreKey, error)
	StoreSignedPreKey(ctx context.Context, signedPreKeyID uint32, record *record.SignedPreKey) error
	ContainsSignedPreKey(ctx context.Context, signedPreKeyID uint32) (bool, error)
	RemoveSignedPreKey(ctx context.Context, signedPreKeyID uint32) error
}

// Session keeps records of sessions. LoadSession returns a new record for one
// that is not there. It may hand out a record that it keeps.
type Session interface {
	LoadSession(ctx context.Context, address *protocol.SignalAddress) (*record.Session, error)
	GetSubDeviceSessions(ctx context.Context, name string) ([]uint32, error)
	StoreSession(ctx context.Context, remoteAddress *protocol.SignalAddress, record *record.Session) error
	ContainsSession(ctx context.Context, remoteAddress *protocol.SignalAddress) (bool, error)
	DeleteSession(ctx context.Context, remoteAddress *protocol.SignalAddress) error
	DeleteAllSessions(ctx context.Context) error
}

// MessageKey keeps keys of messages.
type MessageKey interface {
	LoadMessageKey(ctx context.Context, keyID uint32) (*message.Keys, error)
	StoreMessageKey(ctx context.Context, keyID uint32, key *message.Keys) error
	ContainsMessageKey(ctx context.Context, keyID uint32) (bool, error)
	RemoveMessageKey(ctx context.Context, keyID uint32) error
}
