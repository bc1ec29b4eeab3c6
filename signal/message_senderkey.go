package signal

import (
	"fmt"
	"slices"
)

// A SenderKeyMessage is a message to a group: the skmsg of stanzas.
type SenderKeyMessage struct {
	KeyID      uint32
	Iteration  uint32
	Ciphertext []byte
	Signature  [SignatureSize]byte

	signed []byte // as received: what the signature covers
}

// ParseSenderKeyMessage reads a SenderKeyMessage. The message keeps references
// to b. All fields have to be there; unknown fields, any order and
// repetitions, of which the last counts, are accepted. The errors wrap
// ErrMalformed or are a *VersionError.
func ParseSenderKeyMessage(b []byte) (SenderKeyMessage, error) {
	var m SenderKeyMessage
	if err := m.parse(b); err != nil {
		return SenderKeyMessage{}, err
	}
	return m, nil
}

func (m *SenderKeyMessage) parse(b []byte) error {
	if len(b) < 1+SignatureSize {
		return fmt.Errorf("signal: sender key message of %d bytes: %w", len(b), ErrMalformed)
	}
	if err := checkVersion(b[0]); err != nil {
		return err
	}
	m.signed = b[:len(b)-SignatureSize]
	m.Signature = [SignatureSize]byte(b[len(b)-SignatureSize:])
	var hasID, hasIteration bool
	r := fieldReader{b: m.signed[1:]}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&m.KeyID)
			hasID = true
		case 2:
			r.varint(&m.Iteration)
			hasIteration = true
		case 3:
			r.bytes(&m.Ciphertext)
		}
	}
	if r.bad || !hasID || !hasIteration || len(m.Ciphertext) == 0 {
		return fmt.Errorf("signal: sender key message of %d bytes: %w", len(b), ErrMalformed)
	}
	return nil
}

// AppendBinary appends the message as it is written: fields in ascending
// order, then the signature. The error is always nil.
func (m *SenderKeyMessage) AppendBinary(dst []byte) ([]byte, error) {
	dst = slices.Grow(dst, senderHeaderSize(m.KeyID, m.Iteration, len(m.Ciphertext))+len(m.Ciphertext)+SignatureSize)
	dst = appendSenderHeader(dst, m.KeyID, m.Iteration, len(m.Ciphertext))
	dst = append(dst, m.Ciphertext...)
	return append(dst, m.Signature[:]...), nil
}

// senderHeaderSize is the size of what comes before the ciphertext of n bytes.
func senderHeaderSize(id, iteration uint32, n int) int {
	return 1 + uintFieldSize(id) + uintFieldSize(iteration) + bytesFieldSize(n) - n
}

func appendSenderHeader(dst []byte, id, iteration uint32, n int) []byte {
	dst = append(dst, versionByte)
	dst = appendUintField(dst, 1, id)
	dst = appendUintField(dst, 2, iteration)
	return appendBytesTag(dst, 3, n)
}
