package signal

import "errors"

// A RetryReason is the code in a retry receipt, which tells the sender why a
// message could not be read.
type RetryReason uint8

// The codes that the errors of this package lead to. Others exist: 10 to 13 are
// about things that this package does not do.
const (
	RetryUnknown          RetryReason = 0
	RetryNoSession        RetryReason = 1 // no session, or no sender key
	RetryInvalidKey       RetryReason = 2 // a public key in the message
	RetryInvalidKeyID     RetryReason = 3 // a prekey that is not there
	RetryInvalidMessage   RetryReason = 4 // malformed, or of another version
	RetryInvalidSignature RetryReason = 5
	RetryFutureMessage    RetryReason = 6 // the counter is too far ahead
	RetryBadMAC           RetryReason = 7
	RetryInvalidSession   RetryReason = 8 // our record is corrupt or at its end, or the sender was rolled back
	RetryMessageKey       RetryReason = 9 // the key of the message is not there
)

var retryReasons = []struct {
	is     error
	reason RetryReason
}{
	// What says more stands before what it may be wrapped with.
	{ErrCorruptRecord, RetryInvalidSession},
	{ErrNoSession, RetryNoSession},
	{ErrNoSenderKey, RetryNoSession},
	{ErrPreKeyID, RetryInvalidKeyID},
	{ErrSignedPreKeyID, RetryInvalidKeyID},
	{ErrBadKeyType, RetryInvalidKey},
	{ErrBadKeyLength, RetryInvalidKey},
	{ErrRolledBack, RetryInvalidSession},
	{ErrNoMessageKey, RetryMessageKey},
	{ErrBadMAC, RetryBadMAC},
	{ErrBadSignature, RetryInvalidSignature},
	{ErrTooFar, RetryFutureMessage},
	{ErrClosedChain, RetryInvalidSession},
	{ErrChainEnd, RetryInvalidSession},
	{ErrLegacyVersion, RetryInvalidMessage},
	{ErrUnknownVersion, RetryInvalidMessage},
	{ErrMalformed, RetryInvalidMessage},
}

// RetryReasonOf returns the code for the error of a message that could not be
// decrypted. ok is false if the message must not be asked for again: err is nil,
// the message is a duplicate of one that was read, its sender is not trusted, or
// the failure is not about the message, such as one of the store or of a
// context.
func RetryReasonOf(err error) (reason RetryReason, ok bool) {
	if err == nil || errors.Is(err, ErrDuplicate) || errors.Is(err, ErrUntrustedIdentity) {
		return RetryUnknown, false
	}
	for _, r := range retryReasons {
		if errors.Is(err, r.is) {
			return r.reason, true
		}
	}
	return RetryUnknown, false
}
