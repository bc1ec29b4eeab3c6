package signal

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

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

// String returns a placeholder.
func (PreKey) String() string { return redacted }

// Format prints a placeholder for every verb.
func (PreKey) Format(f fmt.State, _ rune) { redact(f) }

// String returns a placeholder.
func (SignedPreKey) String() string { return redacted }

// Format prints a placeholder for every verb.
func (SignedPreKey) Format(f fmt.State, _ rune) { redact(f) }

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
func ParsePreKey(record []byte) (*PreKey, error) {
	k := new(PreKey)
	var public, private []byte
	r := fieldReader{b: record}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&k.ID)
		case 2:
			r.bytes(&public)
		case 3:
			r.bytes(&private)
		}
	}
	if r.bad || !parseStoredPair(&k.Public, &k.Private, public, private) {
		return nil, fmt.Errorf("signal: prekey of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	return k, nil
}

// AppendBinary appends the stored form: the id and both keys, the public one
// as its bare 32 bytes. The error is always nil.
func (k *PreKey) AppendBinary(dst []byte) ([]byte, error) {
	dst = appendUintField(dst, 1, k.ID)
	dst = appendBytesField(dst, 2, k.Public[:])
	return appendBytesField(dst, 3, k.Private[:]), nil
}

// ParseSignedPreKey reads a stored signed prekey: the protobuf
// SignedPreKeyRecordStructure. The error wraps ErrCorruptRecord.
func ParseSignedPreKey(record []byte) (*SignedPreKey, error) {
	k := new(SignedPreKey)
	var public, private, signature []byte
	r := fieldReader{b: record}
	for r.next() {
		switch r.num {
		case 1:
			r.varint(&k.ID)
		case 2:
			r.bytes(&public)
		case 3:
			r.bytes(&private)
		case 4:
			r.bytes(&signature)
		case 5:
			if r.typ != protowire.Fixed64Type {
				r.bad = true
			}
			k.Timestamp = r.v
		}
	}
	if r.bad || len(signature) != SignatureSize || !parseStoredPair(&k.Public, &k.Private, public, private) {
		return nil, fmt.Errorf("signal: signed prekey of %d bytes: %w", len(record), ErrCorruptRecord)
	}
	k.Signature = [SignatureSize]byte(signature)
	return k, nil
}

// AppendBinary appends the stored form: the id, both keys, the public one as
// its bare 32 bytes, the signature and the timestamp. The error is always nil.
func (k *SignedPreKey) AppendBinary(dst []byte) ([]byte, error) {
	dst = appendUintField(dst, 1, k.ID)
	dst = appendBytesField(dst, 2, k.Public[:])
	dst = appendBytesField(dst, 3, k.Private[:])
	dst = appendBytesField(dst, 4, k.Signature[:])
	return protowire.AppendFixed64(append(dst, 5<<3|1), k.Timestamp), nil
}

// parseStoredPair reads the keys of a stored pair.
func parseStoredPair(pub *PublicKey, priv *PrivateKey, public, private []byte) bool {
	var err error
	if *pub, err = parseStoredKey(public); err != nil {
		return false
	}
	*priv, err = NewPrivateKey(private)
	return err == nil
}
