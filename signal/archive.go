package signal

import "slices"

// archive puts the current session in front of the archived ones and drops the
// oldest over MaxArchived. What it was pending for is void.
func (s *Session) archive() {
	if s.current == nil {
		return
	}
	s.current.changed()
	s.current.pending = pendingPreKey{}
	if n := len(s.archived); n >= MaxArchived {
		s.archived = slices.Delete(s.archived, MaxArchived-1, n)
	}
	s.archived = slices.Insert(s.archived, 0, s.current)
	s.current = nil
}

// install makes a session current whose sending chain is new. The ceiling of
// the lease was for the one before.
func (s *Session) install(st *state) {
	if s.current != nil {
		s.current.burn(s.lease.ceiling)
	}
	s.archive()
	s.current = st
	s.lease.ceiling = 0
}

// settle does what follows a message that the session at position i read: -1
// is the current one, others are archived and become current.
func (s *Session) settle(i int, ratcheted bool) {
	if i < 0 {
		if ratcheted {
			s.lease.rebase()
		}
		return
	}
	st := s.archived[i]
	s.archived = slices.Delete(s.archived, i, i+1)
	if ratcheted {
		s.install(st)
		return
	}
	// Its own counters may be under the same ceiling: it may have been the
	// current one when that was reserved.
	s.archive()
	s.current = st
	st.burn(s.lease.ceiling)
}
