// Package signalerror has the errors of this module. Errors that are returned
// have one of them in their chain.
package signalerror

import "errors"

// Errors of sessions and their messages.
var (
	ErrNoSessionForUser      = errors.New("no session found for user")
	ErrNoSignedPreKey        = errors.New("no signed prekey found in store")
	ErrNoOneTimeKeyFound     = errors.New("no one-time prekey found in store")
	ErrUntrustedIdentity     = errors.New("untrusted identity")
	ErrInvalidSignature      = errors.New("invalid signature on device key")
	ErrNoValidSessions       = errors.New("no valid sessions")
	ErrUninitializedSession  = errors.New("uninitialized session")
	ErrWrongMessageVersion   = errors.New("wrong message version")
	ErrOldCounter            = errors.New("received message with old counter")
	ErrTooFarIntoFuture      = errors.New("message index is over 2000 messages into the future")
	ErrBadMAC                = errors.New("mismatching MAC in signal message")
	ErrOldMessageVersion     = errors.New("too old message version")
	ErrUnknownMessageVersion = errors.New("unknown message version")
	ErrIncompleteMessage     = errors.New("incomplete message")
)

// Errors of sender keys and group messages.
var (
	ErrNoSenderKeyForUser               = errors.New("no sender key")
	ErrNoSenderKeyStatesInRecord        = errors.New("no sender key states in record")
	ErrNoSenderKeyStateForID            = errors.New("no sender key state for key ID")
	ErrSenderKeyStateVerificationFailed = errors.New("failed to verify message with sender key state")
)
