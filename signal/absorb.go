package signal

import "slices"

// absorb takes the sessions of another record of the same device in, which must
// not be used afterwards. The current session of s stays what it is; that of o
// comes next, as an archived one, so that messages which are under way in it are
// still read. Sessions with another identity than identity are left out, and so
// are archived ones that cannot be read; dropped is their number.
func (s *Session) absorb(o *Session, identity PublicKey) (dropped int) {
	// The ceiling of o covers its own sessions, and that of s does not.
	o.waive()
	var take []*state
	states := o.archived
	if o.current != nil {
		states = append([]*state{o.current}, o.archived...)
	}
	for _, st := range states {
		switch {
		case st.load() != nil || st.remoteIdentity != identity:
			dropped++
		case s.catchUp(st):
		default:
			take = append(take, st)
		}
	}
	if len(take) > 0 && take[0] == o.current {
		if s.current == nil {
			// It may have a counter below a ceiling that s still carries.
			s.current = take[0]
			s.current.burn(s.lease.ceiling)
			take = take[1:]
		} else {
			take[0].changed()
			take[0].pending = pendingPreKey{}
			s.archived = slices.Insert(s.archived, 0, take[0])
			take = take[1:]
		}
	}
	s.archived = append(s.archived, take...)
	if n := len(s.archived); n > MaxArchived {
		s.archived = s.archived[:MaxArchived]
	}
	return dropped
}

// catchUp reports whether st is a copy of a session that s has. What the copy has
// sent is used up in s too; if the two have gone different ways that cannot be
// told, and the one of s only receives until the peer makes a ratchet step.
func (s *Session) catchUp(st *state) bool {
	if !st.hasBaseKey {
		return false
	}
	for i := -1; i < len(s.archived); i++ {
		have := s.current
		if i >= 0 {
			have = s.archived[i]
		}
		if have == nil || !have.isOf(&st.baseKey) {
			continue
		}
		switch {
		case st.sender.public != have.sender.public:
			have.changed()
			have.sender.close()
		case st.sender.open:
			have.burn(st.sender.chain.index)
		}
		return true
	}
	return false
}

// absorb takes the keys of another record of the same sender in that k does not
// have, as older ones. A key that both have is kept in the form that has read
// more; one whose id k knows with another signing key is left out.
func (k *SenderKey) absorb(o *SenderKey) {
	for _, st := range o.states {
		i := slices.IndexFunc(k.states, func(have *senderKeyState) bool { return have.id == st.id })
		switch {
		case i < 0 && len(k.states) < MaxSenderKeyStates:
			k.states = append(k.states, st)
		case i >= 0 && k.states[i].public == st.public && st.chain.index > k.states[i].chain.index:
			k.states[i] = st
		}
	}
}
