package signal

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sigcore/sigcore/signal/store"
)

// SenderKeyName names the sender key of one sender in one group.
type SenderKeyName struct {
	Group  string
	Sender Address
}

// String returns the name of the row: the length of the group, the group and
// the sender. The length keeps names apart whatever is in a group or a sender.
// It names a person: keep it out of logs and errors.
func (n SenderKeyName) String() string {
	return strconv.Itoa(len(n.Group)) + ":" + n.Group + ":" + n.Sender.String()
}

func (n SenderKeyName) key() store.Key { return store.SenderKey(n.String()) }

// changeSenderKey loads the record of a name, calls f and writes what it
// changed, under the lock of the name. f gets an empty record if there is
// none. If f fails nothing is written.
func (a *Account) changeSenderKey(ctx context.Context, name SenderKeyName, f func(*SenderKey) error) error {
	row := name.key()
	locks, err := a.locks.acquire(ctx, row)
	if err != nil {
		return fmt.Errorf("signal: lock sender key: %w", err)
	}
	defer locks.release()
	recs, err := a.load(ctx, "sender key", row)
	if err != nil {
		return err
	}
	k, err := parseSenderKeyRow(recs[0])
	if err != nil {
		return err
	}
	if err := f(k); err != nil {
		return err
	}
	rec, err := k.AppendBinary(nil)
	if err != nil {
		return err
	}
	if sameRecord(recs[0], rec) || !recs[0].Found && k.Empty() {
		return nil
	}
	var b store.Batch
	b.Put(row, rec)
	return a.save(ctx, "sender key", &b)
}

// parseSenderKeyRow reads a sender-key row; an empty record if there is none.
func parseSenderKeyRow(r store.Record) (*SenderKey, error) {
	if !r.Found {
		return new(SenderKey), nil
	}
	return ParseSenderKey(r.Value)
}

// CreateSenderKey returns the distribution message of our own sender key at
// its current iteration, after making one if there is none. Making one draws
// the id, 4 bytes, the chain key, 32 bytes, and the signing key, 32 bytes.
func (a *Account) CreateSenderKey(ctx context.Context, name SenderKeyName) (skdm []byte, err error) {
	return a.distribute(ctx, name, (*SenderKey).Create)
}

// RotateSenderKey makes a fresh sender key in place of all earlier ones and
// returns its distribution message. It draws as CreateSenderKey does.
func (a *Account) RotateSenderKey(ctx context.Context, name SenderKeyName) (skdm []byte, err error) {
	return a.distribute(ctx, name, (*SenderKey).Rotate)
}

func (a *Account) distribute(ctx context.Context, name SenderKeyName, prepare func(*SenderKey) error) (skdm []byte, err error) {
	err = a.changeSenderKey(ctx, name, func(k *SenderKey) error {
		if err := prepare(k); err != nil {
			return err
		}
		skdm, err = k.AppendDistribution(nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return skdm, nil
}

// ProcessSenderKey takes in the distribution message of another sender. A key
// that is known already stays as it is: messages that were read are not read
// again.
func (a *Account) ProcessSenderKey(ctx context.Context, name SenderKeyName, skdm []byte) (d Distribution, err error) {
	err = a.changeSenderKey(ctx, name, func(k *SenderKey) error {
		d, err = k.Process(skdm)
		return err
	})
	return d, err
}

// EncryptGroup encrypts plaintext with our own sender key and returns it once
// the key that it advanced is written. It draws 64 bytes. Errors:
// ErrNoSenderKey, ErrCannotSign.
func (a *Account) EncryptGroup(ctx context.Context, name SenderKeyName, plaintext []byte) (body []byte, err error) {
	err = a.changeSenderKey(ctx, name, func(k *SenderKey) error {
		body, err = k.Encrypt(nil, plaintext)
		return err
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// DecryptGroup decrypts a message of a group and returns the plaintext, with
// its padding, once the key is written. On any error nothing is changed.
// Errors: ErrNoSenderKey; ErrBadSignature; a *DuplicateError; a
// *RolledBackError; a *NoMessageKeyError; a *SkipError; a
// *VersionError; ErrMalformed.
func (a *Account) DecryptGroup(ctx context.Context, name SenderKeyName, body []byte) (plaintext []byte, err error) {
	err = a.changeSenderKey(ctx, name, func(k *SenderKey) error {
		plaintext, err = k.Decrypt(nil, body)
		return err
	})
	if err != nil {
		clear(plaintext)
		return nil, err
	}
	return plaintext, nil
}

// SenderKeyInfo describes the record of a sender key.
type SenderKeyInfo struct {
	Exists        bool
	KeyID         uint32
	Iteration     uint32 // of the next message
	NeedsRotation bool
	RecordBytes   int
}

// SenderKeyInfo returns the facts about a sender key; all zero if there is
// none.
func (a *Account) SenderKeyInfo(ctx context.Context, name SenderKeyName) (info SenderKeyInfo, err error) {
	recs, err := a.load(ctx, "sender key", name.key())
	if err != nil {
		return info, err
	}
	return senderKeyInfo(recs[0])
}

func senderKeyInfo(r store.Record) (info SenderKeyInfo, err error) {
	if !r.Found {
		return info, nil
	}
	k, err := ParseSenderKey(r.Value)
	if err != nil {
		return info, err
	}
	info.RecordBytes = len(r.Value)
	if info.KeyID, info.Exists = k.KeyID(); info.Exists {
		info.Iteration, info.NeedsRotation = k.Iteration(), k.NeedsRotation()
	}
	return info, nil
}

// ExportSenderKey returns the record of a sender key, exactly. An export of
// our own key is a move, as for ExportSession. Errors: ErrNoSenderKey.
func (a *Account) ExportSenderKey(ctx context.Context, name SenderKeyName, f RecordFormat) ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	recs, err := a.load(ctx, "sender key", name.key())
	if err != nil {
		return nil, err
	}
	k, err := parseSenderKeyRow(recs[0])
	if err != nil {
		return nil, err
	}
	if k.Empty() {
		return nil, ErrNoSenderKey
	}
	return k.AppendBinary(nil)
}

// ImportSenderKey replaces the record of a sender key. The error wraps
// ErrCorruptRecord if data is not a record with a key, and then nothing is
// changed. Iterations below the ceiling of a lease are skipped.
func (a *Account) ImportSenderKey(ctx context.Context, name SenderKeyName, f RecordFormat, data []byte) error {
	if err := f.check(); err != nil {
		return err
	}
	k, err := ParseSenderKey(data)
	if err != nil {
		return err
	}
	if k.Empty() {
		return fmt.Errorf("signal: import of a record without sender key: %w", ErrCorruptRecord)
	}
	if err := k.waive(); err != nil {
		return err
	}
	rec, err := k.AppendBinary(nil)
	if err != nil {
		return err
	}
	var b store.Batch
	b.Put(name.key(), rec)
	return a.writeSenderKey(ctx, name, &b)
}

// DeleteSenderKey deletes the record of a sender key, whatever is in it.
// Deleting an absent one is not an error.
func (a *Account) DeleteSenderKey(ctx context.Context, name SenderKeyName) error {
	var b store.Batch
	b.Delete(name.key())
	return a.writeSenderKey(ctx, name, &b)
}

// writeSenderKey writes a batch under the lock of a name.
func (a *Account) writeSenderKey(ctx context.Context, name SenderKeyName, b *store.Batch) error {
	locks, err := a.locks.acquire(ctx, name.key())
	if err != nil {
		return fmt.Errorf("signal: lock sender key: %w", err)
	}
	defer locks.release()
	return a.save(ctx, "sender key", b)
}
