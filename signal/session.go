package signal

import "fmt"

// A Session is the record of one remote device: the current session, if there
// is one, and the archived ones, newest first. The zero value is an empty
// record. It prints as a placeholder.
type Session struct {
	current  *state
	archived []*state
	lease    lease
	used     day // when the row was last written
}

// Initiate starts a session from a bundle: X3DH as the initiator. It becomes
// the current one, and every message goes out as a PreKeySignalMessage until
// one is received. It draws the base key, 32 bytes, then the ratchet key, 32
// bytes.
//
// The error is ErrBadSignature if the bundle's signature does not hold; then
// nothing is drawn. On any error the record is unchanged. Whether the identity
// is trusted is for the caller to ask before.
func (s *Session) Initiate(local Local, b *Bundle) error {
	if err := b.Verify(); err != nil {
		return err
	}
	st, err := initiate(&local, b)
	if err != nil {
		return err
	}
	s.install(st)
	return nil
}

// Format prints a placeholder for every verb.
func (Session) Format(f fmt.State, _ rune) { redact(f) }

// String returns a placeholder.
func (Session) String() string { return redacted }

// Clone returns a copy that shares nothing with s.
func (s *Session) Clone() *Session {
	c := &Session{lease: s.lease}
	if s.current != nil {
		c.current = s.current.clone()
	}
	for _, st := range s.archived {
		c.archived = append(c.archived, st.clone())
	}
	return c
}

// HasCurrent reports whether there is a current session.
func (s *Session) HasCurrent() bool { return s.current != nil }

// CanEncrypt reports whether the current session, if any, can send.
func (s *Session) CanEncrypt() bool { return s.current != nil && s.current.sender.open }

// Archived returns the number of superseded sessions.
func (s *Session) Archived() int { return len(s.archived) }

// Pending reports whether the current session was started here and has not
// been answered.
func (s *Session) Pending() bool { return s.current != nil && s.current.pending.ok }

// Skipped returns the number of skipped keys that the current session holds.
func (s *Session) Skipped() int {
	n := 0
	if s.current != nil {
		for i := range s.current.receivers {
			n += s.current.receivers[i].skipped.len()
		}
	}
	return n
}

// SenderCounter returns the counter of the next message that the current
// session sends, 0 if there is none.
func (s *Session) SenderCounter() uint32 {
	if !s.CanEncrypt() {
		return 0
	}
	return s.current.sender.chain.index
}

// RemoteIdentity returns the identity of the peer of the current session.
func (s *Session) RemoteIdentity() (k PublicKey, ok bool) {
	if s.current == nil {
		return k, false
	}
	return s.current.remoteIdentity, true
}

// RemoteRegistrationID returns the registration id of the peer of the current
// session, 0 if there is none.
func (s *Session) RemoteRegistrationID() uint32 {
	if s.current == nil {
		return 0
	}
	return s.current.remoteID
}
