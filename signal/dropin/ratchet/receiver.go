package ratchet

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
)

// ReceiverParameters are the keys of a session of the one who answers it.
type ReceiverParameters struct {
	ourIdentityKeyPair *identity.KeyPair
	ourSignedPreKey    *ecc.ECKeyPair
	ourOneTimePreKey   *ecc.ECKeyPair
	ourRatchetKey      *ecc.ECKeyPair
	theirBaseKey       ecc.ECPublicKeyable
	theirIdentityKey   *identity.Key
}

// NewReceiverParameters returns parameters of these keys. Keys that there are not are nil.
func NewReceiverParameters(ourIdentityKey *identity.KeyPair, ourSignedPreKey *ecc.ECKeyPair, ourOneTimePreKey *ecc.ECKeyPair, ourRatchetKey *ecc.ECKeyPair, theirBaseKey ecc.ECPublicKeyable, theirIdentityKey *identity.Key) *ReceiverParameters {
	return &ReceiverParameters{
		ourIdentityKeyPair: ourIdentityKey,
		ourSignedPreKey:    ourSignedPreKey,
		ourOneTimePreKey:   ourOneTimePreKey,
		ourRatchetKey:      ourRatchetKey,
		theirBaseKey:       theirBaseKey,
		theirIdentityKey:   theirIdentityKey,
	}
}

// NewEmptyReceiverParameters returns parameters without any key.
func NewEmptyReceiverParameters() *ReceiverParameters { return new(ReceiverParameters) }

// OurIdentityKeyPair returns our identity.
func (r *ReceiverParameters) OurIdentityKeyPair() *identity.KeyPair { return r.ourIdentityKeyPair }

// SetOurIdentityKeyPair sets our identity.
func (r *ReceiverParameters) SetOurIdentityKeyPair(ourIdentityKey *identity.KeyPair) {
	r.ourIdentityKeyPair = ourIdentityKey
}

// OurSignedPreKey returns our signed prekey.
func (r *ReceiverParameters) OurSignedPreKey() *ecc.ECKeyPair { return r.ourSignedPreKey }

// SetOurSignedPreKey sets our signed prekey.
func (r *ReceiverParameters) SetOurSignedPreKey(ourSignedPreKey *ecc.ECKeyPair) {
	r.ourSignedPreKey = ourSignedPreKey
}

// OurOneTimePreKey returns our one-time prekey, if any.
func (r *ReceiverParameters) OurOneTimePreKey() *ecc.ECKeyPair { return r.ourOneTimePreKey }

// SetOurOneTimePreKey sets our one-time prekey, if any.
func (r *ReceiverParameters) SetOurOneTimePreKey(ourOneTimePreKey *ecc.ECKeyPair) {
	r.ourOneTimePreKey = ourOneTimePreKey
}

// OurRatchetKey returns our ratchet key.
func (r *ReceiverParameters) OurRatchetKey() *ecc.ECKeyPair { return r.ourRatchetKey }

// SetOurRatchetKey sets our ratchet key.
func (r *ReceiverParameters) SetOurRatchetKey(ourRatchetKey *ecc.ECKeyPair) {
	r.ourRatchetKey = ourRatchetKey
}

// TheirBaseKey returns their base key.
func (r *ReceiverParameters) TheirBaseKey() ecc.ECPublicKeyable { return r.theirBaseKey }

// SetTheirBaseKey sets their base key.
func (r *ReceiverParameters) SetTheirBaseKey(theirBaseKey ecc.ECPublicKeyable) {
	r.theirBaseKey = theirBaseKey
}

// TheirIdentityKey returns their identity.
func (r *ReceiverParameters) TheirIdentityKey() *identity.Key { return r.theirIdentityKey }

// SetTheirIdentityKey sets their identity.
func (r *ReceiverParameters) SetTheirIdentityKey(theirIdentityKey *identity.Key) {
	r.theirIdentityKey = theirIdentityKey
}
