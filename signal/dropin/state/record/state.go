package record

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/message"
	"go.mau.fi/libsignal/keys/root"
	"go.mau.fi/libsignal/keys/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/util/optional"
)

// maxReceiverChains is how many chains of the peer a state keeps.
const maxReceiverChains = 5

// A State is one session: keys of one agreement and of the ratchet that grew from
// it. Ciphers work on the whole record; a State is for programs that look into
// one or build one by hand. Getters of what is not there return nil or zero.
type State struct {
	structure  StateStructure
	serializer StateSerializer
}

// NewState returns a state without anything in it.
func NewState(serializer StateSerializer) *State { return &State{serializer: serializer} }

// NewStateFromBytes reads a stored state.
func NewStateFromBytes(serialized []byte, serializer StateSerializer) (*State, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewStateFromStructure(structure, serializer)
}

// NewStateFromStructure returns the state of its stored form.
func NewStateFromStructure(structure *StateStructure, serializer StateSerializer) (*State, error) {
	if structure == nil {
		return nil, errors.New("state without a structure")
	}
	for _, key := range [][]byte{structure.LocalIdentityPublic, structure.RemoteIdentityPublic} {
		if _, err := ecc.DecodePoint(key, 0); key != nil && err != nil {
			return nil, err
		}
	}
	for _, c := range append(slices.Clone(structure.ReceiverChains), structure.SenderChain) {
		if _, err := NewChainFromStructure(c); c != nil && err != nil {
			return nil, err
		}
	}
	s := NewState(serializer)
	s.structure = *structure
	s.structure.ReceiverChains = slices.Clone(structure.ReceiverChains)
	return s, nil
}

// Serialize returns the stored form.
func (s *State) Serialize() []byte { return s.serializer.Serialize(&s.structure) }

// Version returns the version of the session.
func (s *State) Version() int { return s.structure.SessionVersion }

// SetVersion sets the version of the session.
func (s *State) SetVersion(version int) { s.structure.SessionVersion = version }

// SenderBaseKey returns the base key of the initiator, with its type byte.
func (s *State) SenderBaseKey() []byte { return s.structure.SenderBaseKey }

// SetSenderBaseKey sets the base key of the initiator.
func (s *State) SetSenderBaseKey(senderBaseKey []byte) { s.structure.SenderBaseKey = senderBaseKey }

// LocalIdentityKey returns our identity.
func (s *State) LocalIdentityKey() *identity.Key { return identityOf(s.structure.LocalIdentityPublic) }

// SetLocalIdentityKey sets our identity.
func (s *State) SetLocalIdentityKey(identityKey *identity.Key) {
	s.structure.LocalIdentityPublic = identityKey.Serialize()
}

// RemoteIdentityKey returns the identity of the peer.
func (s *State) RemoteIdentityKey() *identity.Key {
	return identityOf(s.structure.RemoteIdentityPublic)
}

// SetRemoteIdentityKey sets the identity of the peer.
func (s *State) SetRemoteIdentityKey(identityKey *identity.Key) {
	s.structure.RemoteIdentityPublic = identityKey.Serialize()
}

func identityOf(key []byte) *identity.Key {
	p, err := ecc.DecodePoint(key, 0)
	if err != nil {
		return nil
	}
	return identity.NewKey(p)
}

// LocalRegistrationID returns our registration id.
func (s *State) LocalRegistrationID() uint32 { return s.structure.LocalRegistrationID }

// SetLocalRegistrationID sets our registration id.
func (s *State) SetLocalRegistrationID(registrationID uint32) {
	s.structure.LocalRegistrationID = registrationID
}

// RemoteRegistrationID returns the registration id of the peer.
func (s *State) RemoteRegistrationID() uint32 { return s.structure.RemoteRegistrationID }

// SetRemoteRegistrationID sets the registration id of the peer.
func (s *State) SetRemoteRegistrationID(registrationID uint32) {
	s.structure.RemoteRegistrationID = registrationID
}

// PreviousCounter returns the length of the sender chain before this one.
func (s *State) PreviousCounter() uint32 { return s.structure.PreviousCounter }

// SetPreviousCounter sets the length of the sender chain before this one.
func (s *State) SetPreviousCounter(previousCounter uint32) {
	s.structure.PreviousCounter = previousCounter
}

// RootKey returns the root key.
func (s *State) RootKey() session.RootKeyable {
	return root.NewKey(kdf.DeriveSecrets, s.structure.RootKey)
}

