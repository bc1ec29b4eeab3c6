package signal

import (
	"fmt"
	"slices"
)

// A PreKeySignalMessage is a SignalMessage with what the receiver needs to set
// up its session: the pkmsg of stanzas. PreKeyID counts only if HasPreKeyID is
// set.
//
// The envelope is not authenticated by itself. BaseKey, Identity and the
// prekey ids are proved by the MAC of the message inside, RegistrationID is
// proved by nothing.
type PreKeySignalMessage struct {
	RegistrationID uint32
	HasPreKeyID    bool
	PreKeyID       uint32
	SignedPreKeyID uint32
	BaseKey        PublicKey
	Identity       PublicKey
	Message        SignalMessage

	inner []byte // the message inside as received
}

// ParsePreKeySignalMessage reads a PreKeySignalMessage with the message inside
// it. The message keeps references to b. A registration id that is left out is
// 0. Leniency and errors are those of [ParseSignalMessage].
func ParsePreKeySignalMessage(b []byte) (PreKeySignalMessage, error) {
	var m PreKeySignalMessage
	if err := m.parse(b); err != nil {
		return PreKeySignalMessage{}, err
	}
	return m, nil
}

func (m *PreKeySignalMessage) parse(b []byte) error {
	if len(b) == 0 {
		return fmt.Errorf("signal: prekey message of 0 bytes: %w", ErrMalformed)
	}
	if err := checkVersion(b[0]); err != nil {
		return err
	}
	var base, identity []byte
	hasSigned := false
	r := fieldReader{b: b[1:]}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&m.PreKeyID)
			m.HasPreKeyID = true
		case 2:
			r.bytes(&base)
		case 3:
			r.bytes(&identity)
		case 4:
			r.bytes(&m.inner)
		case 5:
			r.varint(&m.RegistrationID)
		case 6:
			r.varint(&m.SignedPreKeyID)
			hasSigned = true
		}
	}
	if r.bad || !hasSigned {
		return fmt.Errorf("signal: prekey message of %d bytes: %w", len(b), ErrMalformed)
	}
	var err error
	if m.BaseKey, err = parseMessageKey(base); err != nil {
		return err
	}
	if m.Identity, err = parseMessageKey(identity); err != nil {
		return err
	}
	return m.Message.parse(m.inner)
}

// AppendBinary appends the message as it is written, fields in ascending
// order. The message inside is the one received, byte for byte, if m was
// parsed. The error is always nil.
func (m *PreKeySignalMessage) AppendBinary(dst []byte) ([]byte, error) {
	inner := m.inner
	if inner == nil {
		inner, _ = m.Message.AppendBinary(nil)
	}
	dst = slices.Grow(dst, m.headerSize(len(inner))+len(inner)+m.trailerSize())
	dst = m.appendHeader(dst, len(inner))
	dst = append(dst, inner...)
	return m.appendTrailer(dst), nil
}

// headerSize is the size of what comes before the inner message of n bytes.
func (m *PreKeySignalMessage) headerSize(n int) int {
	size := 1 + 2*keyFieldSize + bytesFieldSize(n) - n
	if m.HasPreKeyID {
		size += uintFieldSize(m.PreKeyID)
	}
	return size
}

func (m *PreKeySignalMessage) appendHeader(dst []byte, n int) []byte {
	dst = append(dst, versionByte)
	if m.HasPreKeyID {
		dst = appendUintField(dst, 1, m.PreKeyID)
	}
	dst = appendKeyField(dst, 2, &m.BaseKey)
	dst = appendKeyField(dst, 3, &m.Identity)
	return appendBytesTag(dst, 4, n)
}

// trailerSize is the size of what comes after the inner message.
func (m *PreKeySignalMessage) trailerSize() int {
	return uintFieldSize(m.RegistrationID) + uintFieldSize(m.SignedPreKeyID)
}

func (m *PreKeySignalMessage) appendTrailer(dst []byte) []byte {
	dst = appendUintField(dst, 5, m.RegistrationID)
	return appendUintField(dst, 6, m.SignedPreKeyID)
}
