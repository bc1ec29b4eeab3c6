package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/signal/store"
)

// ErrPreKeyIDsInUse means that more one-time prekeys were asked for than there
// are ids that no stored prekey has.
var ErrPreKeyIDsInUse = errors.New("signal: not enough unused prekey ids")

// ErrNoPreKey means that the account does not hold the prekey that was asked
// for.
var ErrNoPreKey = errors.New("signal: no such prekey")

// PublicPreKey is the half of a one-time prekey that is published.
type PublicPreKey struct {
	ID     uint32
	Public PublicKey
}

// accountLock is the lock of the account row and of the set of prekeys. Its
// key is the least one, so it is taken before all others.
var accountLock = store.Key{}

// lockAccount takes the account lock and then those of keys.
func (a *Account) lockAccount(ctx context.Context, keys ...store.Key) (*heldLocks, error) {
	locks, err := a.locks.acquire(ctx, append(keys, accountLock)...)
	if err != nil {
		return nil, fmt.Errorf("signal: lock account: %w", err)
	}
	return locks, nil
}

// row loads the account row.
func (a *Account) row(ctx context.Context) (*accountRow, error) {
	stored, err := a.backend.OpenAccount(ctx, a.name)
	if err != nil {
		return nil, fmt.Errorf("signal: load account: %w", err)
	}
	return parseAccountRow(stored.Row.Value)
}

// SetSignedPreKey stores k and makes it the current signed prekey. Others stay
// until RemoveSignedPreKey, so that messages that name them can be answered.
func (a *Account) SetSignedPreKey(ctx context.Context, k *SignedPreKey) error {
	rec, err := k.AppendBinary(nil)
	if err != nil {
		return err
	}
	locks, err := a.lockAccount(ctx)
	if err != nil {
		return err
	}
	defer locks.release()
	row, err := a.row(ctx)
	if err != nil {
		return err
	}
	row.signedPreKey, row.hasSigned = k.ID, true
	var b store.Batch
	b.Put(store.SignedPreKey(k.ID), rec)
	row.put(&b)
	return a.save(ctx, "signed prekey", &b)
}

// GenerateSignedPreKey makes a signed prekey, stores it and makes it the
// current one. It draws 32 bytes for the key, then 64 for the signature.
func (a *Account) GenerateSignedPreKey(ctx context.Context, id uint32, timestamp uint64) (*SignedPreKey, error) {
	k, err := GenerateSignedPreKey(id, a.local.Identity, timestamp)
	if err != nil {
		return nil, err
	}
	return k, a.SetSignedPreKey(ctx, k)
}

// SignedPreKeyIDs returns the ids of the stored signed prekeys, ascending.
func (a *Account) SignedPreKeyIDs(ctx context.Context) ([]uint32, error) {
	return a.ids(ctx, store.SignedPreKeys)
}

// RemoveSignedPreKey deletes a signed prekey. Messages that name it cannot be
// answered afterwards. Removing an absent one is not an error; the current
// one cannot be removed before another one is set.
func (a *Account) RemoveSignedPreKey(ctx context.Context, id uint32) error {
	locks, err := a.lockAccount(ctx)
	if err != nil {
		return err
	}
	defer locks.release()
	row, err := a.row(ctx)
	if err != nil {
		return err
	}
	if row.hasSigned && row.signedPreKey == id {
		return errors.New("signal: the current signed prekey cannot be removed")
	}
	var b store.Batch
	b.Delete(store.SignedPreKey(id))
	return a.save(ctx, "signed prekey", &b)
}

// SetPreKeys stores one-time prekeys, in one write. A stored prekey of the same
// id is replaced.
func (a *Account) SetPreKeys(ctx context.Context, keys ...*PreKey) error {
	var b store.Batch
	b.Grow(len(keys))
	rows := make([]store.Key, 0, len(keys)+1)
	for _, k := range keys {
		rec, err := k.AppendBinary(nil)
		if err != nil {
			return err
		}
		rows = append(rows, store.PreKey(k.ID))
		b.Put(store.PreKey(k.ID), rec)
	}
	locks, err := a.lockAccount(ctx, rows...)
	if err != nil {
		return err
	}
	defer locks.release()
	return a.save(ctx, "prekeys", &b)
}

// preKeyRecordSize bounds the size in bytes of a prekey record: an id of at
// most 6 bytes with its tag, two keys of 34.
const preKeyRecordSize = 74

