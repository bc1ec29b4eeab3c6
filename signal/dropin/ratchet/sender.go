package ratchet

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
)

// SenderParameters are the keys of a session of the one who starts it.
type SenderParameters struct {
	ourIdentityKeyPair *identity.KeyPair
	ourBaseKey         *ecc.ECKeyPair
	theirIdentityKey   *identity.Key
	theirSignedPreKey  ecc.ECPublicKeyable
	theirRatchetKey    ecc.ECPublicKeyable
	theirOneTimePreKey ecc.ECPublicKeyable
}

// NewSenderParameters returns parameters of these keys. Keys that there are not are nil.
func NewSenderParameters(ourIdentityKey *identity.KeyPair, ourBaseKey *ecc.ECKeyPair, theirIdentityKey *identity.Key, theirSignedPreKey ecc.ECPublicKeyable, theirRatchetKey ecc.ECPublicKeyable, theirOneTimePreKey ecc.ECPublicKeyable) *SenderParameters {
	return &SenderParameters{
		ourIdentityKeyPair: ourIdentityKey,
		ourBaseKey:         ourBaseKey,
		theirIdentityKey:   theirIdentityKey,
		theirSignedPreKey:  theirSignedPreKey,
		theirRatchetKey:    theirRatchetKey,
		theirOneTimePreKey: theirOneTimePreKey,
	}
}

// NewEmptySenderParameters returns parameters without any key.
func NewEmptySenderParameters() *SenderParameters { return new(SenderParameters) }

// OurIdentityKey returns our identity.
func (s *SenderParameters) OurIdentityKey() *identity.KeyPair { return s.ourIdentityKeyPair }

// SetOurIdentityKey sets our identity.
func (s *SenderParameters) SetOurIdentityKey(ourIdentityKey *identity.KeyPair) {
	s.ourIdentityKeyPair = ourIdentityKey
}

// OurBaseKey returns our base key.
func (s *SenderParameters) OurBaseKey() *ecc.ECKeyPair { return s.ourBaseKey }

// SetOurBaseKey sets our base key.
func (s *SenderParameters) SetOurBaseKey(ourBaseKey *ecc.ECKeyPair) { s.ourBaseKey = ourBaseKey }

// TheirIdentityKey returns their identity.
func (s *SenderParameters) TheirIdentityKey() *identity.Key { return s.theirIdentityKey }

// SetTheirIdentityKey sets their identity.
func (s *SenderParameters) SetTheirIdentityKey(theirIdentityKey *identity.Key) {
	s.theirIdentityKey = theirIdentityKey
}

// TheirSignedPreKey returns their signed prekey.
func (s *SenderParameters) TheirSignedPreKey() ecc.ECPublicKeyable { return s.theirSignedPreKey }

// SetTheirSignedPreKey sets their signed prekey.
func (s *SenderParameters) SetTheirSignedPreKey(theirSignedPreKey ecc.ECPublicKeyable) {
	s.theirSignedPreKey = theirSignedPreKey
}

// TheirRatchetKey returns their ratchet key.
func (s *SenderParameters) TheirRatchetKey() ecc.ECPublicKeyable { return s.theirRatchetKey }

// SetTheirRatchetKey sets their ratchet key.
func (s *SenderParameters) SetTheirRatchetKey(theirRatchetKey ecc.ECPublicKeyable) {
	s.theirRatchetKey = theirRatchetKey
}

// TheirOneTimePreKey returns their one-time prekey, if any.
func (s *SenderParameters) TheirOneTimePreKey() ecc.ECPublicKeyable { return s.theirOneTimePreKey }

// SetTheirOneTimePreKey sets their one-time prekey, if any.
func (s *SenderParameters) SetTheirOneTimePreKey(theirOneTimePreKey ecc.ECPublicKeyable) {
	s.theirOneTimePreKey = theirOneTimePreKey
}
