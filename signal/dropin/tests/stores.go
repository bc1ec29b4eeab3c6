// Package tests has stores in memory, for tests of programs. They hand out the
// records that they keep, and must not be used by several goroutines at once.
package tests

import (
	"context"

	group "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/state/record"
)

// An InMemoryIdentityKey keeps identities.
type InMemoryIdentityKey struct {
	trusted        map[protocol.SignalAddress][33]byte
	pair           *identity.KeyPair
	registrationID uint32
}

// NewInMemoryIdentityKey returns a store of our identity.
func NewInMemoryIdentityKey(identityKey *identity.KeyPair, localRegistrationID uint32) *InMemoryIdentityKey {
	return &InMemoryIdentityKey{map[protocol.SignalAddress][33]byte{}, identityKey, localRegistrationID}
}

// GetIdentityKeyPair returns our identity.
func (i *InMemoryIdentityKey) GetIdentityKeyPair() *identity.KeyPair { return i.pair }

// GetLocalRegistrationID returns our registration id.
func (i *InMemoryIdentityKey) GetLocalRegistrationID() uint32 { return i.registrationID }

// SaveIdentity keeps an identity.
func (i *InMemoryIdentityKey) SaveIdentity(_ context.Context, address *protocol.SignalAddress, identityKey *identity.Key) error {
	i.trusted[*address] = [33]byte(identityKey.Serialize())
	return nil
}

// IsTrustedIdentity reports whether an identity is the one that is kept, or the
// first one.
func (i *InMemoryIdentityKey) IsTrustedIdentity(_ context.Context, address *protocol.SignalAddress, identityKey *identity.Key) (bool, error) {
	kept, ok := i.trusted[*address]
	return !ok || kept == [33]byte(identityKey.Serialize()), nil
}

// An InMemoryPreKey keeps one-time prekeys.
type InMemoryPreKey struct{ keys map[uint32]*record.PreKey }

// NewInMemoryPreKey returns an empty store.
func NewInMemoryPreKey() *InMemoryPreKey { return &InMemoryPreKey{map[uint32]*record.PreKey{}} }

// LoadPreKey returns a prekey, nil if it is not there.
func (i *InMemoryPreKey) LoadPreKey(_ context.Context, preKeyID uint32) (*record.PreKey, error) {
	return i.keys[preKeyID], nil
}

// StorePreKey keeps a prekey.
func (i *InMemoryPreKey) StorePreKey(_ context.Context, preKeyID uint32, preKeyRecord *record.PreKey) error {
	i.keys[preKeyID] = preKeyRecord
	return nil
}

// ContainsPreKey reports whether a prekey is there.
func (i *InMemoryPreKey) ContainsPreKey(_ context.Context, preKeyID uint32) (bool, error) {
	_, ok := i.keys[preKeyID]
	return ok, nil
}

// RemovePreKey removes a prekey.
func (i *InMemoryPreKey) RemovePreKey(_ context.Context, preKeyID uint32) error {
	delete(i.keys, preKeyID)
	return nil
}

// An InMemorySignedPreKey keeps signed prekeys.
type InMemorySignedPreKey struct {
	keys map[uint32]*record.SignedPreKey
}

// NewInMemorySignedPreKey returns an empty store.
func NewInMemorySignedPreKey() *InMemorySignedPreKey {
	return &InMemorySignedPreKey{map[uint32]*record.SignedPreKey{}}
}

// LoadSignedPreKey returns a signed prekey, nil if it is not there.
func (i *InMemorySignedPreKey) LoadSignedPreKey(_ context.Context, signedPreKeyID uint32) (*record.SignedPreKey, error) {
	return i.keys[signedPreKeyID], nil
}

// LoadSignedPreKeys returns all signed prekeys.
func (i *InMemorySignedPreKey) LoadSignedPreKeys(context.Context) ([]*record.SignedPreKey, error) {
	var all []*record.SignedPreKey
	for _, k := range i.keys {
		all = append(all, k)
	}
	return all, nil
}

