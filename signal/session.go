package signal

import (
	"errors"
	"fmt"
	"slices"
)

// A Session is the record of one remote device: the current session, if there
// is one, and the archived ones, newest first. The zero value is an empty
// record. It prints as a placeholder.
type Session struct {
	current  *state
	archived []*state
	lease    lease
}

// MessageType says which kind of message a body is. The values are those of
// the protocol.
type MessageType uint8

// The message types, with their names in stanzas.
const (
	TypeSignal    MessageType = 2 // msg
	TypePreKey    MessageType = 3 // pkmsg
	TypeSenderKey MessageType = 7 // skmsg
)

// String returns the name in stanzas.
func (t MessageType) String() string {
	switch t {
	case TypeSignal:
		return "msg"
	case TypePreKey:
		return "pkmsg"
	case TypeSenderKey:
		return "skmsg"
	}
	return fmt.Sprintf("MessageType(%d)", uint8(t))
}

// A Responder is what a PreKeySignalMessage is answered with if it starts a
// new session: who we are and the prekeys that the message names, nil if there
// is none of that id.
type Responder struct {
	Local        Local
	SignedPreKey *SignedPreKey
	PreKey       *PreKey
}

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

// Encrypt appends the next message to dst and returns its type. It is a
// PreKeySignalMessage until the peer has answered. dst's capacity must not
// overlap plaintext.
//
// The error is ErrNoSession if no current session can send, ErrChainEnd, or a
// *VersionError for an imported session of another version. On any error the
// record is unchanged. Whether RemoteIdentity is trusted is for the caller to
// ask before.
func (s *Session) Encrypt(dst, plaintext []byte) (MessageType, []byte, error) {
	st := s.current
	switch {
	case st == nil || !st.sender.open:
		return 0, nil, ErrNoSession
	case st.version != sessionVersion:
		return 0, nil, &VersionError{Got: st.version}
	}
	next := st.sender.chain
	var seed [32]byte
	if err := next.step(&seed); err != nil {
		return 0, nil, err
	}
	var keys messageKeys
	keys.derive(&seed)
	clear(seed[:])

	counter := st.sender.chain.index
	n := paddedSize(len(plaintext))
	header := signalHeaderSize(counter, st.previousCounter, n)
	size := header + n + macSize
	typ := TypeSignal
	var envelope PreKeySignalMessage
	if p := &st.pending; p.ok {
		typ = TypePreKey
		envelope = PreKeySignalMessage{
			RegistrationID: st.localID,
			HasPreKeyID:    p.hasPreKeyID,
			PreKeyID:       p.preKeyID,
			SignedPreKeyID: p.signedPreKeyID,
			BaseKey:        p.baseKey,
			Identity:       st.localIdentity,
		}
		dst = slices.Grow(dst, envelope.headerSize(size)+size+envelope.trailerSize())
		dst = envelope.appendHeader(dst, size)
	} else {
		dst = slices.Grow(dst, size)
	}
	start := len(dst)
	dst = appendSignalHeader(dst, &st.sender.public, counter, st.previousCounter, n)
	dst = appendCBC(dst, &keys.cipher, &keys.iv, plaintext)
	mac := messageMAC(&keys.mac, &st.localIdentity, &st.remoteIdentity, dst[start:])
	dst = append(dst, mac[:]...)
	keys.wipe()
	if typ == TypePreKey {
		dst = envelope.appendTrailer(dst)
	}
	st.sender.chain = next
	return typ, dst, nil
}

// Decrypt appends the plaintext of a SignalMessage to dst. dst's capacity must
// not overlap message. trust, if not nil, is asked about the identity of the
// peer if the current session read the message, before anything changes; its
// error is returned as it is.
//
// The current session is tried first, then the archived ones, newest first; an
// archived one that reads the message becomes the current one. If any has the
// message's ratchet key, only such are tried. Otherwise the message costs at
// most one agreement for each session, and in either case at most 25,000 chain
// steps in all.
//
// It draws the next ratchet key, 32 bytes, when a message with a new ratchet
// key has been authenticated. On any error the record is unchanged.
//
// If nothing reads the message, the error is the gravest of the sessions': a
// *DuplicateError, else ErrBadMAC, else that of the session tried first, such
// as a *SkipError or ErrClosedChain. A message that is authentic but has a bad
// length or padding is ErrMalformed. ErrNoSession: the record is empty.
func (s *Session) Decrypt(dst, message []byte, trust Trust) ([]byte, Received, error) {
	if s.current == nil && len(s.archived) == 0 {
		return nil, Received{}, ErrNoSession
	}
	var m SignalMessage
	if err := m.parse(message); err != nil {
		return nil, Received{}, err
	}
	known := s.knows(&m.RatchetKey)
	b := budget{steps: maxSteps}
	defer b.wipe()
	var o opening
	failure := errUnauthentic
	for i := -1; i < len(s.archived); i++ {
		st := s.current
		if i >= 0 {
			st = s.archived[i]
		}
		if st == nil || known && st.receiver(&m.RatchetKey) == nil {
			continue
		}
		plain, err := st.open(&o, dst, &m, &b)
		if err != nil {
			if errors.Is(err, ErrMalformed) {
				return nil, Received{}, err // authentic: no other session can read it
			}
			failure = graver(failure, err)
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
	return nil, Received{}, failure
}

// knows reports whether a session has the ratchet key of the peer.
func (s *Session) knows(ratchet *PublicKey) bool {
	if s.current != nil && s.current.receiver(ratchet) != nil {
		return true
	}
	for _, st := range s.archived {
		if st.receiver(ratchet) != nil {
			return true
		}
	}
	return false
}

// graver returns the error that says more about a message that no session
// read. A duplicate must win, or the peer would be asked to send it again.
func graver(a, b error) error {
	rank := func(err error) int {
		switch {
		case errors.Is(err, ErrDuplicate):
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

// match returns the position of the session that m belongs to: -1 for the
// current one, or an index of the archived ones.
func (s *Session) match(m *PreKeySignalMessage) (i int, ok bool) {
	is := func(st *state) bool {
		return st != nil && st.version == sessionVersion && st.hasBaseKey && st.baseKey.Equal(m.BaseKey)
	}
	if is(s.current) {
		return -1, true
	}
	i = slices.IndexFunc(s.archived, is)
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
// ErrSignedPreKeyID, ErrPreKeyID: the message names a prekey that r does not
// have. The other errors are those of Decrypt.
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

func (b *budget) wipe() { clear(b.scratch[:cap(b.scratch)]) }

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
			n += len(s.current.receivers[i].skipped)
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
