package signal

import "slices"

// A Responder is what a PreKeySignalMessage is answered with if it starts a
// new session: who we are and the prekeys that the message names, nil if there
// is none of that id.
type Responder struct {
	Local        Local
	SignedPreKey *SignedPreKey
	PreKey       *PreKey
}

// match returns the position of the session that m belongs to: -1 for the
// current one, or an index of the archived ones.
func (s *Session) match(m *PreKeySignalMessage) (i int, ok bool) {
	if s.current != nil && s.current.isOf(&m.BaseKey) {
		return -1, true
	}
	i = slices.IndexFunc(s.archived, func(st *state) bool { return st.isOf(&m.BaseKey) })
	return i, i >= 0
}

// Matches reports whether the session that m belongs to is in the record: one
// of the same version and base key. If it is, DecryptPreKey needs no prekeys.
func (s *Session) Matches(m *PreKeySignalMessage) bool {
	_, ok := s.match(m)
	return ok
}

// DecryptPreKey appends the plaintext of a PreKeySignalMessage to dst. dst's
// capacity must not overlap the message. A message of a session that is in the
// record is read with it and consumes nothing; any other one sets up a session
// with the keys of r, which becomes the current one. Whether m.Identity is
// trusted is for the caller to ask before.
//
// It draws the next ratchet key, 32 bytes, when a message with a new ratchet
// key has been authenticated, which the first one of a session is. On any
// error the record is unchanged, and no prekey is used up.
//
// A *PreKeyIDError is a message that names a prekey which r does not have. The
// other errors are those of Decrypt.
func (s *Session) DecryptPreKey(dst []byte, m *PreKeySignalMessage, r *Responder) ([]byte, Received, error) {
	var st *state
	i, matched := s.match(m)
	switch {
	case matched && i < 0:
		st = s.current
	case matched:
		st = s.archived[i]
	default:
		var err error
		if st, err = respond(m, r); err != nil {
			return nil, Received{}, err
		}
	}
	// The MAC proves the identity of the session, not the one beside it.
	if st.remoteIdentity != m.Identity {
		return nil, Received{}, ErrBadMAC
	}
	b := budget{steps: maxSteps}
	defer b.wipe()
	var o opening
	plain, err := st.open(&o, dst, &m.Message, &b)
	if err != nil {
		return nil, Received{}, err
	}
	if err := o.prepare(); err != nil {
		m.Message.clearPlain(dst, plain)
		return nil, Received{}, err
	}
	rec := Received{Identity: st.remoteIdentity, Promoted: matched && i >= 0, Ratcheted: o.commit()}
	if matched {
		s.settle(i, rec.Ratcheted)
		return plain, rec, nil
	}
	rec.NewSession = true
	rec.ConsumedPreKey, rec.PreKeyID = m.HasPreKeyID, m.PreKeyID
	s.install(st)
	return plain, rec, nil
}
