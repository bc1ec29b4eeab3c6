package signal

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestRetryReason(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want RetryReason
		ok   bool
	}{
		{nil, RetryUnknown, false},
		{errors.New("anything"), RetryUnknown, false},
		{context.Canceled, RetryUnknown, false},
		{ErrNoSession, RetryNoSession, true},
		{ErrNoSenderKey, RetryNoSession, true},
		{ErrBadKeyType, RetryInvalidKey, true},
		{ErrBadKeyLength, RetryInvalidKey, true},
		{ErrPreKeyID, RetryInvalidKeyID, true},
		{ErrSignedPreKeyID, RetryInvalidKeyID, true},
		{ErrMalformed, RetryInvalidMessage, true},
		{&VersionError{Got: 2}, RetryInvalidMessage, true},
		{&VersionError{Got: 4}, RetryInvalidMessage, true},
		{ErrBadSignature, RetryInvalidSignature, true},
		{&SkipError{}, RetryFutureMessage, true},
		{ErrBadMAC, RetryBadMAC, true},
		{ErrClosedChain, RetryInvalidSession, true},
		{ErrCorruptRecord, RetryInvalidSession, true},
		{ErrChainEnd, RetryInvalidSession, true},
		{errNoSenderChain, RetryInvalidSession, true},
		{&DuplicateError{}, RetryUnknown, false},
		{&RolledBackError{}, RetryInvalidSession, true},
		{&NoMessageKeyError{}, RetryMessageKey, true},
		{&UntrustedIdentityError{}, RetryUnknown, false},
		{fmt.Errorf("a corrupt record, found while reading: %w: %w", ErrMalformed, ErrCorruptRecord), RetryInvalidSession, true},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("wrapped: %w", tc.err)} {
			if tc.err == nil {
				err = nil
			}
			if got, ok := RetryReasonOf(err); got != tc.want || ok != tc.ok {
				t.Errorf("%v: %d, %v; want %d, %v", err, got, ok, tc.want, tc.ok)
			}
		}
	}
}

// What messages really lead to.
func TestRetryReasonOfMessages(t *testing.T) {
	alice, bob := conversation(t)
	_, body, err := alice.session.Encrypt(nil, []byte("once"))
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte(nil), body...)
	changed[len(changed)-1] ^= 1
	read := func(b []byte) error { _, _, err := bob.session.Decrypt(nil, b, nil); return err }
	for _, tc := range []struct {
		what string
		err  error
		want RetryReason
		ok   bool
	}{
		{"a changed message", read(changed), RetryBadMAC, true},
		{"a message", read(body), RetryUnknown, false},
		{"the message again", read(body), RetryUnknown, false},
		{"a cut message", read(body[:20]), RetryInvalidMessage, true},
		{"a message of the future", read(forgery(t, MaxForwardJump+1)), RetryFutureMessage, true},
		{"a message without a session", func() error { _, _, err := new(Session).Decrypt(nil, body, nil); return err }(), RetryNoSession, true},
		{"a group message without a key", func() error {
			sender, _ := group(t)
			_, err := new(SenderKey).Decrypt(nil, must(sender.Encrypt(nil, nil))(t))
			return err
		}(), RetryNoSession, true},
	} {
		if got, ok := RetryReasonOf(tc.err); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %v: %d, %v; want %d, %v", tc.what, tc.err, got, ok, tc.want, tc.ok)
		}
	}
}
