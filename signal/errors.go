package signal

import (
	"errors"
	"fmt"
)

// Input that is not what it should be. The caller drops the message.
var (
	// ErrMalformed is a message, bundle or key record that does not parse, or
	// an authenticated message whose ciphertext has a bad length or padding.
	ErrMalformed = errors.New("signal: malformed input")

	// ErrLegacyVersion and ErrUnknownVersion are in the chain of a
	// [VersionError].
	ErrLegacyVersion  = errors.New("signal: message version is too old")
	ErrUnknownVersion = errors.New("signal: message version is newer than 3")

	// ErrBadKeyType and ErrBadKeyLength are a tagged public key with a type
	// byte other than 5, or with a wrong length.
	ErrBadKeyType   = errors.New("signal: unknown public key type")
	ErrBadKeyLength = errors.New("signal: invalid key length")
)

// Authentication that failed. Each has one text for all causes.
var (
	ErrBadMAC       = errors.New("signal: bad MAC")
	ErrBadSignature = errors.New("signal: bad signature")
)

// States in which a message or a call cannot be served.
var (
	// ErrNoSession means that the record has no session that could encrypt,
	// or no session at all.
	ErrNoSession = errors.New("signal: no session")

	// ErrSenderClosed is an ErrNoSession: there is a session, which cannot send
	// because an imported record has no chain to send with, or because its
	// counters could not be proved unused. It receives, and sends again once the
	// peer has made a ratchet step; a new session is the way to send now.
	ErrSenderClosed = fmt.Errorf("%w that can send: its sending chain is closed", ErrNoSession)

	// ErrNoSenderKey means that no sender key of that id is known.
	ErrNoSenderKey = errors.New("signal: no sender key")

	// ErrDuplicate is in the chain of a [DuplicateError].
	ErrDuplicate = errors.New("signal: message was decrypted before")

	// ErrRolledBack is in the chain of a [RolledBackError].
	ErrRolledBack = errors.New("signal: counter was used by another message")

	// ErrNoMessageKey is in the chain of a [NoMessageKeyError].
	ErrNoMessageKey = errors.New("signal: key of the message was never had, or was discarded unused")

	// ErrTooFar is in the chain of a [SkipError].
	ErrTooFar = errors.New("signal: message counter is too far in the future")

	// ErrClosedChain is a message of a receiver chain that an imported record
	// closed: it is about the message, the record is sound.
	ErrClosedChain = errors.New("signal: receiver chain is closed")

	// ErrChainEnd means that a chain reached counter 2^32-1 and can go no
	// further. A new session, or a new sender key, is needed.
	ErrChainEnd = errors.New("signal: chain is exhausted")

	// ErrCannotSign means that a sender key has no private signing key: it is
	// another member's.
	ErrCannotSign = errors.New("signal: sender key has no private signing key")

	// ErrPreKeyID and ErrSignedPreKeyID are in the chain of a
	// [PreKeyIDError].
	ErrPreKeyID       = errors.New("signal: invalid one-time prekey id")
	ErrSignedPreKeyID = errors.New("signal: invalid signed prekey id")

	// ErrUntrustedIdentity is in the chain of an [UntrustedIdentityError].
	ErrUntrustedIdentity = errors.New("signal: untrusted identity")

	// ErrAlreadyKnown and ErrConflict are the errors of
	// [Distribution.Err].
	ErrAlreadyKnown = errors.New("signal: sender key is already known")
	ErrConflict     = errors.New("signal: sender key id was in use with another signing key")
)

// ErrCorruptRecord is a stored record that cannot be read. It is about our own
// storage, never about what a peer sent.
var ErrCorruptRecord = errors.New("signal: corrupt record")

// A VersionError is a message of a protocol version that is not spoken. Got is
// the high nibble of the version byte, or the version of a stored session.
type VersionError struct{ Got uint32 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("signal: message version %d, not 3", e.Got)
}

// Unwrap returns ErrLegacyVersion or ErrUnknownVersion.
func (e *VersionError) Unwrap() error {
	if e.Got < sessionVersion {
		return ErrLegacyVersion
	}
	return ErrUnknownVersion
}

// A DuplicateError is a message whose key was used before: it was delivered
// twice. Next is the counter that the chain expects next. For the last 16
// counters of a chain it is known which message used them; with an older one, or
// in a record that was imported, a message that the error [RolledBackError] is
// about counts as a duplicate.
type DuplicateError struct{ Next, Counter uint32 }

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("signal: message %d of a chain at %d was decrypted before", e.Counter, e.Next)
}

// Unwrap returns ErrDuplicate.
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// A RolledBackError is a message whose key was used before, by another message:
// the sender was put back to an earlier state and uses its counters again, or the
// message is a forgery. Next is the counter that the chain expects next.
type RolledBackError struct{ Next, Counter uint32 }

