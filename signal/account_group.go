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
	// One concatenation, so that it is one allocation; the end is Address.String.
	return strconv.Itoa(len(n.Group)) + ":" + n.Group + ":" + n.Sender.Name + "." + strconv.FormatUint(uint64(n.Sender.Device), 10)
}

func (n SenderKeyName) key() store.Key { return store.SenderKey(n.String()) }

// changeSenderKey loads the record of a name, calls f and writes what it
// changed, under the lock of the name. f gets an empty record if there is
// none, and changes nothing if it fails. It sets sent if it has used the key to
// send, or gives it away.
func (a *Account) changeSenderKey(ctx context.Context, name SenderKeyName, f func(t *txn, k *SenderKey) (sent bool, err error)) error {
	key := []store.Key{name.key()}
	return a.run(ctx, "sender key", key, key, func(t *txn) error {
		r := t.asked[0]
		if r.err != nil {
			return r.err
		}
		k := r.senderKey
		if k == nil {
			k = new(SenderKey)
		}
		sent, err := f(t, k)
		if err != nil {
			return err
		}
		if r.exists || !k.Empty() {
			r.setSenderKey(k)
			r.sent = sent
		}
		return nil
	})
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
	err = a.changeSenderKey(ctx, name, func(_ *txn, k *SenderKey) (bool, error) {
		if err := prepare(k); err != nil {
			return false, err
		}
		skdm, err = k.AppendDistribution(nil)
		return k.CanEncrypt(), err
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
	err = a.changeSenderKey(ctx, name, func(t *txn, k *SenderKey) (bool, error) {
		d, err = k.Process(skdm)
		t.sync = d != DistributionKnown // nobody sends it again
		return false, err
	})
	return d, err
}

// EncryptGroup encrypts plaintext with our own sender key and returns it once
// the key that it advanced is written. It draws 64 bytes. Errors:
// ErrNoSenderKey, ErrCannotSign.
func (a *Account) EncryptGroup(ctx context.Context, name SenderKeyName, plaintext []byte) (body []byte, err error) {
	err = a.changeSenderKey(ctx, name, func(_ *txn, k *SenderKey) (bool, error) {
		body, err = k.Encrypt(nil, plaintext)
		return true, err
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
	err = a.changeSenderKey(ctx, name, func(_ *txn, k *SenderKey) (bool, error) {
		plaintext, err = k.Decrypt(nil, body)
		return false, err
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
	key := []store.Key{name.key()}
	err = a.view(ctx, "sender key", key, key, func(t *txn) error {
		info, err = t.asked[0].senderKeyInfo()
		return err
	})
	return info, err
}

func (r *row) senderKeyInfo() (info SenderKeyInfo, err error) {
	if !r.exists || r.err != nil {
		return info, r.err
	}
	k := r.senderKey
	rec, err := k.AppendBinary(nil)
	info.RecordBytes = len(rec)
	if info.KeyID, info.Exists = k.KeyID(); info.Exists {
		info.Iteration, info.NeedsRotation = k.Iteration(), k.NeedsRotation()
	}
	return info, err
}

// ExportSenderKey returns the record of a sender key, exactly. An export of
// our own key is a move, as for ExportSession. Errors: ErrNoSenderKey.
func (a *Account) ExportSenderKey(ctx context.Context, name SenderKeyName, f RecordFormat) ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	key := []store.Key{name.key()}
	var out []byte
	err := a.view(ctx, "sender key", key, key, func(t *txn) error {
		r := t.asked[0]
		switch k := r.senderKey; {
		case r.err != nil:
			return r.err
		case k == nil || k.Empty():
			return ErrNoSenderKey
		case f == FormatSignalProtobuf:
			out = k.AppendPortable(nil)
		default:
			exact := SenderKey{states: k.states}
			var err error
			out, err = exact.AppendBinary(nil)
			return err
		}
		return nil
	})
	return out, err
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
	rec, err := k.AppendBinary(today().append(nil))
	if err != nil {
		return err
	}
	return a.update(ctx, "sender key", nil, []store.Key{name.key()}, func(_ []store.Record, b *store.Batch) error {
		b.Put(name.key(), rec)
		return nil
	})
}

// DeleteSenderKey deletes the record of a sender key, whatever is in it, and what
// is known of the devices that hold it. Deleting an absent one is not an error.
func (a *Account) DeleteSenderKey(ctx context.Context, name SenderKeyName) error {
	rows := []store.Key{name.key(), name.devicesKey()}
	return a.update(ctx, "sender key", nil, rows, func(_ []store.Record, b *store.Batch) error {
		for _, k := range rows {
			b.Delete(k)
		}
		return nil
	})
}