// SetRootKey sets the root key.
func (s *State) SetRootKey(rootKey session.RootKeyable) { s.structure.RootKey = rootKey.Bytes() }

// HasSenderChain reports whether the session can send.
func (s *State) HasSenderChain() bool {
	return s.structure.SenderChain != nil && s.structure.SenderChain.ChainKey != nil
}

// SenderRatchetKey returns our public ratchet key.
func (s *State) SenderRatchetKey() ecc.ECPublicKeyable {
	if pair := s.SenderRatchetKeyPair(); pair != nil {
		return pair.PublicKey()
	}
	return nil
}

// SenderRatchetKeyPair returns our ratchet key.
func (s *State) SenderRatchetKeyPair() *ecc.ECKeyPair {
	c := s.structure.SenderChain
	if c == nil {
		return nil
	}
	pair, err := keyPair(c.SenderRatchetKeyPublic, c.SenderRatchetKeyPrivate)
	if err != nil {
		return nil
	}
	return pair
}

// SetSenderChain sets our ratchet key and its chain.
func (s *State) SetSenderChain(senderRatchetKeyPair *ecc.ECKeyPair, chainKey session.ChainKeyable) {
	c := &ChainStructure{ChainKey: chain.NewStructFromKey(chainKey.Current()), MessageKeys: []*message.KeysStructure{}}
	c.SenderRatchetKeyPublic, c.SenderRatchetKeyPrivate = pairBytes(senderRatchetKeyPair)
	s.structure.SenderChain = c
}

// SenderChainKey returns the chain key that we send with.
func (s *State) SenderChainKey() session.ChainKeyable {
	if !s.HasSenderChain() {
		return nil
	}
	return chain.NewKeyFromStruct(s.structure.SenderChain.ChainKey, kdf.DeriveSecrets)
}

// SetSenderChainKey sets the chain key that we send with, if there is a chain.
func (s *State) SetSenderChainKey(nextChainKey session.ChainKeyable) {
	if s.structure.SenderChain != nil {
		s.structure.SenderChain.ChainKey = chain.NewStructFromKey(nextChainKey.Current())
	}
}

// receiver returns the chain of a ratchet key of the peer.
func (s *State) receiver(ratchet ecc.ECPublicKeyable) *ChainStructure {
	key := ratchet.Serialize()
	for _, c := range slices.Backward(s.structure.ReceiverChains) {
		if bytes.Equal(c.SenderRatchetKeyPublic, key) {
			return c
		}
	}
	return nil
}

// HasReceiverChain reports whether there is a chain of the ratchet key.
func (s *State) HasReceiverChain(senderEphemeral ecc.ECPublicKeyable) bool {
	return s.receiver(senderEphemeral) != nil
}

// ReceiverChainKey returns the chain key of the ratchet key.
func (s *State) ReceiverChainKey(senderEphemeral ecc.ECPublicKeyable) *chain.Key {
	c := s.receiver(senderEphemeral)
	if c == nil || c.ChainKey == nil {
		return nil
	}
	return chain.NewKeyFromStruct(c.ChainKey, kdf.DeriveSecrets)
}

// AddReceiverChain appends a chain, and drops the oldest one over five.
func (s *State) AddReceiverChain(senderRatchetKey ecc.ECPublicKeyable, chainKey session.ChainKeyable) {
	s.structure.ReceiverChains = append(s.structure.ReceiverChains, &ChainStructure{
		SenderRatchetKeyPublic: senderRatchetKey.Serialize(),
		ChainKey:               chain.NewStructFromKey(chainKey.Current()),
		MessageKeys:            []*message.KeysStructure{},
	})
	if n := len(s.structure.ReceiverChains) - maxReceiverChains; n > 0 {
		s.structure.ReceiverChains = slices.Delete(s.structure.ReceiverChains, 0, n)
	}
}

// SetReceiverChainKey sets the chain key of the ratchet key, if there is a chain.
func (s *State) SetReceiverChainKey(senderEphemeral ecc.ECPublicKeyable, chainKey session.ChainKeyable) {
	if c := s.receiver(senderEphemeral); c != nil {
		c.ChainKey = chain.NewStructFromKey(chainKey.Current())
	}
}

// HasMessageKeys reports whether the keys of a skipped message are kept.
func (s *State) HasMessageKeys(senderEphemeral ecc.ECPublicKeyable, counter uint32) bool {
	c, i := s.messageKeys(senderEphemeral, counter)
	return c != nil && i >= 0
}

