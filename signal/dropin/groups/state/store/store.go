// Package store has what a program implements to keep sender keys.
package store

import (
	"context"

	"go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/protocol"
)

// SenderKey keeps records of sender keys. LoadSenderKey returns nil or a new
// record for one that is not there.
type SenderKey interface {
	StoreSenderKey(ctx context.Context, senderKeyName *protocol.SenderKeyName, keyRecord *record.SenderKey) error
	LoadSenderKey(ctx context.Context, senderKeyName *protocol.SenderKeyName) (*record.SenderKey, error)
}
