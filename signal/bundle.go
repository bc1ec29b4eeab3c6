package signal

import "github.com/sigcore/sigcore/curve"

// A Bundle is what a device publishes so that others can start sessions with
// it. PreKeyID and PreKey count only if HasPreKey is set.
type Bundle struct {
	RegistrationID uint32
	Identity       PublicKey
	SignedPreKeyID uint32
	SignedPreKey   PublicKey
	Signature      [SignatureSize]byte
	HasPreKey      bool
	PreKeyID       uint32
	PreKey         PublicKey
}

// Verify checks the signature of the signed prekey, over its 33 tagged bytes,
// under the identity. The error is ErrBadSignature.
func (b *Bundle) Verify() error {
	tagged := b.SignedPreKey.Tagged()
	if !curve.Verify((*[32]byte)(&b.Identity), tagged[:], b.Signature[:]) {
		return ErrBadSignature
	}
	return nil
}
