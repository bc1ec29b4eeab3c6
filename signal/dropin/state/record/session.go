// Package record has the records of sessions and prekeys.
package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"go.mau.fi/libsignal/internal/live"
)

// maxArchived is how many superseded states a record keeps.
const maxArchived = 40

// A Session is the record of one peer: the current state and the superseded ones.
// It is not safe for concurrent use.
//
// Ciphers work on a form of their own. States are made from it when a program
// asks for them; from then on they are what counts, and follow what ciphers do.
type Session struct {
	live   *live.Session
	states *states // nil until a program has asked for them
	fresh  bool

	serializer      SessionSerializer
	stateSerializer StateSerializer
}

type states struct {
	current  *State
	previous []*State
}

func init() {
	live.OfSession = func(rec any) (*live.Session, error) { return rec.(*Session).toLive() }
	live.SessionChanged = func(rec any) { rec.(*Session).changed() }
}

// NewSession returns an empty record.
func NewSession(serializer SessionSerializer, stateSerializer StateSerializer) *Session {
	return &Session{live: new(live.Session), fresh: true, serializer: serializer, stateSerializer: stateSerializer}
}

// NewSessionFromBytes reads a stored record.
func NewSessionFromBytes(serialized []byte, serializer SessionSerializer, stateSerializer StateSerializer) (*Session, error) {
	if live.IsJSON(serializer) {
		l, err := live.ParseSession(serialized)
		if err != nil {
			return nil, err
		}
		return &Session{live: l, serializer: serializer, stateSerializer: stateSerializer}, nil
	}
	structure, err := serializer.Deserialize(serialized)
	if err != nil {
		return nil, err
	}
	return NewSessionFromStructure(structure, serializer, stateSerializer)
}

// NewSessionFromStructure returns the record of its stored form.
func NewSessionFromStructure(structure *SessionStructure, serializer SessionSerializer, stateSerializer StateSerializer) (*Session, error) {
	if structure == nil {
		return nil, errors.New("session without a structure")
	}
	st, err := statesOf(structure, stateSerializer)
	if err != nil {
		return nil, err
	}
	return &Session{states: st, serializer: serializer, stateSerializer: stateSerializer}, nil
}

func statesOf(structure *SessionStructure, serializer StateSerializer) (*states, error) {
	st := &states{current: NewState(serializer)}
	if structure.SessionState != nil {
		var err error
		if st.current, err = NewStateFromStructure(structure.SessionState, serializer); err != nil {
			return nil, err
		}
	}
	for _, p := range structure.PreviousStates {
		state, err := NewStateFromStructure(p, serializer)
		if err != nil {
			return nil, err
		}
		st.previous = append(st.previous, state)
	}
	return st, nil
}

// NewSessionFromState returns a record with a current state.
func NewSessionFromState(sessionState *State, serializer SessionSerializer) *Session {
	return &Session{
		states:     &states{current: sessionState},
		serializer: serializer, stateSerializer: sessionState.serializer,
	}
}

// Serialize returns the stored form. Nil stands for one that cannot be written:
// such a record came from no database.
func (r *Session) Serialize() []byte {
	if r.states == nil && live.IsJSON(r.serializer) {
		record, err := r.live.JSON()
		if err != nil {
			return nil
		}
		return record
	}
	return r.serializer.Serialize(r.Structure())
}

// Structure returns the stored form before it is serialized.
func (r *Session) Structure() *SessionStructure {
	structure := new(SessionStructure)
	if r.states == nil {
		record, err := r.live.JSON()
		if err == nil {
			err = json.Unmarshal(record, structure)
		}
		if err != nil {
			return new(SessionStructure)
		}
		return structure
	}
	if s := r.states.current; !s.empty() {
		current := s.structure
		structure.SessionState = &current
	}
	structure.PreviousStates = make([]*StateStructure, 0, len(r.states.previous))
	for _, s := range r.states.previous {
		if !s.empty() {
			previous := s.structure
			structure.PreviousStates = append(structure.PreviousStates, &previous)
		}
	}
	return structure
}

// empty reports whether nothing was set in a state.
func (s *State) empty() bool {
	return s == nil || s.structure.RootKey == nil && s.structure.SenderChain == nil && s.structure.RemoteIdentityPublic == nil
}

// toLive returns the form that ciphers work on.
func (r *Session) toLive() (*live.Session, error) {
	if r.states == nil {
		return r.live, nil
	}
	record, err := json.Marshal(r.Structure())
	if err != nil {
		return nil, err
	}
	l, err := live.ParseSession(record)
	if err != nil {
		return nil, err
	}
	r.live = l
	return l, nil
}

// changed brings the states that a program has asked for up to date. The state
// that is current stays the same object.
func (r *Session) changed() {
	if r.states == nil {
		return
	}
	asked := r.states
	r.states = nil
	st, err := statesOf(r.Structure(), r.stateSerializer)
	if err != nil {
		return
	}
	if asked.current != nil && !st.current.empty() {
		asked.current.structure = st.current.structure
		st.current = asked.current
	}
	r.states = st
}

// readable is statesOf without the states that cannot be read.
func readable(structure *SessionStructure, serializer StateSerializer) *states {
	st := &states{current: NewState(serializer)}
	if current, err := NewStateFromStructure(structure.SessionState, serializer); err == nil {
		st.current = current
	}
	for _, p := range structure.PreviousStates {
		if state, err := NewStateFromStructure(p, serializer); err == nil {
			st.previous = append(st.previous, state)
		}
	}
	return st
}

// handOut returns the states, which count from here on.
func (r *Session) handOut() *states {
	if r.states == nil {
		r.states = readable(r.Structure(), r.stateSerializer)
	}
	return r.states
}

// SessionState returns the current state.
func (r *Session) SessionState() *State { return r.handOut().current }

// SetState sets the current state.
func (r *Session) SetState(sessionState *State) { r.handOut().current = sessionState }

// PreviousSessionStates returns the superseded states, the newest first.
func (r *Session) PreviousSessionStates() []*State { return r.handOut().previous }

// IsFresh reports whether the record was made by NewSession and not read.
func (r *Session) IsFresh() bool { return r.fresh }

// HasSessionState reports whether there is a state of the version and base key.
func (r *Session) HasSessionState(version int, senderBaseKey []byte) bool {
	st := r.handOut()
	return slices.ContainsFunc(append([]*State{st.current}, st.previous...), func(s *State) bool {
		return s != nil && s.Version() == version && bytes.Equal(s.SenderBaseKey(), senderBaseKey)
	})
}

// ArchiveCurrentState makes the current state a superseded one, and the current
// one empty.
func (r *Session) ArchiveCurrentState() { r.PromoteState(NewState(r.stateSerializer)) }

// PromoteState makes a state the current one, and the current one a superseded
// one. The promoted state is a superseded one no longer.
func (r *Session) PromoteState(promotedState *State) {
	st := r.handOut()
	st.previous = slices.DeleteFunc(st.previous, func(s *State) bool { return s == promotedState })
	if !st.current.empty() {
		st.previous = slices.Insert(st.previous, 0, st.current)
	}
	if len(st.previous) > maxArchived {
		st.previous = st.previous[:maxArchived]
	}
	st.current = promotedState
}
