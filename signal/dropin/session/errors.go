package session

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"go.mau.fi/libsignal/signalerror"
)

// reasons pairs what the core says with the words of this module. The first that
// is in the chain counts.
var reasons = []struct{ core, here error }{
	{signal.ErrDuplicate, signalerror.ErrOldCounter},
	{signal.ErrRolledBack, signalerror.ErrOldCounter},
	{signal.ErrNoMessageKey, signalerror.ErrOldCounter},
	{signal.ErrUntrustedIdentity, signalerror.ErrUntrustedIdentity},
	{signal.ErrSignedPreKeyID, signalerror.ErrNoSignedPreKey},
	{signal.ErrPreKeyID, signalerror.ErrNoOneTimeKeyFound},
	{signal.ErrBadSignature, signalerror.ErrInvalidSignature},
	{signal.ErrNoSession, signalerror.ErrNoSessionForUser},
}

// unreadable are reasons why a session does not read a message; all say that no
// session did, too.
var unreadable = []struct{ core, here error }{
	{signal.ErrBadMAC, signalerror.ErrBadMAC},
	{signal.ErrTooFar, signalerror.ErrTooFarIntoFuture},
	{signal.ErrLegacyVersion, signalerror.ErrWrongMessageVersion},
	{signal.ErrUnknownVersion, signalerror.ErrWrongMessageVersion},
	{signal.ErrClosedChain, signalerror.ErrOldCounter},
}

// failure returns an error with the core's and this module's words for it in its
// chain.
func failure(err error) error {
	if err == nil {
		return nil
	}
	for _, r := range reasons {
		if errors.Is(err, r.core) {
			if errors.Is(err, r.here) {
				return err
			}
			return fmt.Errorf("%w: %w", r.here, err)
		}
	}
	for _, r := range unreadable {
		if errors.Is(err, r.core) {
			return fmt.Errorf("%w: %w: %w", signalerror.ErrNoValidSessions, r.here, err)
		}
	}
	return err
}