func (e *RolledBackError) Error() string {
	return fmt.Sprintf("signal: message %d of a chain at %d has the counter of another one", e.Counter, e.Next)
}

// Unwrap returns ErrRolledBack.
func (e *RolledBackError) Unwrap() error { return ErrRolledBack }

// A NoMessageKeyError is a message of which the key was never had, because the
// sender key was handed out at a later iteration, or was skipped so long ago
// that it is no longer kept. A message that was read before so many others that
// this cannot be told counts here too. Next is the counter that the chain
// expects next.
type NoMessageKeyError struct{ Next, Counter uint32 }

func (e *NoMessageKeyError) Error() string {
	return fmt.Sprintf("signal: message %d of a chain at %d: its key was never had, or was discarded unused", e.Counter, e.Next)
}

// Unwrap returns ErrNoMessageKey.
func (e *NoMessageKeyError) Unwrap() error { return ErrNoMessageKey }

// A SkipError is a message that would skip more keys than the limit Max. Next
// is the counter that the chain expects next.
type SkipError struct{ Next, Counter, Max uint32 }

func (e *SkipError) Error() string {
	return fmt.Sprintf("signal: message %d of a chain at %d skips more than %d", e.Counter, e.Next, e.Max)
}

// Unwrap returns ErrTooFar.
func (e *SkipError) Unwrap() error { return ErrTooFar }

// An UnreadableError is a message that was tried with more than one session of a
// record, in vain. It has the number of sessions for each reason.
type UnreadableError struct {
	BadMAC, Duplicate, RolledBack, NoMessageKey, TooFar, ClosedChain, Version int

	// Other counts sessions that cannot be read, and chains at their end.
	Other int

	gravest error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("%v (of %d sessions: %d bad MAC, %d duplicate, %d rolled back, %d without key, %d too far, %d closed chain, %d version, %d other)",
		e.gravest, e.tried(), e.BadMAC, e.Duplicate, e.RolledBack, e.NoMessageKey, e.TooFar, e.ClosedChain, e.Version, e.Other)
}

// Unwrap returns the gravest of the reasons.
func (e *UnreadableError) Unwrap() error { return e.gravest }

func (e *UnreadableError) tried() int {
	return e.BadMAC + e.Duplicate + e.RolledBack + e.NoMessageKey + e.TooFar + e.ClosedChain + e.Version + e.Other
}

// add counts why a session did not read the message.
func (e *UnreadableError) add(err error) {
	switch {
	case errors.Is(err, ErrBadMAC):
		e.BadMAC++
	case errors.Is(err, ErrDuplicate):
		e.Duplicate++
	case errors.Is(err, ErrRolledBack):
		e.RolledBack++
	case errors.Is(err, ErrNoMessageKey):
		e.NoMessageKey++
	case errors.Is(err, ErrTooFar):
		e.TooFar++
	case errors.Is(err, ErrClosedChain):
		e.ClosedChain++
	case errors.Is(err, ErrLegacyVersion), errors.Is(err, ErrUnknownVersion):
		e.Version++
	default:
		e.Other++
	}
	e.gravest = graver(e.gravest, err)
}

// err is the reason itself if only one session was tried.
func (e *UnreadableError) err() error {
	if e.tried() <= 1 {
		return e.gravest
	}
	failure := *e
	return &failure
}

// A PreKeyIDError is a message that sets up a session and names a prekey that was
// not there to answer with: it was used up, or removed, or never was. ID is its
// id; Signed tells a signed prekey from a one-time one.
type PreKeyIDError struct {
	ID     uint32
	Signed bool
}

func (e *PreKeyIDError) Error() string {
	kind := "one-time"
	if e.Signed {
		kind = "signed"
	}
	return fmt.Sprintf("signal: invalid %s prekey id %d", kind, e.ID)
}

// Unwrap returns ErrPreKeyID or ErrSignedPreKeyID.
func (e *PreKeyIDError) Unwrap() error {
	if e.Signed {
		return ErrSignedPreKeyID
	}
	return ErrPreKeyID
}

// An UntrustedIdentityError is an identity key that the trust policy refused.
// The address and the keys are for the caller; they are not in the text.
type UntrustedIdentityError struct {
	Addr    Address
	Known   PublicKey // the identity of the address
	Offered PublicKey // the one that was refused; SetIdentity accepts it
}

func (e *UntrustedIdentityError) Error() string { return "signal: untrusted identity" }

// Unwrap returns ErrUntrustedIdentity.
func (e *UntrustedIdentityError) Unwrap() error { return ErrUntrustedIdentity }
