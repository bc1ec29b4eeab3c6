// Package protocol has the messages of the protocol, and who they are from.
//
// A message that was received keeps its bytes: what is authenticated is what
// came, and Serialize returns it. Its byte slices are parts of it and must not
// be written to.
package protocol

import (
	"errors"
	"fmt"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/signalerror"
)

// Versions of messages.
const (
	UnsupportedVersion = 1
	CurrentVersion     = 3
)

// Types of messages.
const (
	WHISPER_TYPE                = 2
	PREKEY_TYPE                 = 3
	SENDERKEY_TYPE              = 4
	SENDERKEY_DISTRIBUTION_TYPE = 5
)

// A CiphertextMessage is what encryption gives.
type CiphertextMessage interface {
	Serialize() []byte
	Type() uint32
}

// A GroupCiphertextMessage is what encryption to a group gives. Serialize leaves
// the signature out.
type GroupCiphertextMessage interface {
	CiphertextMessage
	SignedSerialize() []byte
}

// checkVersion refuses versions that are not spoken.
func checkVersion(version int) error {
	switch {
	case version <= UnsupportedVersion:
		return fmt.Errorf("%w %d", signalerror.ErrOldMessageVersion, version)
	case version > CurrentVersion:
		return fmt.Errorf("%w %d", signalerror.ErrUnknownMessageVersion, version)
	}
	return nil
}

var errNil = errors.New("message without a structure")

// point reads a key of a structure.
func point(key []byte) (ecc.ECPublicKeyable, error) {
	p, err := ecc.DecodePoint(key, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", signalerror.ErrIncompleteMessage, err)
	}
	return p, nil
}
