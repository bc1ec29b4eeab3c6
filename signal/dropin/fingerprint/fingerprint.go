// Package fingerprint has the numbers by which two people compare their
// identities.
package fingerprint

import (
	"fmt"
	"strings"

	"go.mau.fi/libsignal/keys/identity"
)

// A FingerprintGenerator makes fingerprints.
type FingerprintGenerator interface {
	CreateFor(localStableIdentifier, remoteStableIdentifier string, localIdentityKey, remoteIdentityKey *identity.Key) *Fingerprint
	CreateForMultiple(localStableIdentifier, remoteStableIdentifier string, localIdentityKey, remoteIdentityKey []*identity.Key) *Fingerprint
}

// A Fingerprint is what two people compare.
type Fingerprint struct{ display *Display }

// NewFingerprint returns the fingerprint with these numbers.
func NewFingerprint(displayFingerprint *Display) *Fingerprint {
	return &Fingerprint{displayFingerprint}
}

// Display returns the numbers.
func (f *Fingerprint) Display() *Display { return f.display }

// Scan returns nothing: there is no form for cameras.
func (f *Fingerprint) Scan() string { return "" }

// A Display is a fingerprint as numbers.
type Display struct{ local, remote string }

// NewDisplay returns the numbers of the first 30 bytes of two hashes. Missing
// bytes count as zero.
func NewDisplay(localFingerprint, remoteFingerprint []byte) *Display {
	return &Display{numbers(localFingerprint), numbers(remoteFingerprint)}
}

// DisplayText returns 60 digits, the same on both sides.
func (d *Display) DisplayText() string { return min(d.local, d.remote) + max(d.local, d.remote) }

// numbers returns six groups of five digits, each of five bytes.
func numbers(hash []byte) string {
	var b [30]byte
	copy(b[:], hash)
	var digits strings.Builder
	for i := 0; i < len(b); i += 5 {
		n := uint64(0)
		for _, v := range b[i : i+5] {
			n = n<<8 | uint64(v)
		}
		fmt.Fprintf(&digits, "%05d", n%100000)
	}
	return digits.String()
}