// GeneratePreKeys makes count one-time prekeys and stores them, in one write.
// Ids go upwards from the last one given, wrap from MaxPreKeyID to 1 and pass
// over those in use. It draws 32 bytes for each key, in the order of the
// result. If ErrPreKeyIDsInUse is the error, nothing was drawn.
func (a *Account) GeneratePreKeys(ctx context.Context, count int) ([]PublicPreKey, error) {
	if count <= 0 {
		return nil, nil
	}
	locks, err := a.lockAccount(ctx)
	if err != nil {
		return nil, err
	}
	defer locks.release()
	row, err := a.row(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := a.ids(ctx, store.PreKeys)
	if err != nil {
		return nil, err
	}
	ids, next, err := unusedIDs(stored, row.nextPreKey, count)
	if err != nil {
		return nil, err
	}

	out := make([]PublicPreKey, count)
	recs := make([]byte, 0, count*preKeyRecordSize)
	var b store.Batch
	b.Grow(count)
	for i, id := range ids {
		k, err := GeneratePreKey(id)
		if err != nil {
			return nil, err
		}
		from := len(recs)
		if recs, err = k.AppendBinary(recs); err != nil {
			return nil, err
		}
		b.Put(store.PreKey(id), recs[from:len(recs):len(recs)])
		out[i] = PublicPreKey{ID: id, Public: k.Public}
	}
	row.nextPreKey = next
	row.put(&b)
	if err := a.save(ctx, "prekeys", &b); err != nil {
		return nil, err
	}
	return out, nil
}

// unusedIDs returns count ids from next on that are not in stored, which
// ascends, and the id after the last of them.
func unusedIDs(stored []uint32, next uint32, count int) (ids []uint32, after uint32, err error) {
	if len(stored) > 0 && stored[0] == 0 {
		stored = stored[1:] // 0 can be stored, but is never given
	}
	if count > MaxPreKeyID-len(stored) {
		return nil, 0, fmt.Errorf("signal: %d prekeys with %d stored: %w", count, len(stored), ErrPreKeyIDsInUse)
	}
	ids = make([]uint32, 0, count)
	at, _ := slices.BinarySearch(stored, next)
	for len(ids) < count {
		if at < len(stored) && stored[at] == next {
			at++
		} else {
			ids = append(ids, next)
		}
		if next++; next > MaxPreKeyID {
			next, at = 1, 0
		}
	}
	return ids, next, nil
}

// PreKeyIDs returns the ids of the stored one-time prekeys, ascending.
func (a *Account) PreKeyIDs(ctx context.Context) ([]uint32, error) {
	return a.ids(ctx, store.PreKeys)
}

func (a *Account) ids(ctx context.Context, t store.Table) ([]uint32, error) {
	keys, err := a.backend.List(ctx, a.id, store.Query{Table: t})
	if err != nil {
		return nil, fmt.Errorf("signal: list prekeys: %w", err)
	}
	ids := make([]uint32, len(keys))
	for i, k := range keys {
		ids[i] = k.ID
	}
	return ids, nil
}

// Bundle returns what the account publishes for others to start sessions with:
// the current signed prekey and the one-time prekey of that id, or none if
// preKeyID is 0. The error wraps ErrNoPreKey if the account does not hold
// them.
func (a *Account) Bundle(ctx context.Context, preKeyID uint32) (*Bundle, error) {
	row, err := a.row(ctx)
	if err != nil {
		return nil, err
	}
	if !row.hasSigned {
		return nil, fmt.Errorf("signal: bundle without signed prekey: %w", ErrNoPreKey)
	}
	keys := []store.Key{store.SignedPreKey(row.signedPreKey)}
	if preKeyID != 0 {
		keys = append(keys, store.PreKey(preKeyID))
	}
	recs, err := a.load(ctx, "prekeys", keys...)
	if err != nil {
		return nil, err
	}
	signed, err := parseSignedPreKeyRow(recs[0], row.signedPreKey)
	if err != nil {
		return nil, err
	}
	if signed == nil {
		return nil, fmt.Errorf("signal: signed prekey %d: %w", row.signedPreKey, ErrNoPreKey)
	}
	out := &Bundle{
		RegistrationID: a.local.RegistrationID,
		Identity:       a.local.Identity.PublicKey(),
		SignedPreKeyID: signed.ID,
		SignedPreKey:   signed.Public,
		Signature:      signed.Signature,
	}
	if preKeyID != 0 {
		k, err := parsePreKeyRow(recs[1], preKeyID)
		if err != nil {
			return nil, err
		}
		if k == nil {
			return nil, fmt.Errorf("signal: prekey %d: %w", preKeyID, ErrNoPreKey)
		}
		out.HasPreKey, out.PreKeyID, out.PreKey = true, k.ID, k.Public
	}
	return out, nil
}

// parsePreKeyRow reads a prekey row; nil if there is none. A row that does not
// parse or is another's is our own damage and not the fault of a message.
func parsePreKeyRow(r store.Record, id uint32) (*PreKey, error) {
	if !r.Found {
		return nil, nil
	}
	k, err := ParsePreKey(r.Value)
	if err == nil && k.ID != id {
		err = errors.New("record of another id")
	}
	if err != nil {
		return nil, corruptRow("prekey", id, err)
	}
	return k, nil
}

// parseSignedPreKeyRow is parsePreKeyRow for signed prekeys.
func parseSignedPreKeyRow(r store.Record, id uint32) (*SignedPreKey, error) {
	if !r.Found {
		return nil, nil
	}
	k, err := ParseSignedPreKey(r.Value)
	if err == nil && k.ID != id {
		err = errors.New("record of another id")
	}
	if err != nil {
		return nil, corruptRow("signed prekey", id, err)
	}
	return k, nil
}

// corruptRow makes any failure to read a row of ours an ErrCorruptRecord, and
// nothing that could be taken for a fault of the peer.
func corruptRow(what string, id uint32, err error) error {
	return fmt.Errorf("signal: %s %d: %v: %w", what, id, err, ErrCorruptRecord)
}
