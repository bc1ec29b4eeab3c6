package main

import (
	"context"
	"errors"

	"go.mau.fi/libsignal/ecc"
	grouprecord "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/state/record"
)

var errNotAsked = errors.New("mau: a store method that the comparison does not serve")

// mauForm is what goes over the wire: protobuf.
var mauForm = serialize.NewProtoBufSerializer()

// mauStore hands out live objects, the cheapest store that go.mau.fi/libsignal
// can have: nothing is parsed or serialized for a message.
type mauStore struct {
	identity   *identity.KeyPair
	sessions   map[string]*record.Session
	senderKeys map[string]*grouprecord.SenderKey
	preKeys    map[uint32]*record.PreKey
	signed     map[uint32]*record.SignedPreKey
	trusted    map[string]*identity.Key
}

func newMauStore() (*mauStore, error) {
	pair, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	return &mauStore{
		identity:   identity.NewKeyPair(identity.NewKey(pair.PublicKey()), pair.PrivateKey()),
		sessions:   make(map[string]*record.Session),
		senderKeys: make(map[string]*grouprecord.SenderKey),
		preKeys:    make(map[uint32]*record.PreKey),
		signed:     make(map[uint32]*record.SignedPreKey),
		trusted:    make(map[string]*identity.Key),
	}, nil
}

func (s *mauStore) GetIdentityKeyPair() *identity.KeyPair { return s.identity }
func (s *mauStore) GetLocalRegistrationID() uint32        { return 4711 }

func (s *mauStore) SaveIdentity(_ context.Context, a *protocol.SignalAddress, k *identity.Key) error {
	s.trusted[a.String()] = k
	return nil
}

func (s *mauStore) IsTrustedIdentity(_ context.Context, a *protocol.SignalAddress, k *identity.Key) (bool, error) {
	have := s.trusted[a.String()]
	return have == nil || have.PublicKey().PublicKey() == k.PublicKey().PublicKey(), nil
}

func (s *mauStore) LoadPreKey(_ context.Context, id uint32) (*record.PreKey, error) {
	return s.preKeys[id], nil
}

func (s *mauStore) StorePreKey(_ context.Context, id uint32, k *record.PreKey) error {
	s.preKeys[id] = k
	return nil
}

func (s *mauStore) ContainsPreKey(_ context.Context, id uint32) (bool, error) {
	return s.preKeys[id] != nil, nil
}

func (s *mauStore) RemovePreKey(_ context.Context, id uint32) error {
	delete(s.preKeys, id)
	return nil
}

func (s *mauStore) LoadSession(_ context.Context, a *protocol.SignalAddress) (*record.Session, error) {
	if r := s.sessions[a.String()]; r != nil {
		return r, nil
	}
	return record.NewSession(mauForm.Session, mauForm.State), nil
}

func (s *mauStore) StoreSession(_ context.Context, a *protocol.SignalAddress, r *record.Session) error {
	s.sessions[a.String()] = r
	return nil
}

func (s *mauStore) ContainsSession(_ context.Context, a *protocol.SignalAddress) (bool, error) {
	return s.sessions[a.String()] != nil, nil
}

func (s *mauStore) DeleteSession(_ context.Context, a *protocol.SignalAddress) error {
	delete(s.sessions, a.String())
	return nil
}

func (s *mauStore) GetSubDeviceSessions(context.Context, string) ([]uint32, error) {
	return nil, errNotAsked
}
func (s *mauStore) DeleteAllSessions(context.Context) error { return errNotAsked }

func (s *mauStore) LoadSignedPreKey(_ context.Context, id uint32) (*record.SignedPreKey, error) {
	return s.signed[id], nil
}

func (s *mauStore) StoreSignedPreKey(_ context.Context, id uint32, k *record.SignedPreKey) error {
	s.signed[id] = k
	return nil
}

func (s *mauStore) ContainsSignedPreKey(_ context.Context, id uint32) (bool, error) {
	return s.signed[id] != nil, nil
}

func (s *mauStore) RemoveSignedPreKey(_ context.Context, id uint32) error {
	delete(s.signed, id)
	return nil
}

func (s *mauStore) LoadSignedPreKeys(context.Context) ([]*record.SignedPreKey, error) {
	return nil, errNotAsked
}

func (s *mauStore) StoreSenderKey(_ context.Context, n *protocol.SenderKeyName, r *grouprecord.SenderKey) error {
	s.senderKeys[mauName(n)] = r
	return nil
}

func (s *mauStore) LoadSenderKey(_ context.Context, n *protocol.SenderKeyName) (*grouprecord.SenderKey, error) {
	if r := s.senderKeys[mauName(n)]; r != nil {
		return r, nil
	}
	return grouprecord.NewSenderKey(mauForm.SenderKeyRecord, mauForm.SenderKeyState), nil
}

func mauName(n *protocol.SenderKeyName) string { return n.GroupID() + " " + n.Sender().String() }
