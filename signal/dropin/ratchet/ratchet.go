// Package ratchet sets up sessions step by step: X3DH of the third version of the
// protocol. Package session does it whole.
package ratchet

import (
	"bytes"
	"errors"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/kdf"
	"go.mau.fi/libsignal/keys/chain"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/root"
	"go.mau.fi/libsignal/keys/session"
)

// info is that of the derivation of the first keys.
const info = "WhisperText"

var errIncomplete = errors.New("ratchet: a key is missing")

// CalculateSenderSession returns the first keys of the one who starts a session.
func CalculateSenderSession(p *SenderParameters) (*session.KeyPair, error) {
	if p.ourIdentityKeyPair == nil || p.ourBaseKey == nil || p.theirIdentityKey == nil || p.theirSignedPreKey == nil {
		return nil, errIncomplete
	}
	theirs := p.theirIdentityKey.PublicKey()
	agreements := []agreement{
		{p.theirSignedPreKey, p.ourIdentityKeyPair.PrivateKey()},
		{theirs, p.ourBaseKey.PrivateKey()},
		{p.theirSignedPreKey, p.ourBaseKey.PrivateKey()},
	}
	if p.theirOneTimePreKey != nil {
		agreements = append(agreements, agreement{p.theirOneTimePreKey, p.ourBaseKey.PrivateKey()})
	}
	return firstKeys(agreements)
}

// CalculateReceiverSession returns the first keys of the one who answers.
func CalculateReceiverSession(p *ReceiverParameters) (*session.KeyPair, error) {
	if p.ourIdentityKeyPair == nil || p.ourSignedPreKey == nil || p.theirIdentityKey == nil || p.theirBaseKey == nil {
		return nil, errIncomplete
	}
	agreements := []agreement{
		{p.theirIdentityKey.PublicKey(), p.ourSignedPreKey.PrivateKey()},
		{p.theirBaseKey, p.ourIdentityKeyPair.PrivateKey()},
		{p.theirBaseKey, p.ourSignedPreKey.PrivateKey()},
	}
	if p.ourOneTimePreKey != nil {
		agreements = append(agreements, agreement{p.theirBaseKey, p.ourOneTimePreKey.PrivateKey()})
	}
	return firstKeys(agreements)
}

// CalculateSymmetricSession returns the first keys of two who start at once: the
// one with the smaller base key starts.
func CalculateSymmetricSession(p *SymmetricParameters) (*session.KeyPair, error) {
	if p.OurBaseKey == nil || p.TheirBaseKey == nil {
		return nil, errIncomplete
	}
	ours, theirs := p.OurBaseKey.PublicKey().PublicKey(), p.TheirBaseKey.PublicKey()
	if bytes.Compare(ours[:], theirs[:]) < 0 {
		return CalculateSenderSession(NewSenderParameters(
			p.OurIdentityKeyPair, p.OurBaseKey, p.TheirIdentityKey, p.TheirBaseKey, p.TheirRatchetKey, nil))
	}
	return CalculateReceiverSession(NewReceiverParameters(
		p.OurIdentityKeyPair, p.OurBaseKey, nil, p.OurRatchetKey, p.TheirBaseKey, p.TheirIdentityKey))
}

type agreement struct {
	theirs ecc.ECPublicKeyable
	ours   ecc.ECPrivateKeyable
}

func firstKeys(agreements []agreement) (*session.KeyPair, error) {
	secret := bytes.Repeat([]byte{0xff}, 32)
	for _, a := range agreements {
		dh := kdf.CalculateSharedSecret(a.theirs.PublicKey(), a.ours.Serialize())
		secret = append(secret, dh[:]...)
	}
	okm, err := kdf.DeriveSecrets(secret, nil, []byte(info), root.DerivedSecretsSize)
	if err != nil {
		return nil, err
	}
	keys := session.NewDerivedSecrets(okm)
	return session.NewKeyPair(
		root.NewKey(kdf.DeriveSecrets, keys.RootKey()),
		chain.NewKey(kdf.DeriveSecrets, keys.ChainKey(), 0),
	), nil
}

// SymmetricParameters are the keys of a session that two start at once.
type SymmetricParameters struct {
	OurBaseKey         *ecc.ECKeyPair
	OurRatchetKey      *ecc.ECKeyPair
	OurIdentityKeyPair *identity.KeyPair
	TheirBaseKey       ecc.ECPublicKeyable
	TheirRatchetKey    ecc.ECPublicKeyable
	TheirIdentityKey   *identity.Key
}