func (s *State) messageKeys(ratchet ecc.ECPublicKeyable, counter uint32) (*ChainStructure, int) {
	c := s.receiver(ratchet)
	if c == nil {
		return nil, -1
	}
	return c, slices.IndexFunc(c.MessageKeys, func(k *message.KeysStructure) bool { return k.Index == counter })
}

// RemoveMessageKeys removes and returns the keys of a skipped message, nil if
// they are not kept.
func (s *State) RemoveMessageKeys(senderEphemeral ecc.ECPublicKeyable, counter uint32) *message.Keys {
	c, i := s.messageKeys(senderEphemeral, counter)
	if i < 0 {
		return nil
	}
	keys := message.NewKeysFromStruct(c.MessageKeys[i])
	c.MessageKeys = slices.Delete(slices.Clone(c.MessageKeys), i, i+1)
	return keys
}

// SetMessageKeys keeps the keys of a skipped message, if there is a chain, and
// drops the oldest ones over 2,000.
func (s *State) SetMessageKeys(senderEphemeral ecc.ECPublicKeyable, messageKeys *message.Keys) {
	c := s.receiver(senderEphemeral)
	if c == nil {
		return
	}
	c.MessageKeys = append(c.MessageKeys, message.NewStructFromKeys(messageKeys))
	if n := len(c.MessageKeys) - maxMessageKeys; n > 0 {
		c.MessageKeys = c.MessageKeys[n:]
	}
}

// HasUnacknowledgedPreKeyMessage reports whether the session was started here and
// not yet answered.
func (s *State) HasUnacknowledgedPreKeyMessage() bool { return s.structure.PendingPreKey != nil }

// SetUnacknowledgedPreKeyMessage sets what messages repeat until the session is
// answered.
func (s *State) SetUnacknowledgedPreKeyMessage(preKeyID *optional.Uint32, signedPreKeyID uint32, baseKey ecc.ECPublicKeyable) {
	s.structure.PendingPreKey = &PendingPreKeyStructure{preKeyID, signedPreKeyID, baseKey.Serialize()}
}

// ClearUnackPreKeyMessage says that the session was answered.
func (s *State) ClearUnackPreKeyMessage() { s.structure.PendingPreKey = nil }

// UnackPreKeyMessageItems returns what messages repeat until the session is
// answered.
func (s *State) UnackPreKeyMessageItems() (*UnackPreKeyMessageItems, error) {
	p := s.structure.PendingPreKey
	if p == nil {
		return nil, fmt.Errorf("%w: nothing is pending", signalerror.ErrUninitializedSession)
	}
	base, err := ecc.DecodePoint(p.BaseKey, 0)
	if err != nil {
		return nil, err
	}
	return NewUnackPreKeyMessageItems(p.PreKeyID, p.SignedPreKeyID, base), nil
}

// HasPendingKeyExchange reports whether a key exchange is pending.
func (s *State) HasPendingKeyExchange() bool { return s.structure.PendingKeyExchange != nil }

// SetPendingKeyExchange sets a pending key exchange.
func (s *State) SetPendingKeyExchange(sequence uint32, ourBaseKey, ourRatchetKey *ecc.ECKeyPair, ourIdentityKey *identity.KeyPair) {
	s.structure.PendingKeyExchange = NewPendingKeyExchange(sequence, ourBaseKey, ourRatchetKey, ourIdentityKey).structure()
}

func (s *State) exchange() *PendingKeyExchange {
	if x := NewPendingKeyExchangeFromStruct(s.structure.PendingKeyExchange); x != nil {
		return x
	}
	return new(PendingKeyExchange)
}

// PendingKeyExchangeSequence returns the number of the pending key exchange.
func (s *State) PendingKeyExchangeSequence() uint32 { return s.exchange().sequence }

// PendingKeyExchangeBaseKeyPair returns the base key of the pending key exchange.
func (s *State) PendingKeyExchangeBaseKeyPair() *ecc.ECKeyPair { return s.exchange().localBaseKeyPair }

// PendingKeyExchangeRatchetKeyPair returns the ratchet key of the pending key
// exchange.
func (s *State) PendingKeyExchangeRatchetKeyPair() *ecc.ECKeyPair {
	return s.exchange().localRatchetKeyPair
}

// PendingKeyExchangeIdentityKeyPair returns our identity in the pending key
// exchange.
func (s *State) PendingKeyExchangeIdentityKeyPair() *identity.KeyPair {
	return s.exchange().localIdentityKeyPair
}
