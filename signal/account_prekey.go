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

// row loads the account row.
func (a *Account) row(ctx context.Context) (*accountRow, error) {
	stored, err := a.backend.OpenAccount(ctx, a.name)
	if err != nil {
		return nil, fmt.Errorf("signal: load account: %w", err)
	}
	row, err := parseAccountRow(stored.Row.Value)
	if err != nil {
		return nil, err
	}
	row.version = stored.Row.Version
	return row, nil
}

// changeRow calls f with the account row and an empty batch, under the account
// lock and those of keys, and writes the batch with the row. If f reports that
// nothing changed, or fails, nothing is written. If another process has changed
// the row meanwhile, f is called again.
func (a *Account) changeRow(ctx context.Context, what string, keys []store.Key, f func(row *accountRow, b *store.Batch) (changed bool, err error)) error {
	if err := a.life.enter(); err != nil {
		return err
	}
	defer a.life.leave()
	locks, err := a.locks.acquire(ctx, append(keys, accountLock)...)
	if err != nil {
		return fmt.Errorf("signal: lock account: %w", err)
	}
	defer locks.release()
	return retry(ctx, func() error {
		row, err := a.row(ctx)
		if err != nil {
			return err
		}
		var b store.Batch
		changed, err := f(row, &b)
		if err != nil || !changed {
			return err
		}
		row.put(&b)
		b.Expect(store.Key{}, row.version)
		return a.save(ctx, what, &b)
	})
}

// SetPreKeys stores one-time prekeys, in one write. A stored prekey of the same
// id is replaced. They are taken for uploaded: ForgetUploads says otherwise. Ids
// that are minted later begin after the largest one that was ever stored, so
// that an id which an earlier program gave away is not given again. The error
// wraps ErrMalformed if the keys of a pair do not belong together; then nothing
// is stored.
func (a *Account) SetPreKeys(ctx context.Context, keys ...*PreKey) error {
	if len(keys) == 0 {
		return nil
	}
	private, public := make([][32]byte, len(keys)), make([][32]byte, len(keys))
	defer clear(private)
	for i, k := range keys {
		private[i] = k.Private
	}
	publicMany(public, private)
	rows := make([]store.Key, len(keys))
	ids := make([]uint32, len(keys))
	recs := make([][]byte, len(keys))
	for i, k := range keys {
		if k.Public != public[i] {
			return fmt.Errorf("signal: prekey %d whose keys do not belong together: %w", k.ID, ErrMalformed)
		}
		rows[i], ids[i] = store.PreKey(k.ID), k.ID
		recs[i], _ = k.AppendBinary(nil) // never fails
	}
	return a.changeRow(ctx, "prekeys", rows, func(row *accountRow, b *store.Batch) (bool, error) {
		b.Grow(len(keys))
		for i := range keys {
			b.Put(rows[i], recs[i])
			if ids[i] >= row.nextPreKey && ids[i] <= MaxPreKeyID {
				row.nextPreKey = nextPreKeyID(ids[i])
			}
		}
		row.keys.unsent = row.keys.unsent.without(ids)
		return true, nil
	})
}

// nextPreKeyID returns the id that follows id: 24 bits, without 0.
func nextPreKeyID(id uint32) uint32 {
	if id >= MaxPreKeyID {
		return 1
	}
	return id + 1
}

// GeneratePreKeys makes count one-time prekeys and stores them, in one write,
// as not uploaded. Ids go upwards from the last one given, wrap from MaxPreKeyID
// to 1 and pass over those in use. It draws 32 bytes for each key, in the order
// of the result. If ErrPreKeyIDsInUse is the error, nothing was drawn.
func (a *Account) GeneratePreKeys(ctx context.Context, count int) (keys []PublicPreKey, err error) {
	if count <= 0 {
		return nil, nil
	}
	err = a.changeRow(ctx, "prekeys", nil, func(row *accountRow, b *store.Batch) (bool, error) {
		keys, err = a.mint(ctx, row, b, count)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// preKeyRecordSize bounds the size in bytes of a prekey record: an id of at
// most 6 bytes with its tag, two keys of 34.
const preKeyRecordSize = 74

// mint adds count fresh prekeys to a batch, and to row that they were not
// uploaded. The records share one buffer.
func (a *Account) mint(ctx context.Context, row *accountRow, b *store.Batch, count int) ([]PublicPreKey, error) {
	stored, err := a.ids(ctx, store.PreKeys)
	if err != nil {
		return nil, err
	}
	ids, next, err := unusedIDs(stored, row.nextPreKey, count)
	if err != nil {
		return nil, err
	}
	private, public := make([][32]byte, count), make([][32]byte, count)
	defer clear(private)
	for i := range private {
		if err := generatePrivateKey((*PrivateKey)(&private[i])); err != nil {
			return nil, err
		}
	}
	publicMany(public, private)
	out := make([]PublicPreKey, count)
	recs := make([]byte, 0, count*preKeyRecordSize)
	b.Grow(count)
	for i, id := range ids {
		k := PreKey{ID: id, Public: public[i], Private: private[i]}
		from := len(recs)
		recs, _ = k.AppendBinary(recs) // never fails
		b.Put(store.PreKey(id), recs[from:len(recs):len(recs)])
		out[i] = PublicPreKey{ID: id, Public: k.Public}
	}
	row.nextPreKey = next
	row.keys.unsent = row.keys.unsent.with(ids)
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
	keys, err := a.list(ctx, store.Query{Table: t})
	if err != nil {
		return nil, err
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
