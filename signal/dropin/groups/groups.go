// Package groups encrypts and decrypts the messages of groups, and hands out and
// takes in sender keys.
package groups

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
	"go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/groups/state/store"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/signalerror"
)

// wire has the form of messages that devices understand.
var wire = serialize.NewProtoBufSerializer()

// A SessionBuilder hands out our sender keys and takes in those of others.
type SessionBuilder struct {
	senderKeyStore store.SenderKey
	serializer     *serialize.Serializer
}

// NewGroupSessionBuilder returns a builder over a store.
func NewGroupSessionBuilder(senderKeyStore store.SenderKey, serializer *serialize.Serializer) *SessionBuilder {
	return &SessionBuilder{senderKeyStore, serializer}
}

// Create returns the message that hands out our sender key for a group. It makes
// and stores one if there is none.
func (b *SessionBuilder) Create(ctx context.Context, senderKeyName *protocol.SenderKeyName) (*protocol.SenderKeyDistributionMessage, error) {
	rec, l, err := b.load(ctx, senderKeyName)
	if err != nil {
		return nil, err
	}
	fresh := l.Empty()
	message, err := l.Create()
	if err != nil {
		return nil, failure(err)
	}
	if fresh {
		live.SenderKeyChanged(rec)
		if err := b.senderKeyStore.StoreSenderKey(ctx, senderKeyName, rec); err != nil {
			return nil, err
		}
	}
	m, err := protocol.NewSenderKeyDistributionMessageFromBytes(message, wire.SenderKeyDistributionMessage)
	if err != nil {
		return nil, err
	}
	return protocol.NewSenderKeyDistributionMessage(m.ID(), m.Iteration(), m.ChainKey(), m.SignatureKey(), b.serializer.SenderKeyDistributionMessage), nil
}

// Process takes in the sender key of another member. One that is known is kept as
// it is.
func (b *SessionBuilder) Process(ctx context.Context, senderKeyName *protocol.SenderKeyName, msg *protocol.SenderKeyDistributionMessage) error {
	if msg == nil {
		return fmt.Errorf("%w: nil", signalerror.ErrIncompleteMessage)
	}
	rec, l, err := b.load(ctx, senderKeyName)
	if err != nil {
		return err
	}
	message := wire.SenderKeyDistributionMessage.Serialize(&protocol.SenderKeyDistributionMessageStructure{
		ID: msg.ID(), Iteration: msg.Iteration(), ChainKey: msg.ChainKey(),
		SigningKey: msg.SignatureKey().Serialize(), Version: protocol.CurrentVersion,
	})
	if err := l.Process(message); err != nil {
		return failure(err)
	}
	live.SenderKeyChanged(rec)
	return b.senderKeyStore.StoreSenderKey(ctx, senderKeyName, rec)
}

// load returns the record of a name, a new one if there is none.
func (b *SessionBuilder) load(ctx context.Context, name *protocol.SenderKeyName) (*record.SenderKey, *live.SenderKey, error) {
	rec, err := b.senderKeyStore.LoadSenderKey(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	if rec == nil {
		rec = record.NewSenderKey(b.serializer.SenderKeyRecord, b.serializer.SenderKeyState)
	}
	l, err := live.OfSenderKey(rec)
	return rec, l, err
}

// A GroupCipher encrypts our messages to a group and decrypts those of one
// sender. Whoever uses a record in two calls at once serialises them.
type GroupCipher struct {
	senderKeyID    *protocol.SenderKeyName
	senderKeyStore store.SenderKey
	sessionBuilder *SessionBuilder
}

// NewGroupCipher returns the cipher of one sender in one group.
func NewGroupCipher(builder *SessionBuilder, senderKeyID *protocol.SenderKeyName, senderKeyStore store.SenderKey) *GroupCipher {
	return &GroupCipher{senderKeyID, senderKeyStore, builder}
}

func (c *GroupCipher) load(ctx context.Context) (*record.SenderKey, *live.SenderKey, error) {
	rec, err := c.senderKeyStore.LoadSenderKey(ctx, c.senderKeyID)
	if err != nil {
		return nil, nil, err
	}
	if rec == nil || rec.IsEmpty() {
		return nil, nil, signalerror.ErrNoSenderKeyForUser
	}
	l, err := live.OfSenderKey(rec)
	return rec, l, err
}

// Encrypt returns the next message to the group. Nothing is stored if there is an
// error.
func (c *GroupCipher) Encrypt(ctx context.Context, plaintext []byte) (protocol.GroupCiphertextMessage, error) {
	rec, l, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	message, err := l.Encrypt(plaintext)
	if err != nil {
		return nil, failure(err)
	}
	live.SenderKeyChanged(rec)
	if err := c.senderKeyStore.StoreSenderKey(ctx, c.senderKeyID, rec); err != nil {
		return nil, err
	}
	return protocol.NewSenderKeyMessageFromBytes(message, wire.SenderKeyMessage)
}

// Decrypt returns the plaintext of a message of the sender, in memory of its own.
// Nothing is stored if there is an error, and the record is as it was.
func (c *GroupCipher) Decrypt(ctx context.Context, senderKeyMessage *protocol.SenderKeyMessage) ([]byte, error) {
	if senderKeyMessage == nil {
		return nil, fmt.Errorf("%w: nil", signalerror.ErrIncompleteMessage)
	}
	rec, l, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	message := senderKeyMessage.SignedSerialize()
	if len(message) == 0 || message[0]>>4 != protocol.CurrentVersion {
		return nil, fmt.Errorf("%w: message version %d", signalerror.ErrWrongMessageVersion, senderKeyMessage.Version())
	}
	plaintext, err := l.Decrypt(message)
	if err != nil {
		if errors.Is(err, signal.ErrNoSenderKey) {
			return nil, fmt.Errorf("%w %d: %w", signalerror.ErrNoSenderKeyStateForID, senderKeyMessage.KeyID(), err)
		}
		return nil, failure(err)
	}
	live.SenderKeyChanged(rec)
	if err := c.senderKeyStore.StoreSenderKey(ctx, c.senderKeyID, rec); err != nil {
		return nil, err
	}
	return plaintext, nil
}

// failure returns an error with the core's and this module's words for it in its
// chain.
func failure(err error) error {
	for _, r := range []struct{ core, here error }{
		{signal.ErrDuplicate, signalerror.ErrOldCounter},
		{signal.ErrRolledBack, signalerror.ErrOldCounter},
		{signal.ErrNoMessageKey, signalerror.ErrOldCounter},
		{signal.ErrTooFar, signalerror.ErrTooFarIntoFuture},
		{signal.ErrBadSignature, signalerror.ErrSenderKeyStateVerificationFailed},
		{signal.ErrNoSenderKey, signalerror.ErrNoSenderKeyForUser},
		{signal.ErrCannotSign, signalerror.ErrNoSenderKeyForUser},
		{signal.ErrMalformed, signalerror.ErrIncompleteMessage},
	} {
		if errors.Is(err, r.core) {
			return fmt.Errorf("%w: %w", r.here, err)
		}
	}
	return err
}
