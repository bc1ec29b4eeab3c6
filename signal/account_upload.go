package signal

import (
	"context"
	"slices"

	"github.com/sigcore/sigcore/signal/store"
)

// PreKeyWindow says when the server is given one-time prekeys and how many.
type PreKeyWindow struct {
	// Low is the number below which it is given more.
	Low int

	// Target is the number that it then has.
	Target int
}

// DefaultPreKeyWindow is what WhatsApp's own clients do.
var DefaultPreKeyWindow = PreKeyWindow{Low: 5, Target: 812}

// Missing returns how many prekeys to upload if the server has onServer: none
// unless that is below the low-water mark, else as many as Target needs.
func (w PreKeyWindow) Missing(onServer int) int {
	if onServer >= w.Low {
		return 0
	}
	return max(0, w.Target-max(0, onServer))
}

// PreKeysToUpload returns n prekeys that the server was not given, those that
// were minted first in front, and mints only what is missing, in one write. An
// upload that failed, or of which the outcome is not known, is repeated with the
// same keys: the pool does not grow by attempts. Call MarkUploaded when the
// server has confirmed them. Minting draws as GeneratePreKeys does.
//
// Two callers at once get the same keys; only one upload should be under way at
// a time.
func (a *Account) PreKeysToUpload(ctx context.Context, n int) (keys []PublicPreKey, err error) {
	if n <= 0 {
		return nil, nil
	}
	err = a.changeRow(ctx, "prekeys", nil, func(row *accountRow, b *store.Batch) (changed bool, err error) {
		keys, changed, err = a.leftovers(ctx, row, n)
		if err != nil || len(keys) == n {
			return changed, err
		}
		more, err := a.mint(ctx, row, b, n-len(keys))
		keys = append(keys, more...)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// leftovers returns at most n stored prekeys that were not uploaded, the oldest
// first. Ids whose prekey is gone leave the set; changed reports whether any did.
func (a *Account) leftovers(ctx context.Context, row *accountRow, n int) (keys []PublicPreKey, changed bool, err error) {
	for len(keys) < n {
		ids := row.keys.unsent.from(nil, row.nextPreKey, n)[len(keys):]
		if len(ids) == 0 {
			break
		}
		rows := make([]store.Key, len(ids))
		for i, id := range ids {
			rows[i] = store.PreKey(id)
		}
		recs, err := a.load(ctx, "prekeys", rows...)
		if err != nil {
			return nil, false, err
		}
		var gone []uint32
		for i, id := range ids {
			k, err := parsePreKeyRow(recs[i], id)
			if err != nil {
				return nil, false, err
			}
			if k == nil {
				gone = append(gone, id)
				continue
			}
			keys = append(keys, PublicPreKey{ID: id, Public: k.Public})
		}
		if len(gone) > 0 {
			row.keys.unsent = row.keys.unsent.without(gone)
			changed = true
		}
	}
	return keys, changed, nil
}

// MarkUploaded says that the server was given the prekeys of these ids, so that
// PreKeysToUpload does not return them again. It writes no prekey: one that was
// used up meanwhile stays gone. Ids that are unknown or marked already are
// passed over.
func (a *Account) MarkUploaded(ctx context.Context, ids []uint32) error {
	return a.changeRow(ctx, "upload marks", nil, func(row *accountRow, _ *store.Batch) (bool, error) {
		before := row.keys.unsent.len()
		row.keys.unsent = row.keys.unsent.without(ids)
		return row.keys.unsent.len() != before, nil
	})
}

// ForgetUploads says that the server has none of the prekeys any more: all that
// are stored are offered again, but for the one of retry receipts. The current
// signed prekey counts as not uploaded either.
func (a *Account) ForgetUploads(ctx context.Context) error {
	return a.changeRow(ctx, "upload marks", nil, func(row *accountRow, _ *store.Batch) (bool, error) {
		ids, err := a.ids(ctx, store.PreKeys)
		if err != nil {
			return false, err
		}
		ids = slices.DeleteFunc(ids, func(id uint32) bool { return id == 0 || id > MaxPreKeyID || id == row.keys.retry })
		row.keys.unsent = idSet(nil).with(ids)
		row.keys.signedUploaded = false
		return true, nil
	})
}

// RetryPreKey returns the prekey to put into a retry receipt: always the same
// until a message has used it up, so that whoever provokes receipts makes no
// keys. One that was minted and not uploaded is taken, and never uploaded then;
// if there is none it is minted, which draws 32 bytes.
func (a *Account) RetryPreKey(ctx context.Context) (key PublicPreKey, err error) {
	err = a.changeRow(ctx, "prekey", nil, func(row *accountRow, b *store.Batch) (changed bool, err error) {
		if id := row.keys.retry; id != 0 {
			recs, err := a.load(ctx, "prekey", store.PreKey(id))
			if err != nil {
				return false, err
			}
			k, err := parsePreKeyRow(recs[0], id)
			if err != nil {
				return false, err
			}
			if k != nil {
				key = PublicPreKey{ID: id, Public: k.Public}
				return false, nil
			}
		}
		keys, _, err := a.leftovers(ctx, row, 1)
		if err == nil && len(keys) == 0 {
			keys, err = a.mint(ctx, row, b, 1)
		}
		if err != nil {
			return false, err
		}
		key = keys[0]
		row.keys.retry = key.ID
		row.keys.unsent = row.keys.unsent.without([]uint32{key.ID})
		return true, nil
	})
	return key, err
}

// PreKeyPool describes the one-time prekeys of an account.
type PreKeyPool struct {
	Stored      int
	Uploaded    int    // stored, and given to the server or to somebody
	NotUploaded int    // stored, and to be offered by PreKeysToUpload
	NextID      uint32 // from which ids are minted
}

// PreKeyPool returns the state of the pool. How many prekeys the server has left
// only the server knows.
func (a *Account) PreKeyPool(ctx context.Context) (p PreKeyPool, err error) {
	row, err := a.row(ctx)
	if err != nil {
		return p, err
	}
	ids, err := a.ids(ctx, store.PreKeys)
	if err != nil {
		return p, err
	}
	p.NextID, p.Stored = row.nextPreKey, len(ids)
	for _, id := range ids {
		if row.keys.unsent.has(id) {
			p.NotUploaded++
		}
	}
	p.Uploaded = p.Stored - p.NotUploaded
	return p, nil
}
