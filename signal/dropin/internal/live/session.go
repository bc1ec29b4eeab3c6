// Package live has the records on which the ciphers work: values of sigcore
// behind the JSON of the database.
//
// Most of a large record is text that one message does not need: archived
// states, and keys of skipped messages. It stays text, which is copied from the
// record that was read into the one that is written, until a message may need it.
package live

import (
	"errors"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

// A Session is the record of one peer. The zero value is an empty one. It is not
// safe for concurrent use.
type Session struct {
	value *signal.Session // nil if there is none

	// What value leaves out.
	kept []keptKeys // of chains of the current state
	tail []byte     // the archived states

	raw []byte // the record as it was read, while nothing has changed

	// fat says that tail may have older copies of states, which the next record is
	// to be without. They are looked for when the peer makes a ratchet step, which
	// costs more, and when tail is read.
	fat bool
}

// Hooks of package record, through which the ciphers reach what is in a record.
var (
	// OfSession returns the live record of a *record.Session, with what was
	// changed in its states.
	OfSession func(rec any) (*Session, error)
	// SessionChanged says that the live record was changed.
	SessionChanged func(rec any)
)

// IsJSON reports whether a serializer is the one of JSON. Package serialize sets
// it.
var IsJSON = func(any) bool { return false }

const empty = `{"SessionState":null,"PreviousStates":[]}`

// ParseSession reads JSON, and keeps it. The error wraps signal.ErrCorruptRecord.
func ParseSession(record []byte) (*Session, error) {
	record = append([]byte(nil), record...)
	s := &Session{raw: record}
	if string(record) == empty {
		return s, nil
	}
	if short, kept, tail, ok := cut(record); ok {
		value, err := convert.ParseGoSession(short)
		if err != nil {
			return nil, err
		}
		s.value, s.kept, s.tail = value, kept, tail
		return s, nil
	}
	value, err := convert.ParseGoSession(record)
	if err != nil {
		return nil, err
	}
	s.value = value
	return s, nil
}

// JSON returns the record: what was read, byte for byte, if nothing has changed.
func (s *Session) JSON() ([]byte, error) {
	if s.raw != nil {
		return append([]byte(nil), s.raw...), nil
	}
	if s.value == nil {
		return []byte(empty), nil
	}
	size := 1280
	if len(s.kept) == 0 {
		size += len(s.tail) // which join appends
	}
	record, err := convert.AppendGoSession(make([]byte, 0, size), s.value)
	if err != nil || len(s.kept) == 0 && len(s.tail) == 0 {
		return record, err
	}
	if s.fat {
		s.tail, s.fat = slim(record, s.tail), false
	}
	return join(record, s.kept, s.tail), nil
}

// whole takes in what value leaves out. On an error nothing has changed.
func (s *Session) whole() error {
	if len(s.kept) == 0 && len(s.tail) == 0 {
		return nil
	}
	record, err := s.text()
	if err != nil {
		return err
	}
	value, err := convert.ParseGoSession(record)
	if err != nil {
		return err
	}
	s.value, s.kept, s.tail = value, nil, nil
	return nil
}

// text returns the record without older copies of states.
func (s *Session) text() ([]byte, error) {
	raw := s.raw
	s.raw, s.fat = nil, true
	defer func() { s.raw = raw }()
	return s.JSON()
}

// Empty reports whether there is no session.
func (s *Session) Empty() bool { return s.value == nil }

// Encrypt is that of signal.Session.
func (s *Session) Encrypt(plaintext []byte) (signal.MessageType, []byte, error) {
	if s.value == nil {
		return 0, nil, signal.ErrNoSession
	}
	t, message, err := s.value.Encrypt(nil, plaintext)
	if err == nil {
		s.raw = nil
	}
	return t, message, err
}

// RemoteIdentity returns the identity of the peer of the current session.
func (s *Session) RemoteIdentity() (k signal.PublicKey, ok bool) {
	if s.value == nil {
		return k, false
	}
	return s.value.RemoteIdentity()
}

// Decrypt is that of signal.Session. trust is also asked if an archived session
// reads the message. A message that a state has read, or had no key for, is not
// tried with others: that one may be an older copy of it.
//
// Records that were written before may hold states that a message for another
// one has damaged: they claim to know its ratchet key, and do not. So if no state
// reads a message, each is tried by itself, also older copies: at most 40 times the
// work of one.
func (s *Session) Decrypt(message []byte, trust signal.Trust) ([]byte, error) {
	if s.value == nil {
		return nil, signal.ErrNoSession
	}
	if len(s.kept) > 0 {
		m, err := signal.ParseSignalMessage(message)
		if err != nil {
			return nil, err
		}
		if needs(s.kept, &m) {
			if err := s.whole(); err != nil {
				return nil, err
			}
		}
	}
	next := s.value
	if next.Archived() > 0 {
		next = next.Clone() // to go back to if an archived one is not trusted
	}
	plaintext, stepped, err := decrypt(next, message, trust)
	if err == nil {
		s.value, s.raw, s.fat = next, nil, s.fat || stepped
		return plaintext, nil
	}
	if !otherStates(err) || len(s.tail) == 0 && next.Archived() == 0 {
		return nil, err
	}
	text, jsonErr := s.text()
	if jsonErr != nil {
		return nil, err
	}
	if len(s.tail) > 0 {
		if whole, parseErr := convert.ParseGoSession(text); parseErr == nil {
			plaintext, _, wholeErr := decrypt(whole, message, trust)
			if wholeErr == nil {
				s.become(whole)
				return plaintext, nil
			}
			err = wholeErr
		}
	}
	if !errors.Is(err, signal.ErrBadMAC) {
		return nil, err
	}
	if s.raw != nil {
		text = s.raw // with the older copies
	}
	for _, record := range alternatives(text) {
		alone, parseErr := convert.ParseGoSession(firstOf(record))
		if parseErr != nil {
			continue
		}
		if _, _, aloneErr := decrypt(alone, message, nil); aloneErr != nil {
			continue
		}
		whole, parseErr := convert.ParseGoSession(record)
		if parseErr != nil {
			continue
		}
		plaintext, _, wholeErr := decrypt(whole, message, trust)
		if wholeErr == nil {
			s.become(whole)
			return plaintext, nil
		}
		return nil, wholeErr
	}
	return nil, err
}

func (s *Session) become(whole *signal.Session) {
	s.value, s.kept, s.tail, s.raw = whole, nil, nil, nil
}

func decrypt(s *signal.Session, message []byte, trust signal.Trust) (plaintext []byte, stepped bool, err error) {
	plaintext, received, err := s.Decrypt(nil, message, trust)
	if err == nil && received.Promoted && trust != nil {
		err = trust(received.Identity)
	}
	if err != nil {
		return nil, false, err
	}
	return plaintext, received.Ratcheted, nil
}

// otherStates reports whether a message that the current state does not read may
// be one of another state.
func otherStates(err error) bool {
	for _, reason := range []error{
		signal.ErrBadMAC, signal.ErrTooFar, signal.ErrClosedChain, signal.ErrLegacyVersion, signal.ErrUnknownVersion,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Matches is that of signal.Session.
func (s *Session) Matches(m *signal.PreKeySignalMessage) bool {
	if s.value == nil {
		return false
	}
	if s.value.Matches(m) {
		return true
	}
	return hasBaseKey(s.tail, &m.BaseKey) && s.whole() == nil && s.value.Matches(m)
}

// DecryptPreKey is that of signal.Session. commit is called with a message that
// was read, before anything changes; its error is returned.
func (s *Session) DecryptPreKey(m *signal.PreKeySignalMessage, r *signal.Responder, commit func(*signal.Received) error) ([]byte, error) {
	if err := s.whole(); err != nil {
		return nil, err
	}
	next := new(signal.Session)
	if s.value != nil {
		next = s.value.Clone()
	}
	plaintext, received, err := next.DecryptPreKey(nil, m, r)
	if err == nil {
		err = commit(&received)
	}
	if err != nil {
		return nil, err
	}
	s.value, s.raw = next, nil
	return plaintext, nil
}

// Initiate is that of signal.Session.
func (s *Session) Initiate(local signal.Local, b *signal.Bundle) error {
	if err := s.whole(); err != nil {
		return err
	}
	next := new(signal.Session)
	if s.value != nil {
		next = s.value.Clone()
	}
	if err := next.Initiate(local, b); err != nil {
		return err
	}
	s.value, s.raw = next, nil
	return nil
}
