// Package prekey has what a device publishes for others to start sessions with.
package prekey

import (
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/util/optional"
)

// A Bundle is the identity of a device, a signed prekey and perhaps a one-time
// prekey.
type Bundle struct {
	registrationID        uint32
	deviceID              uint32
	preKeyID              *optional.Uint32
	preKeyPublic          ecc.ECPublicKeyable
	signedPreKeyID        uint32
	signedPreKeyPublic    ecc.ECPublicKeyable
	signedPreKeySignature [64]byte
	identityKey           *identity.Key
}

// NewBundle returns the bundle of these parts. Without a one-time prekey,
// preKeyID is empty and preKeyPublic is nil.
func NewBundle(registrationID, deviceID uint32, preKeyID *optional.Uint32, signedPreKeyID uint32,
	preKeyPublic, signedPreKeyPublic ecc.ECPublicKeyable, signedPreKeySig [64]byte, identityKey *identity.Key,
) *Bundle {
	return &Bundle{
		registrationID, deviceID, preKeyID, preKeyPublic,
		signedPreKeyID, signedPreKeyPublic, signedPreKeySig, identityKey,
	}
}

// RegistrationID returns the registration id of the device.
func (b *Bundle) RegistrationID() uint32 { return b.registrationID }

// DeviceID returns the id of the device.
func (b *Bundle) DeviceID() uint32 { return b.deviceID }

// PreKeyID returns the id of the one-time prekey, empty if there is none.
func (b *Bundle) PreKeyID() *optional.Uint32 { return b.preKeyID }

// PreKey returns the one-time prekey, nil if there is none.
func (b *Bundle) PreKey() ecc.ECPublicKeyable { return b.preKeyPublic }

// SignedPreKeyID returns the id of the signed prekey.
func (b *Bundle) SignedPreKeyID() uint32 { return b.signedPreKeyID }

// SignedPreKey returns the signed prekey.
func (b *Bundle) SignedPreKey() ecc.ECPublicKeyable { return b.signedPreKeyPublic }

// SignedPreKeySignature returns the signature of the signed prekey.
func (b *Bundle) SignedPreKeySignature() [64]byte { return b.signedPreKeySignature }

// IdentityKey returns the identity of the device.
func (b *Bundle) IdentityKey() *identity.Key { return b.identityKey }
