package signal

import "github.com/sigcore/sigcore/curve"

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
func (k *IdentityKeyPair) String() string { return redacted }

// GoString returns a placeholder.
func (k *IdentityKeyPair) GoString() string { return redacted }

// Local is who we are in a session.
type Local struct {
	Identity       *IdentityKeyPair
	RegistrationID uint32
}

// ParseIdentityKeyPair reads the protobuf IdentityKeyPairStructure. The error
// wraps ErrCorruptRecord.
func ParseIdentityKeyPair(record []byte) (*IdentityKeyPair, error) { panic("in work") }

// AppendBinary appends the protobuf form. The error is always nil.
func (k *IdentityKeyPair) AppendBinary(dst []byte) ([]byte, error) { panic("in work") }
