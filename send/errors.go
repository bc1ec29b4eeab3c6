package send

import (
	"errors"
	"strconv"

	"github.com/sigcore/sigcore/binary"
)

// Errors of a whole stanza.
var (
	// ErrInvalid is a request that cannot be served as it is.
	ErrInvalid = errors.New("send: invalid request")
	// ErrMalformed is a message that is not a protobuf.
	ErrMalformed = errors.New("send: message is not a protobuf")
	// ErrPadding is a plaintext whose padding is wrong.
	ErrPadding = errors.New("send: bad padding")
	// ErrNoDeviceIdentity means that a stanza would carry a pkmsg, which needs
	// the device identity, and there is none. Peer returns it, and Group if
	// distribution is required; other stanzas go out without the identity.
	ErrNoDeviceIdentity = errors.New("send: a pkmsg needs the device identity")
	// ErrNoRecipient means that there is no device of the recipient to send to.
	ErrNoRecipient = errors.New("send: no device of the recipient")
)

// Failure is a device that was not encrypted for, and why: one of the errors
// of package signal, such as ErrNoSession.
type Failure struct {
	Device binary.JID
	Err    error
}

// RecipientError means that a stanza has devices to go to, and could be
// encrypted for none of them. It unwraps to the first cause.
type RecipientError struct{ Failures []Failure }

func (e *RecipientError) Error() string {
	return "send: none of " + strconv.Itoa(len(e.Failures)) + " devices could be encrypted for: " + e.Failures[0].Err.Error()
}

// Unwrap returns the cause of the first device.
func (e *RecipientError) Unwrap() error { return e.Failures[0].Err }

// DistributionError means that a sender key was required to reach all its
// targets and did not. It unwraps to the first cause.
type DistributionError struct {
	Targets  int
	Failures []Failure
}

func (e *DistributionError) Error() string {
	return "send: sender key does not reach " + strconv.Itoa(len(e.Failures)) + " of " + strconv.Itoa(e.Targets) +
		" devices: " + e.Failures[0].Err.Error()
}

// Unwrap returns the cause of the first device.
func (e *DistributionError) Unwrap() error { return e.Failures[0].Err }
