package main

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
	"github.com/sigcore/sigcore/signal/store"
)

var (
	errBadRequest = errors.New("bad request")
	errUnknownOp  = errors.New("unknown operation")
	errBadKey     = errors.New("bad key")
	errPanic      = errors.New("internal fault")
)

func badKeyf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errBadKey, fmt.Sprintf(format, args...))
}

// classes maps errors to the classes of the protocol, the most specific first.
var classes = []struct {
	class string
	errs  []error
}{
	{"unknown_op", []error{errUnknownOp}},
	{"bad_request", []error{errBadRequest}},
	{"untrusted_identity", []error{signal.ErrUntrustedIdentity}},
	{"corrupt_record", []error{signal.ErrCorruptRecord}},
	{"version_old", []error{signal.ErrLegacyVersion}},
	{"version_new", []error{signal.ErrUnknownVersion}},
	{"bad_key", []error{errBadKey, curve.ErrKeyLength, curve.ErrNonCanonical, curve.ErrNotOnCurve, signal.ErrBadKeyLength, signal.ErrBadKeyType}},
	{"low_order", []error{curve.ErrLowOrder}},
	{"bad_mac", []error{signal.ErrBadMAC}},
	{"bad_signature", []error{signal.ErrBadSignature}},
	{"invalid_prekey_id", []error{signal.ErrPreKeyID}},
	{"invalid_signed_prekey_id", []error{signal.ErrSignedPreKeyID}},
	{"duplicate", []error{signal.ErrDuplicate, signal.ErrRolledBack, signal.ErrNoMessageKey}},
	{"too_far", []error{signal.ErrTooFar}},
	{"closed_chain", []error{signal.ErrClosedChain}},
	{"already_known", []error{signal.ErrAlreadyKnown}},
	{"conflict", []error{signal.ErrConflict}},
	{"stale_write", []error{store.ErrConflict, signal.ErrPutBack}},
	{"owned", []error{store.ErrOwned}},
	{"no_sender_key", []error{signal.ErrNoSenderKey, signal.ErrCannotSign}},
	{"no_session", []error{signal.ErrNoSession}},
	{"limit", []error{signal.ErrChainEnd, signal.ErrPreKeyIDsInUse, binary.ErrDepth, binary.ErrFrameTooLarge}},
	{"encode", []error{binary.ErrEncode, convert.ErrInexpressible}},
	{"malformed", []error{
		signal.ErrMalformed, send.ErrMalformed, send.ErrPadding,
		binary.ErrUnexpectedEOF, binary.ErrInvalidToken, binary.ErrInvalidNode, binary.ErrNonStringKey,
		binary.ErrInvalidUTF8, binary.ErrInvalidJID, binary.ErrLeftoverData, binary.ErrEmptyFrame, binary.ErrInflate,
	}},
}

// class names the kind of an error. What nothing here knows comes from the
// store, or from a fault of this program.
func class(err error) string {
	for _, c := range classes {
		for _, e := range c.errs {
			if errors.Is(err, e) {
				return c.class
			}
		}
	}
	return "store"
}

func missing(field string) error { return fmt.Errorf("%w: no %s", errBadRequest, field) }