// StoreSignedPreKey keeps a signed prekey.
func (i *InMemorySignedPreKey) StoreSignedPreKey(_ context.Context, signedPreKeyID uint32, record *record.SignedPreKey) error {
	i.keys[signedPreKeyID] = record
	return nil
}

// ContainsSignedPreKey reports whether a signed prekey is there.
func (i *InMemorySignedPreKey) ContainsSignedPreKey(_ context.Context, signedPreKeyID uint32) (bool, error) {
	_, ok := i.keys[signedPreKeyID]
	return ok, nil
}

// RemoveSignedPreKey removes a signed prekey.
func (i *InMemorySignedPreKey) RemoveSignedPreKey(_ context.Context, signedPreKeyID uint32) error {
	delete(i.keys, signedPreKeyID)
	return nil
}

// An InMemorySession keeps records of sessions.
type InMemorySession struct {
	sessions   map[protocol.SignalAddress]*record.Session
	serializer *serialize.Serializer
}

// NewInMemorySession returns an empty store.
func NewInMemorySession(serializer *serialize.Serializer) *InMemorySession {
	return &InMemorySession{map[protocol.SignalAddress]*record.Session{}, serializer}
}

// LoadSession returns a record, a new one if it is not there.
func (i *InMemorySession) LoadSession(_ context.Context, address *protocol.SignalAddress) (*record.Session, error) {
	if rec, ok := i.sessions[*address]; ok {
		return rec, nil
	}
	rec := record.NewSession(i.serializer.Session, i.serializer.State)
	i.sessions[*address] = rec
	return rec, nil
}

// GetSubDeviceSessions returns the devices of a user that have a record.
func (i *InMemorySession) GetSubDeviceSessions(_ context.Context, name string) ([]uint32, error) {
	var devices []uint32
	for address := range i.sessions {
		if address.Name() == name && address.DeviceID() != 1 {
			devices = append(devices, address.DeviceID())
		}
	}
	return devices, nil
}

// StoreSession keeps a record.
func (i *InMemorySession) StoreSession(_ context.Context, remoteAddress *protocol.SignalAddress, record *record.Session) error {
	i.sessions[*remoteAddress] = record
	return nil
}

// ContainsSession reports whether a record is there.
func (i *InMemorySession) ContainsSession(_ context.Context, remoteAddress *protocol.SignalAddress) (bool, error) {
	_, ok := i.sessions[*remoteAddress]
	return ok, nil
}

// DeleteSession removes a record.
func (i *InMemorySession) DeleteSession(_ context.Context, remoteAddress *protocol.SignalAddress) error {
	delete(i.sessions, *remoteAddress)
	return nil
}

// DeleteAllSessions removes all records.
func (i *InMemorySession) DeleteAllSessions(context.Context) error {
	clear(i.sessions)
	return nil
}

// An InMemorySenderKey keeps records of sender keys.
type InMemorySenderKey struct {
	keys map[senderKeyName]*group.SenderKey
}

// A senderKeyName is the name of a record, to be compared.
type senderKeyName struct {
	group  string
	sender protocol.SignalAddress
}

func nameOf(n *protocol.SenderKeyName) senderKeyName { return senderKeyName{n.GroupID(), *n.Sender()} }

// NewInMemorySenderKey returns an empty store.
func NewInMemorySenderKey() *InMemorySenderKey {
	return &InMemorySenderKey{map[senderKeyName]*group.SenderKey{}}
}

// StoreSenderKey keeps a record.
func (i *InMemorySenderKey) StoreSenderKey(_ context.Context, senderKeyName *protocol.SenderKeyName, keyRecord *group.SenderKey) error {
	i.keys[nameOf(senderKeyName)] = keyRecord
	return nil
}

// LoadSenderKey returns a record, nil if it is not there.
func (i *InMemorySenderKey) LoadSenderKey(_ context.Context, senderKeyName *protocol.SenderKeyName) (*group.SenderKey, error) {
	return i.keys[nameOf(senderKeyName)], nil
}
