package signal

import (
	"fmt"

	"github.com/sigcore/sigcore/curve"
)

// An IdentityKeyPair is the long-term key of one account. It is immutable and
// safe for concurrent use.
type IdentityKeyPair struct {
	key    *curve.PrivateKey
	public PublicKey
}

// NewIdentityKeyPair returns the identity of a private key.
func NewIdentityKeyPair(key *curve.PrivateKey) *IdentityKeyPair {
	return &IdentityKeyPair{key: key, public: key.PublicKey()}
}

// GenerateIdentityKeyPair makes a fresh identity. It draws 32 bytes.
func GenerateIdentityKeyPair() (*IdentityKeyPair, error) {
	key, err := curve.GenerateKey()
	if err != nil {
		return nil, err
	}
	return NewIdentityKeyPair(key), nil
}

// PublicKey returns the public half.
func (k *IdentityKeyPair) PublicKey() PublicKey { return k.public }

// PrivateKey returns the private half.
func (k *IdentityKeyPair) PrivateKey() *curve.PrivateKey { return k.key }

// String returns a placeholder.
func (IdentityKeyPair) String() string { return redacted }

// Format prints a placeholder for every verb.
func (IdentityKeyPair) Format(f fmt.State, _ rune) { redact(f) }

// Local is who we are in a session.
type Local struct {
	Identity       *IdentityKeyPair
	RegistrationID uint32
}

// ParseIdentityKeyPair reads the protobuf IdentityKeyPairStructure. The error
// wraps ErrCorruptRecord.
func ParseIdentityKeyPair(record []byte) (*IdentityKeyPair, error) {
	var public, private []byte
	r := fieldReader{b: record}
	for r.next() {
		switch r.num {
		case 1:
			r.bytes(&public)
		case 2:
			r.bytes(&private)
		}
	}
	var pub PublicKey
	var priv PrivateKey
	if r.bad || !parseStoredPair(&pub, &priv, public, private) {
		return nil, fmt.Errorf("signal: identity of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	key, err := curve.NewPrivateKey(priv[:])
	if err != nil {
		return nil, fmt.Errorf("signal: identity of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	k := NewIdentityKeyPair(key)
	if k.public != pub {
		return nil, fmt.Errorf("signal: identity whose keys do not belong together: %w", ErrCorruptRecord)
	}
	return k, nil
}

// AppendBinary appends the protobuf form: the tagged public key and the
// private one. The error is always nil.
func (k *IdentityKeyPair) AppendBinary(dst []byte) ([]byte, error) {
	dst = appendKeyField(dst, 1, &k.public)
	return appendBytesField(dst, 2, k.key.Bytes()), nil
}
