package record

import (
	"errors"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/util/bytehelper"
	"go.mau.fi/libsignal/util/optional"
)

// A PendingPreKey is what messages of a session repeat until it is answered.
type PendingPreKey struct {
	preKeyID       *optional.Uint32
	signedPreKeyID uint32
	baseKey        ecc.ECPublicKeyable
}

// NewPendingPreKey returns the value of these parts.
func NewPendingPreKey(preKeyID *optional.Uint32, signedPreKeyID uint32, baseKey ecc.ECPublicKeyable) *PendingPreKey {
	return &PendingPreKey{preKeyID, signedPreKeyID, baseKey}
}

// NewPendingPreKeyFromStruct returns the value of its stored form.
func NewPendingPreKeyFromStruct(preKey *PendingPreKeyStructure) (*PendingPreKey, error) {
	if preKey == nil {
		return nil, errors.New("pending prekey without a structure")
	}
	base, err := ecc.DecodePoint(preKey.BaseKey, 0)
	if err != nil {
		return nil, err
	}
	return NewPendingPreKey(preKey.PreKeyID, preKey.SignedPreKeyID, base), nil
}

// UnackPreKeyMessageItemsStructure has the parts of UnackPreKeyMessageItems.
type UnackPreKeyMessageItemsStructure struct {
	PreKeyID       *optional.Uint32
	SignedPreKeyID uint32
	BaseKey        []byte
}

// UnackPreKeyMessageItems is what messages of a session repeat until it is
// answered.
type UnackPreKeyMessageItems struct {
	preKeyID       *optional.Uint32
	signedPreKeyID uint32
	baseKey        ecc.ECPublicKeyable
}

// NewUnackPreKeyMessageItems returns the value of these parts.
func NewUnackPreKeyMessageItems(preKeyID *optional.Uint32, signedPreKeyID uint32, baseKey ecc.ECPublicKeyable) *UnackPreKeyMessageItems {
	return &UnackPreKeyMessageItems{preKeyID, signedPreKeyID, baseKey}
}

// NewUnackPreKeyMessageItemsFromStruct returns the value of its parts, without a
// base key if they have none that can be read.
func NewUnackPreKeyMessageItemsFromStruct(structure *UnackPreKeyMessageItemsStructure) *UnackPreKeyMessageItems {
	base, err := ecc.DecodePoint(structure.BaseKey, 0)
	if err != nil {
		base = nil
	}
	return NewUnackPreKeyMessageItems(structure.PreKeyID, structure.SignedPreKeyID, base)
}

// PreKeyID returns the id of the one-time prekey, empty if there is none.
func (u *UnackPreKeyMessageItems) PreKeyID() *optional.Uint32 { return u.preKeyID }

// SignedPreKeyID returns the id of the signed prekey.
func (u *UnackPreKeyMessageItems) SignedPreKeyID() uint32 { return u.signedPreKeyID }

// BaseKey returns the base key of the session.
func (u *UnackPreKeyMessageItems) BaseKey() ecc.ECPublicKeyable { return u.baseKey }

// A PendingKeyExchange is a key exchange of the second version of the protocol,
// which nothing starts.
type PendingKeyExchange struct {
	sequence             uint32
	localBaseKeyPair     *ecc.ECKeyPair
	localRatchetKeyPair  *ecc.ECKeyPair
	localIdentityKeyPair *identity.KeyPair
}

// NewPendingKeyExchange returns the value of these parts.
func NewPendingKeyExchange(sequence uint32, localBaseKeyPair, localRatchetKeyPair *ecc.ECKeyPair, localIdentityKeyPair *identity.KeyPair) *PendingKeyExchange {
	return &PendingKeyExchange{sequence, localBaseKeyPair, localRatchetKeyPair, localIdentityKeyPair}
}

// NewPendingKeyExchangeFromStruct returns the value of its stored form, nil if
// its keys cannot be read.
func NewPendingKeyExchangeFromStruct(structure *PendingKeyExchangeStructure) *PendingKeyExchange {
	if structure == nil {
		return nil
	}
	base, err := keyPair(structure.LocalBaseKeyPublic, structure.LocalBaseKeyPrivate)
	if err != nil {
		return nil
	}
	ratchet, err := keyPair(structure.LocalRatchetKeyPublic, structure.LocalRatchetKeyPrivate)
	if err != nil {
		return nil
	}
	public, err := ecc.DecodePoint(structure.LocalIdentityKeyPublic, 0)
	if err != nil {
		return nil
	}
	private := ecc.NewDjbECPrivateKey(bytehelper.SliceToArray(structure.LocalIdentityKeyPrivate))
	return NewPendingKeyExchange(structure.Sequence, base, ratchet, identity.NewKeyPair(identity.NewKey(public), private))
}

func (p *PendingKeyExchange) structure() *PendingKeyExchangeStructure {
	s := &PendingKeyExchangeStructure{Sequence: p.sequence}
	s.LocalBaseKeyPublic, s.LocalBaseKeyPrivate = pairBytes(p.localBaseKeyPair)
	s.LocalRatchetKeyPublic, s.LocalRatchetKeyPrivate = pairBytes(p.localRatchetKeyPair)
	s.LocalIdentityKeyPublic = p.localIdentityKeyPair.PublicKey().Serialize()
	s.LocalIdentityKeyPrivate = bytehelper.ArrayToSlice(p.localIdentityKeyPair.PrivateKey().Serialize())
	return s
}

func pairBytes(pair *ecc.ECKeyPair) (public, private []byte) {
	public = pair.PublicKey().Serialize()
	if k := pair.PrivateKey(); k != nil {
		private = bytehelper.ArrayToSlice(k.Serialize())
	}
	return public, private
}
