package signal

import (
	"crypto/subtle"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/internal/kdf"
)

// macSize is the size in bytes of the truncated HMAC behind a SignalMessage.
const macSize = 8

// A SignalMessage is a message of an established session: the msg of stanzas.
type SignalMessage struct {
	RatchetKey      PublicKey
	Counter         uint32
	PreviousCounter uint32 // carried, not used by a receiver
	Ciphertext      []byte
	MAC             [macSize]byte

	authenticated []byte // as received: what the MAC covers
}

// ParseSignalMessage reads a SignalMessage. The message keeps references to b.
//
// A counter that is left out is 0, as writers without field presence mean it.
// Unknown fields, any order and repetitions, of which the last counts, are
// accepted; counters keep their low 32 bits. The errors wrap ErrMalformed,
// ErrBadKeyType or ErrBadKeyLength, or are a *VersionError.
func ParseSignalMessage(b []byte) (SignalMessage, error) {
	var m SignalMessage
	err := m.parse(b)
	if err != nil {
		return SignalMessage{}, err
	}
	return m, nil
}

func (m *SignalMessage) parse(b []byte) error {
	if len(b) < 1+macSize {
		return fmt.Errorf("signal: message of %d bytes: %w", len(b), ErrMalformed)
	}
	if err := checkVersion(b[0]); err != nil {
		return err
	}
	m.authenticated = b[:len(b)-macSize]
	m.MAC = [macSize]byte(b[len(b)-macSize:])
	var key []byte
	r := fieldReader{b: m.authenticated[1:]}
	for r.next() {
		switch r.num {
		case 1:
			r.bytes(&key)
		case 2:
			r.varint(&m.Counter)
		case 3:
			r.varint(&m.PreviousCounter)
		case 4:
			r.bytes(&m.Ciphertext)
		}
	}
	if r.bad || len(m.Ciphertext) == 0 {
		return fmt.Errorf("signal: message of %d bytes: %w", len(b), ErrMalformed)
	}
	var err error
	m.RatchetKey, err = parseMessageKey(key)
	return err
}

// AppendBinary appends the message as it is written: fields in ascending
// order, both counters always present, then the MAC. The error is always nil.
func (m *SignalMessage) AppendBinary(dst []byte) ([]byte, error) {
	dst = slices.Grow(dst, signalHeaderSize(m.Counter, m.PreviousCounter, len(m.Ciphertext))+len(m.Ciphertext)+macSize)
	dst = appendSignalHeader(dst, &m.RatchetKey, m.Counter, m.PreviousCounter, len(m.Ciphertext))
	dst = append(dst, m.Ciphertext...)
	return append(dst, m.MAC[:]...), nil
}

// signalHeaderSize is the size of what comes before the ciphertext of n bytes.
func signalHeaderSize(counter, previous uint32, n int) int {
	return 1 + keyFieldSize + uintFieldSize(counter) + uintFieldSize(previous) + bytesFieldSize(n) - n
}

func appendSignalHeader(dst []byte, ratchet *PublicKey, counter, previous uint32, n int) []byte {
	dst = append(dst, versionByte)
	dst = appendKeyField(dst, 1, ratchet)
	dst = appendUintField(dst, 2, counter)
	dst = appendUintField(dst, 3, previous)
	return appendBytesTag(dst, 4, n)
}

// messageMAC computes the MAC of a message: over the tagged identities of
// sender and receiver, then everything before the MAC.
func messageMAC(key *[32]byte, sender, receiver *PublicKey, authenticated []byte) [macSize]byte {
	var prefix [2 * PublicKeySize]byte
	macPrefix(&prefix, sender, receiver)
	var mac [32]byte
	kdf.HMAC(&mac, key, prefix[:], authenticated)
	return [macSize]byte(mac[:])
}

// macPrefix sets b to what the MAC covers before the message.
func macPrefix(b *[2 * PublicKeySize]byte, sender, receiver *PublicKey) {
	receiver.appendTagged(sender.appendTagged(b[:0]))
}

// verifyMAC checks the MAC over the bytes received. Constant time.
func (m *SignalMessage) verifyMAC(key *[32]byte, sender, receiver *PublicKey) error {
	mac := messageMAC(key, sender, receiver, m.authenticated)
	if subtle.ConstantTimeCompare(mac[:], m.MAC[:]) != 1 {
		return ErrBadMAC
	}
	return nil
}
