package record

import (
	"bytes"
	"errors"
	"slices"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups/ratchet"
	"go.mau.fi/libsignal/util/bytehelper"
)

// maxMessageKeys is how many keys of skipped messages a sender key keeps.
const maxMessageKeys = 2000

// SenderKeyStateStructure is the stored form of a SenderKeyState. Field names and
// their order are those of the JSON in a database.
type SenderKeyStateStructure struct {
	Keys              []*ratchet.SenderMessageKeyStructure
	KeyID             uint32
	SenderChainKey    *ratchet.SenderChainKeyStructure
	SigningKeyPrivate []byte
	SigningKeyPublic  []byte
}

// A SenderKeyStateSerializer has a stored form of states.
type SenderKeyStateSerializer interface {
	Serialize(state *SenderKeyStateStructure) []byte
	Deserialize(serialized []byte) (*SenderKeyStateStructure, error)
}

// A SenderKeyState is one sender key. Ciphers work on the whole record; a state
// is for programs that look into one or build one by hand.
type SenderKeyState struct {
	structure  SenderKeyStateStructure
	serializer SenderKeyStateSerializer
}

// NewSenderKeyState returns the state of a sender key of our own.
func NewSenderKeyState(keyID, iteration uint32, chainKey []byte, signatureKey *ecc.ECKeyPair, serializer SenderKeyStateSerializer) *SenderKeyState {
	s := NewSenderKeyStateFromPublicKey(keyID, iteration, chainKey, signatureKey.PublicKey(), serializer)
	if k := signatureKey.PrivateKey(); k != nil {
		s.structure.SigningKeyPrivate = bytehelper.ArrayToSlice(k.Serialize())
	}
	return s
}

// NewSenderKeyStateFromPublicKey returns the state of another's sender key.
func NewSenderKeyStateFromPublicKey(keyID, iteration uint32, chainKey []byte, signatureKey ecc.ECPublicKeyable, serializer SenderKeyStateSerializer) *SenderKeyState {
	return &SenderKeyState{
		structure: SenderKeyStateStructure{
			Keys:             []*ratchet.SenderMessageKeyStructure{},
			KeyID:            keyID,
			SenderChainKey:   &ratchet.SenderChainKeyStructure{Iteration: iteration, ChainKey: chainKey},
			SigningKeyPublic: signatureKey.Serialize(),
		},
		serializer: serializer,
	}
}

// NewSenderKeyStateFromBytes reads a stored state.
func NewSenderKeyStateFromBytes(serialized []byte, serializer SenderKeyStateSerializer) (*SenderKeyState, error) {
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewSenderKeyStateFromStructure(structure, serializer)
}

// NewSenderKeyStateFromStructure returns the state of its stored form.
func NewSenderKeyStateFromStructure(structure *SenderKeyStateStructure, serializer SenderKeyStateSerializer) (*SenderKeyState, error) {
	if structure == nil || structure.SenderChainKey == nil {
		return nil, errors.New("sender key without a chain key")
	}
	if slices.Contains(structure.Keys, nil) {
		return nil, errors.New("sender key with a null for message keys")
	}
	if _, err := ecc.DecodePoint(structure.SigningKeyPublic, 0); err != nil {
		return nil, err
	}
	return &SenderKeyState{*structure, serializer}, nil
}

// Serialize returns the stored form.
func (k *SenderKeyState) Serialize() []byte { return k.serializer.Serialize(&k.structure) }

// KeyID returns the id of the sender key.
func (k *SenderKeyState) KeyID() uint32 { return k.structure.KeyID }

// SenderChainKey returns the chain key.
func (k *SenderKeyState) SenderChainKey() *ratchet.SenderChainKey {
	return ratchet.NewSenderChainKeyFromStruct(k.structure.SenderChainKey)
}

// SetSenderChainKey sets the chain key.
func (k *SenderKeyState) SetSenderChainKey(senderChainKey *ratchet.SenderChainKey) {
	k.structure.SenderChainKey = ratchet.NewStructFromSenderChainKey(senderChainKey)
}

// SigningKey returns the signing key, without its private half if it is another's.
func (k *SenderKeyState) SigningKey() *ecc.ECKeyPair {
	public, err := ecc.DecodePoint(k.structure.SigningKeyPublic, 0)
	if err != nil {
		return nil
	}
	private := k.structure.SigningKeyPrivate
	if len(private) == 0 || bytes.Count(private, []byte{0}) == len(private) {
		return ecc.NewECKeyPair(public, nil)
	}
	return ecc.NewECKeyPair(public, ecc.NewDjbECPrivateKey(bytehelper.SliceToArray(private)))
}

func (k *SenderKeyState) find(iteration uint32) int {
	return slices.IndexFunc(k.structure.Keys, func(m *ratchet.SenderMessageKeyStructure) bool { return m.Iteration == iteration })
}

// HasSenderMessageKey reports whether the keys of a skipped message are kept.
func (k *SenderKeyState) HasSenderMessageKey(iteration uint32) bool { return k.find(iteration) >= 0 }

// AddSenderMessageKey keeps the keys of a skipped message, and drops the oldest
// ones over 2,000.
func (k *SenderKeyState) AddSenderMessageKey(senderMsgKey *ratchet.SenderMessageKey) {
	keys := append(k.structure.Keys, ratchet.NewStructFromSenderMessageKey(senderMsgKey))
	k.structure.Keys = keys[max(0, len(keys)-maxMessageKeys):]
}

// RemoveSenderMessageKey removes and returns the keys of a skipped message, nil
// if they are not kept.
func (k *SenderKeyState) RemoveSenderMessageKey(iteration uint32) *ratchet.SenderMessageKey {
	i := k.find(iteration)
	if i < 0 {
		return nil
	}
	keys := ratchet.NewSenderMessageKeyFromStruct(k.structure.Keys[i])
	k.structure.Keys = slices.Delete(slices.Clone(k.structure.Keys), i, i+1)
	return keys
}
