package signal

import (
	"errors"
	"fmt"
	"slices"
)

// Received says what a decrypted message did to the record.
type Received struct {
	// Identity is the sender's identity key, for the caller to save. The
	// message has proved it.
	Identity PublicKey

	// NewSession is set if the message set up a session. Only then is a
	// change of Identity one to report.
	NewSession bool

	// ConsumedPreKey is set if the new session used the one-time prekey
	// PreKeyID. Delete it together with writing the record, not before.
	ConsumedPreKey bool
	PreKeyID       uint32

	// Promoted is set if an archived session read the message and became the
	// current one.
	Promoted bool

	// Ratcheted is set if the sending chain was replaced by a fresh one.
	Ratcheted bool
}

// Trust decides on the identity of the peer. An error refuses it.
type Trust func(identity PublicKey) error

var (
	errNoSenderChain = fmt.Errorf("signal: session without a sending chain: %w", ErrCorruptRecord)
	errUnauthentic   = errors.New("signal: no session reads the message")
)

// Decrypt appends the plaintext of a SignalMessage to dst. dst's capacity must
// not overlap message. trust, if not nil, is asked about the identity of the
// peer if the current session read the message, before anything changes; its
// error is returned as it is.
//
// The current session is tried first, then the archived ones, newest first; an
// archived one that reads the message becomes the current one. If any has the
// message's ratchet key, only such are tried. Otherwise the message costs at
// most one agreement for each session. In either case at most 25,000 chain
// steps pass over keys in all, and one more for each session derives its own.
//
// It draws the next ratchet key, 32 bytes, when a message with a new ratchet
// key has been authenticated. On any error the record is unchanged.
//
// If nothing reads the message, the error wraps the gravest of the sessions': a
// *DuplicateError, a *RolledBackError, a *NoMessageKeyError, ErrBadMAC, else that
// of the session tried first, such as a *SkipError or ErrClosedChain; if several
// were tried it is an *UnreadableError, which counts the reasons. A message that is
// authentic but has a bad length or padding is ErrMalformed. ErrNoSession: the
// record is empty.
func (s *Session) Decrypt(dst, message []byte, trust Trust) ([]byte, Received, error) {
	b := budget{steps: maxSteps}
	defer b.wipe()
	return s.decrypt(dst, message, trust, &b)
}

func (s *Session) decrypt(dst, message []byte, trust Trust, b *budget) ([]byte, Received, error) {
	if s.current == nil && len(s.archived) == 0 {
		return nil, Received{}, ErrNoSession
	}
	var m SignalMessage
	if err := m.parse(message); err != nil {
		return nil, Received{}, err
	}
	var o opening
	known := s.knows(&m.RatchetKey)
	failure := UnreadableError{gravest: errUnauthentic}
	for i := -1; i < len(s.archived); i++ {
		st := s.current
		if i >= 0 {
			st = s.archived[i]
		}
		if st == nil || known && !st.knows(&m.RatchetKey) {
			continue
		}
		if err := st.load(); err != nil {
			failure.add(err)
			continue
		}
		plain, err := st.open(&o, dst, &m, b)
		if err != nil {
			if errors.Is(err, ErrMalformed) {
				return nil, Received{}, err // authentic: no other session can read it
			}
			failure.add(err)
			continue
		}
		if i < 0 && trust != nil {
			err = trust(st.remoteIdentity)
		}
		if err == nil {
			err = o.prepare()
		}
		if err != nil {
			m.clearPlain(dst, plain)
			return nil, Received{}, err
		}
		r := Received{Identity: st.remoteIdentity, Promoted: i >= 0, Ratcheted: o.commit()}
		s.settle(i, r.Ratcheted)
		return plain, r, nil
	}
	return nil, Received{}, failure.err()
}

// knows reports whether a session has the ratchet key of the peer. The archive
// is looked at only for a key that is not the current one's.
func (s *Session) knows(ratchet *PublicKey) bool {
	return s.current != nil && s.current.knows(ratchet) || slices.ContainsFunc(s.archived, func(st *state) bool { return st.knows(ratchet) })
}

// graver returns the error that says more about a message that no session
// read. A duplicate must win, or the peer would be asked to send it again.
func graver(a, b error) error {
	rank := func(err error) int {
		switch {
		case errors.Is(err, ErrDuplicate):
			return 5
		case errors.Is(err, ErrRolledBack):
			return 4
		case errors.Is(err, ErrNoMessageKey):
			return 3
		case err == ErrBadMAC:
			return 2
		case err != errUnauthentic:
			return 1
		}
		return 0
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}
