package party

import (
	"context"

	"go.mau.fi/libsignal/ecc"
	group "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/state/record"
)

// GetIdentityKeyPair is that of a store.
func (p *Party) GetIdentityKeyPair() *identity.KeyPair {
	return identity.NewKeyPair(identity.NewKey(ecc.NewDjbECPublicKey(public(p.Identity))), ecc.NewDjbECPrivateKey(p.Identity))
}

// GetLocalRegistrationID is that of a store.
func (p *Party) GetLocalRegistrationID() uint32 { return p.RegistrationID }

// SaveIdentity is that of a store.
func (p *Party) SaveIdentity(_ context.Context, a *protocol.SignalAddress, k *identity.Key) error {
	p.Identities[a.String()] = k.Serialize()
	return nil
}

// IsTrustedIdentity is that of a store.
func (p *Party) IsTrustedIdentity(_ context.Context, a *protocol.SignalAddress, k *identity.Key) (bool, error) {
	kept, ok := p.Identities[a.String()]
	return !ok || string(kept) == string(k.Serialize()), nil
}

// LoadPreKey is that of a store.
func (p *Party) LoadPreKey(_ context.Context, id uint32) (*record.PreKey, error) {
	k, ok := p.PreKeys[id]
	if !ok {
		return nil, nil
	}
	return record.NewPreKey(id, ecc.CreateKeyPair(k[:]), nil), nil
}

// RemovePreKey is that of a store.
func (p *Party) RemovePreKey(_ context.Context, id uint32) error {
	delete(p.PreKeys, id)
	p.Removed = append(p.Removed, id)
	return nil
}

// LoadSignedPreKey is that of a store.
func (p *Party) LoadSignedPreKey(_ context.Context, id uint32) (*record.SignedPreKey, error) {
	return record.NewSignedPreKey(id, 0, ecc.CreateKeyPair(p.SignedPreKey[:]), p.Signature, nil), nil
}

// LoadSession is that of a store.
func (p *Party) LoadSession(_ context.Context, a *protocol.SignalAddress) (*record.Session, error) {
	b, ok := p.Sessions[a.String()]
	if !ok {
		return record.NewSession(p.serializer.Session, p.serializer.State), nil
	}
	return record.NewSessionFromBytes(b, p.serializer.Session, p.serializer.State)
}

// StoreSession is that of a store.
func (p *Party) StoreSession(_ context.Context, a *protocol.SignalAddress, r *record.Session) error {
	p.Sessions[a.String()] = r.Serialize()
	return nil
}

// ContainsSession is that of a store.
func (p *Party) ContainsSession(_ context.Context, a *protocol.SignalAddress) (bool, error) {
	_, ok := p.Sessions[a.String()]
	return ok, nil
}

// LoadSenderKey is that of a store.
func (p *Party) LoadSenderKey(_ context.Context, n *protocol.SenderKeyName) (*group.SenderKey, error) {
	b, ok := p.SenderKeys[n.GroupID()+n.Sender().String()]
	if !ok {
		return group.NewSenderKey(p.serializer.SenderKeyRecord, p.serializer.SenderKeyState), nil
	}
	return group.NewSenderKeyFromBytes(b, p.serializer.SenderKeyRecord, p.serializer.SenderKeyState)
}

// StoreSenderKey is that of a store.
func (p *Party) StoreSenderKey(_ context.Context, n *protocol.SenderKeyName, r *group.SenderKey) error {
	p.SenderKeys[n.GroupID()+n.Sender().String()] = r.Serialize()
	return nil
}

// The methods that no cipher may call.

// StorePreKey panics.
func (p *Party) StorePreKey(context.Context, uint32, *record.PreKey) error { panic("StorePreKey") }

// ContainsPreKey panics.
func (p *Party) ContainsPreKey(context.Context, uint32) (bool, error) { panic("ContainsPreKey") }

// GetSubDeviceSessions panics.
func (p *Party) GetSubDeviceSessions(context.Context, string) ([]uint32, error) {
	panic("GetSubDeviceSessions")
}

// DeleteSession panics.
func (p *Party) DeleteSession(context.Context, *protocol.SignalAddress) error {
	panic("DeleteSession")
}

// DeleteAllSessions panics.
func (p *Party) DeleteAllSessions(context.Context) error { panic("DeleteAllSessions") }

// LoadSignedPreKeys panics.
func (p *Party) LoadSignedPreKeys(context.Context) ([]*record.SignedPreKey, error) {
	panic("LoadSignedPreKeys")
}

// StoreSignedPreKey panics.
func (p *Party) StoreSignedPreKey(context.Context, uint32, *record.SignedPreKey) error {
	panic("StoreSignedPreKey")
}

// ContainsSignedPreKey panics.
func (p *Party) ContainsSignedPreKey(context.Context, uint32) (bool, error) {
	panic("ContainsSignedPreKey")
}

// RemoveSignedPreKey panics.
func (p *Party) RemoveSignedPreKey(context.Context, uint32) error { panic("RemoveSignedPreKey") }
