package signal

import (
	"github.com/sigcore/sigcore/internal/random"
)

// MaxPreKeyID is the largest id of a prekey that may be issued; ids have 24
// bits and 0 is never issued.
const MaxPreKeyID = 1<<24 - 1

// A PreKey is a one-time prekey.
type PreKey struct {
	ID      uint32
	Public  PublicKey
	Private PrivateKey
}

// A SignedPreKey is a medium-term prekey with the identity's signature over
// its tagged public key.
type SignedPreKey struct {
	ID        uint32
	Public    PublicKey
	Private   PrivateKey
	Signature [SignatureSize]byte
	Timestamp uint64 // of its making, in seconds since 1970; records of other writers may have milliseconds
}

// NewPreKey returns the prekey of a private key.
func NewPreKey(id uint32, key PrivateKey) *PreKey {
	return &PreKey{ID: id, Public: key.public(), Private: key}
}

// GeneratePreKey makes a fresh prekey. It draws 32 bytes.
func GeneratePreKey(id uint32) (*PreKey, error) {
	k := &PreKey{ID: id}
	if err := generatePrivateKey(&k.Private); err != nil {
		return nil, err
	}
	k.Public = k.Private.public()
	return k, nil
}

// NewSignedPreKey returns the signed prekey of a private key. It draws 64
// bytes for the signature.
func NewSignedPreKey(id uint32, key PrivateKey, signer *IdentityKeyPair, timestamp uint64) (*SignedPreKey, error) {
	var z [64]byte
	if err := random.Read(z[:]); err != nil {
		return nil, err
	}
	k := &SignedPreKey{ID: id, Public: key.public(), Private: key, Timestamp: timestamp}
	tagged := k.Public.Tagged()
	k.Signature = signer.key.SignWithRandom(&z, tagged[:])
	return k, nil
}

// GenerateSignedPreKey makes a fresh signed prekey. It draws 32 bytes for the
// key, then 64 for the signature.
func GenerateSignedPreKey(id uint32, signer *IdentityKeyPair, timestamp uint64) (*SignedPreKey, error) {
	var key PrivateKey
	if err := generatePrivateKey(&key); err != nil {
		return nil, err
	}
	return NewSignedPreKey(id, key, signer, timestamp)
}

// ParsePreKey reads a stored prekey: the protobuf PreKeyRecordStructure. The
// error wraps ErrCorruptRecord.
func ParsePreKey(record []byte) (*PreKey, error) { panic("in work") }

// AppendBinary appends the stored form. The error is always nil.
func (k *PreKey) AppendBinary(dst []byte) ([]byte, error) { panic("in work") }

// ParseSignedPreKey reads a stored signed prekey: the protobuf
// SignedPreKeyRecordStructure. The error wraps ErrCorruptRecord.
func ParseSignedPreKey(record []byte) (*SignedPreKey, error) { panic("in work") }

// AppendBinary appends the stored form. The error is always nil.
func (k *SignedPreKey) AppendBinary(dst []byte) ([]byte, error) { panic("in work") }
