// Package record has the records of sender keys.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/signalerror"
)

// maxStates is how many sender keys a record keeps.
const maxStates = 5

// SenderKeyStructure is the stored form of a SenderKey.
type SenderKeyStructure struct {
	SenderKeyStates []*SenderKeyStateStructure
}

// A SenderKeySerializer has a stored form of records.
type SenderKeySerializer interface {
	Serialize(preKey *SenderKeyStructure) []byte
	Deserialize(serialized []byte) (*SenderKeyStructure, error)
}

// A SenderKey is the record of one sender in one group: its sender keys, the
// current one first. It is not safe for concurrent use.
//
// Ciphers work on a form of their own. States are made from it when a program
// asks for them; from then on they are what counts, and follow what ciphers do.
type SenderKey struct {
	live   *live.SenderKey
	states []*SenderKeyState
	asked  bool // a program has asked for the states

	serializer      SenderKeySerializer
	stateSerializer SenderKeyStateSerializer
}

func init() {
	live.OfSenderKey = func(rec any) (*live.SenderKey, error) { return rec.(*SenderKey).toLive() }
	live.SenderKeyChanged = func(rec any) { rec.(*SenderKey).changed() }
}

// NewSenderKey returns an empty record.
func NewSenderKey(serializer SenderKeySerializer, stateSerializer SenderKeyStateSerializer) *SenderKey {
	return &SenderKey{live: new(live.SenderKey), serializer: serializer, stateSerializer: stateSerializer}
}

// NewSenderKeyFromBytes reads a stored record.
func NewSenderKeyFromBytes(serialized []byte, serializer SenderKeySerializer, stateSerializer SenderKeyStateSerializer) (*SenderKey, error) {
	if live.IsJSON(serializer) {
		l, err := live.ParseSenderKey(serialized)
		if err != nil {
			return nil, err
		}
		return &SenderKey{live: l, serializer: serializer, stateSerializer: stateSerializer}, nil
	}
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewSenderKeyFromStruct(structure, serializer, stateSerializer)
}

// NewSenderKeyFromStruct returns the record of its stored form.
func NewSenderKeyFromStruct(structure *SenderKeyStructure, serializer SenderKeySerializer, stateSerializer SenderKeyStateSerializer) (*SenderKey, error) {
	if structure == nil {
		return nil, errors.New("sender key without a structure")
	}
	k := &SenderKey{asked: true, serializer: serializer, stateSerializer: stateSerializer}
	for _, st := range structure.SenderKeyStates {
		state, err := NewSenderKeyStateFromStructure(st, stateSerializer)
		if err != nil {
			return nil, err
		}
		k.states = append(k.states, state)
	}
	return k, nil
}

// Serialize returns the stored form.
func (k *SenderKey) Serialize() []byte {
	if !k.asked && live.IsJSON(k.serializer) {
		record, err := k.live.JSON()
		if err != nil {
			return nil
		}
		return record
	}
	return k.serializer.Serialize(k.Structure())
}

// Structure returns the stored form before it is serialized.
func (k *SenderKey) Structure() *SenderKeyStructure {
	structure := &SenderKeyStructure{SenderKeyStates: make([]*SenderKeyStateStructure, 0, len(k.states))}
	if !k.asked {
		record, err := k.live.JSON()
		if err == nil {
			err = json.Unmarshal(record, structure)
		}
		if err != nil {
			return new(SenderKeyStructure)
		}
		return structure
	}
	for _, s := range k.states {
		st := s.structure
		structure.SenderKeyStates = append(structure.SenderKeyStates, &st)
	}
	return structure
}

// toLive returns the form that ciphers work on.
func (k *SenderKey) toLive() (*live.SenderKey, error) {
	if !k.asked {
		return k.live, nil
	}
	record, err := json.Marshal(k.Structure())
	if err != nil {
		return nil, err
	}
	l, err := live.ParseSenderKey(record)
	if err != nil {
		return nil, err
	}
	k.live = l
	return l, nil
}

// changed brings the states that a program has asked for up to date.
func (k *SenderKey) changed() {
	if !k.asked {
		return
	}
	k.asked = false
	old := k.states
	k.handOut()
	for i, s := range k.states {
		j := slices.IndexFunc(old, func(o *SenderKeyState) bool {
			return o.structure.KeyID == s.structure.KeyID && slices.Equal(o.structure.SigningKeyPublic, s.structure.SigningKeyPublic)
		})
		if j >= 0 {
			old[j].structure = s.structure
			k.states[i] = old[j]
		}
	}
}

// handOut makes the states, which count from here on.
func (k *SenderKey) handOut() []*SenderKeyState {
	if k.asked {
		return k.states
	}
	structure := k.Structure()
	k.states, k.asked = nil, true
	for _, st := range structure.SenderKeyStates {
		if s, err := NewSenderKeyStateFromStructure(st, k.stateSerializer); err == nil {
			k.states = append(k.states, s)
		}
	}
	return k.states
}

// IsEmpty reports whether there is no sender key.
func (k *SenderKey) IsEmpty() bool {
	if k.asked {
		return len(k.states) == 0
	}
	return k.live.Empty()
}

// SenderKeyState returns the current sender key.
func (k *SenderKey) SenderKeyState() (*SenderKeyState, error) {
	if states := k.handOut(); len(states) > 0 {
		return states[0], nil
	}
	return nil, signalerror.ErrNoSenderKeyStatesInRecord
}

// GetSenderKeyStateByID returns the sender key of the id.
func (k *SenderKey) GetSenderKeyStateByID(keyID uint32) (*SenderKeyState, error) {
	for _, s := range k.handOut() {
		if s.structure.KeyID == keyID {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %d", signalerror.ErrNoSenderKeyStateForID, keyID)
}

// AddSenderKeyState makes another's sender key the current one. One of the same
// id and signing key is kept as it is.
func (k *SenderKey) AddSenderKeyState(id, iteration uint32, chainKey []byte, signatureKey ecc.ECPublicKeyable) {
	s := NewSenderKeyStateFromPublicKey(id, iteration, chainKey, signatureKey, k.stateSerializer)
	states := k.handOut()
	for i, old := range states {
		if old.structure.KeyID == id {
			if slices.Equal(old.structure.SigningKeyPublic, s.structure.SigningKeyPublic) {
				s = old
			}
			states = slices.Delete(slices.Clone(states), i, i+1)
			break
		}
	}
	states = slices.Insert(states, 0, s)
	k.states = states[:min(len(states), maxStates)]
}

// SetSenderKeyState makes a sender key of our own the only one.
func (k *SenderKey) SetSenderKeyState(id, iteration uint32, chainKey []byte, signatureKey *ecc.ECKeyPair) {
	k.asked = true
	k.states = []*SenderKeyState{NewSenderKeyState(id, iteration, chainKey, signatureKey, k.stateSerializer)}
}
