// Package keyhelper makes keys.
package keyhelper

import (
	"encoding/binary"
	"errors"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/internal/draw"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/medium"
)

// GenerateIdentityKeyPair makes an identity.
func GenerateIdentityKeyPair() (*identity.KeyPair, error) {
	pair, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	return identity.NewKeyPair(identity.NewKey(pair.PublicKey()), pair.PrivateKey()), nil
}

// GeneratePreKeys makes the one-time prekeys with ids from start to start+count,
// both included. Ids are numbers of three bytes; after the largest comes 1, and 0
// is left out.
func GeneratePreKeys(start, count int, serializer record.PreKeySerializer) ([]*record.PreKey, error) {
	if count < 0 || start < 0 || count > int(medium.MaxValue) {
		return nil, errors.New("keyhelper: ids out of range")
	}
	keys := make([]*record.PreKey, 0, count+1)
	for i := 0; i <= count; i++ {
		id := uint32(start + i)
		if id > 0 {
			id = (id-1)%medium.MaxValue + 1
		}
		pair, err := ecc.GenerateKeyPair()
		if err != nil {
			return nil, err
		}
		keys = append(keys, record.NewPreKey(id, pair, serializer))
	}
	return keys, nil
}

// GenerateLastResortKey makes the prekey that is used when there are no others.
func GenerateLastResortKey(serializer record.PreKeySerializer) (*record.PreKey, error) {
	pair, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	return record.NewPreKey(0, pair, serializer), nil
}

// GenerateSignedPreKey makes a signed prekey.
func GenerateSignedPreKey(identityKeyPair *identity.KeyPair, signedPreKeyID uint32, serializer record.SignedPreKeySerializer) (*record.SignedPreKey, error) {
	pair, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	sig := ecc.CalculateSignature(identityKeyPair.PrivateKey(), pair.PublicKey().Serialize())
	return record.NewSignedPreKey(signedPreKeyID, time.Now().Unix(), pair, sig, serializer), nil
}

// GenerateRegistrationID draws a registration id of 14 bits.
func GenerateRegistrationID() uint32 { return random32()%16380 + 1 }

// GenerateSenderSigningKey makes the signing key of a sender key.
func GenerateSenderSigningKey() (*ecc.ECKeyPair, error) { return ecc.GenerateKeyPair() }

// GenerateSenderKey draws the first chain key of a sender key, 32 bytes.
func GenerateSenderKey() []byte {
	b := draw.Bytes()
	return b[:32:32]
}

// GenerateSenderKeyID draws the id of a sender key, of 31 bits.
func GenerateSenderKeyID() uint32 { return random32() >> 1 }

func random32() uint32 {
	b := draw.Bytes()
	return binary.LittleEndian.Uint32(b[:])
}
