package signal

import (
	"fmt"
	"slices"
)

// A SenderKeyDistributionMessage hands a sender key to one member of a group.
// It is secret: it travels inside a pairwise message. It prints as a
// placeholder.
type SenderKeyDistributionMessage struct {
	KeyID      uint32
	Iteration  uint32
	ChainKey   [32]byte
	SigningKey PublicKey
}

// minDistributionSize is the size in bytes below which a distribution message
// cannot hold its two keys.
const minDistributionSize = 65

// ParseSenderKeyDistributionMessage reads a SenderKeyDistributionMessage. All
// fields have to be there, the keys with 32 and 33 bytes; unknown fields, any
// order and repetitions, of which the last counts, are accepted. The errors
// wrap ErrMalformed, ErrBadKeyType or ErrBadKeyLength, or are a *VersionError.
func ParseSenderKeyDistributionMessage(b []byte) (SenderKeyDistributionMessage, error) {
	var m SenderKeyDistributionMessage
	if err := m.parse(b); err != nil {
		return SenderKeyDistributionMessage{}, err
	}
	return m, nil
}

func (m *SenderKeyDistributionMessage) parse(b []byte) error {
	if len(b) < minDistributionSize {
		return fmt.Errorf("signal: distribution message of %d bytes: %w", len(b), ErrMalformed)
	}
	if err := checkVersion(b[0]); err != nil {
		return err
	}
	var hasID, hasIteration bool
	var chain, key []byte
	r := fieldReader{b: b[1:]}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&m.KeyID)
			hasID = true
		case 2:
			r.varint(&m.Iteration)
			hasIteration = true
		case 3:
			r.bytes(&chain)
		case 4:
			r.bytes(&key)
		}
	}
	if r.bad || !hasID || !hasIteration {
		return fmt.Errorf("signal: distribution message of %d bytes: %w", len(b), ErrMalformed)
	}
	if len(chain) != 32 {
		return fmt.Errorf("signal: chain key of %d bytes: %w", len(chain), ErrMalformed)
	}
	m.ChainKey = [32]byte(chain)
	var err error
	m.SigningKey, err = ParsePublicKey(key)
	return err
}

// AppendBinary appends the message as it is written, fields in ascending
// order. The error is always nil.
func (m *SenderKeyDistributionMessage) AppendBinary(dst []byte) ([]byte, error) {
	dst = slices.Grow(dst, 1+uintFieldSize(m.KeyID)+uintFieldSize(m.Iteration)+bytesFieldSize(32)+keyFieldSize)
	dst = append(dst, versionByte)
	dst = appendUintField(dst, 1, m.KeyID)
	dst = appendUintField(dst, 2, m.Iteration)
	dst = appendBytesField(dst, 3, m.ChainKey[:])
	return appendKeyField(dst, 4, &m.SigningKey), nil
}

// String returns a placeholder.
func (SenderKeyDistributionMessage) String() string { return redacted }

// Format prints a placeholder for every verb.
func (SenderKeyDistributionMessage) Format(f fmt.State, _ rune) { redact(f) }
