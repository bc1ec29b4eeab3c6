package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// SetSignedPreKey stores k and makes it the current signed prekey. Others stay
// until RotateSignedPreKey or RemoveSignedPreKey, so that messages that name
// them can be answered. Errors, with which nothing is stored: ErrBadSignature if
// the signature is not that of the account's identity, and one that wraps
// ErrMalformed if the keys of the pair do not belong together.
func (a *Account) SetSignedPreKey(ctx context.Context, k *SignedPreKey) error {
	if k.Private.public() != k.Public {
		return fmt.Errorf("signal: signed prekey %d whose keys do not belong together: %w", k.ID, ErrMalformed)
	}
	b := Bundle{Identity: a.local.Identity.PublicKey(), SignedPreKey: k.Public, Signature: k.Signature}
	if err := b.Verify(); err != nil {
		return err
	}
	return a.changeRow(ctx, "signed prekey", nil, func(row *accountRow, b *store.Batch) (bool, error) {
		row.setSigned(k, b)
		return true, nil
	})
}

// setSigned adds k to a batch and makes it the current signed prekey.
func (r *accountRow) setSigned(k *SignedPreKey, b *store.Batch) {
	rec, _ := k.AppendBinary(nil) // never fails
	b.Put(store.SignedPreKey(k.ID), rec)
	r.keys.forget(k.ID)
	if r.hasSigned && r.signedPreKey != k.ID {
		r.keys.retained = append(r.keys.retained, retainedKey{id: r.signedPreKey})
	}
	r.signedPreKey, r.hasSigned = k.ID, true
	r.keys.signedUploaded = false
	if k.ID >= r.keys.nextSigned && k.ID <= MaxPreKeyID {
		r.keys.nextSigned = nextPreKeyID(k.ID)
	}
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

// SignedPreKeyRetention says which predecessors of the current signed prekey are
// kept: those that either member covers.
type SignedPreKeyRetention struct {
	// Count is how many of the newest are kept, however old.
	Count int

	// Age is how long each is kept after a later one was uploaded.
	Age time.Duration
}

// DefaultSignedPreKeyRetention keeps a signed prekey for as long as a first
// message that was made with it may lie in a queue, three months at the least.
var DefaultSignedPreKeyRetention = SignedPreKeyRetention{Count: 3, Age: 90 * 24 * time.Hour}

// SignedPreKeyRotation is what RotateSignedPreKey did.
type SignedPreKeyRotation struct {
	Current *SignedPreKey // to be uploaded
	Removed []uint32      // ids that messages can no longer name
}

// RotateSignedPreKey makes a fresh signed prekey the current one, of the next id
// and dated now, and removes the predecessors that keep does not cover, in one
// write. It draws as GenerateSignedPreKey does. Call MarkSignedPreKeyUploaded
// when the server has confirmed it: until then the server gives out an earlier
// one, and what it may give out is never removed. So the set of predecessors
// grows if nothing is ever marked.
//
// Age counts from the mark, not from the rotation. Nothing else removes a signed
// prekey, but for RemoveSignedPreKey.
func (a *Account) RotateSignedPreKey(ctx context.Context, now time.Time, keep SignedPreKeyRetention) (r SignedPreKeyRotation, err error) {
	err = a.changeRow(ctx, "signed prekey", nil, func(row *accountRow, b *store.Batch) (bool, error) {
		stored, err := a.ids(ctx, store.SignedPreKeys)
		if err != nil {
			return false, err
		}
		ids, _, err := unusedIDs(stored, max(1, row.keys.nextSigned), 1)
		if err != nil {
			return false, err
		}
		if r.Current, err = GenerateSignedPreKey(ids[0], a.local.Identity, uint64(max(0, now.Unix()))); err != nil {
			return false, err
		}
		row.setSigned(r.Current, b)
		row.keys.nextSigned = nextPreKeyID(ids[0])
		r.Removed = row.keys.expire(now, keep)
		for _, id := range r.Removed {
			b.Delete(store.SignedPreKey(id))
		}
		return true, nil
	})
	if err != nil {
		return SignedPreKeyRotation{}, err
	}
	return r, nil
}

// expire removes the retained signed prekeys that keep does not cover from the
// list, and returns their ids.
func (s *keyState) expire(now time.Time, keep SignedPreKeyRetention) (removed []uint32) {
	candidates := max(0, len(s.retained)-max(0, keep.Count))
	at := 0
	s.retained = slices.DeleteFunc(s.retained, func(k retainedKey) bool {
		at++
		if at > candidates || k.since == 0 || now.Sub(time.Unix(int64(min(k.since, 1<<62)), 0)) < keep.Age {
			return false
		}
		removed = append(removed, k.id)
		return true
	})
	return removed
}

// MarkSignedPreKeyUploaded says that the server gives out the current signed
// prekey from now on, if id is that. From now on counts how long its predecessors
// are kept. Another id changes nothing: the answer to an upload that a rotation
// has overtaken says nothing about the current one.
func (a *Account) MarkSignedPreKeyUploaded(ctx context.Context, id uint32, now time.Time) error {
	return a.changeRow(ctx, "upload marks", nil, func(row *accountRow, _ *store.Batch) (bool, error) {
		if !row.hasSigned || row.signedPreKey != id || row.keys.signedUploaded {
			return false, nil
		}
		row.keys.signedUploaded = true
		for i := range row.keys.retained {
			if k := &row.keys.retained[i]; k.since == 0 {
				k.since = uint64(max(1, now.Unix()))
			}
		}
		return true, nil
	})
}

// SignedPreKeyStatus describes the signed prekeys of an account.
type SignedPreKeyStatus struct {
	Exists   bool
	ID       uint32
	Time     uint64 // as in SignedPreKey
	Uploaded bool   // the current one was marked

	// Retained are the predecessors in the order in which they were replaced, as
	// far as the account knows it.
	Retained []uint32
}

// SignedPreKeyStatus returns the state of the signed prekeys. An error that wraps
// ErrNoPreKey means that the current one is not stored.
func (a *Account) SignedPreKeyStatus(ctx context.Context) (s SignedPreKeyStatus, err error) {
	row, err := a.row(ctx)
	if err != nil || !row.hasSigned {
		return s, err
	}
	k, err := a.SignedPreKey(ctx, row.signedPreKey)
	if err != nil {
		return s, err
	}
	s = SignedPreKeyStatus{Exists: true, ID: k.ID, Time: k.Timestamp, Uploaded: row.keys.signedUploaded}
	for _, r := range row.keys.retained {
		s.Retained = append(s.Retained, r.id)
	}
	return s, nil
}

// SignedPreKey returns a stored signed prekey, with its private key. The error
// wraps ErrNoPreKey if there is none of that id.
func (a *Account) SignedPreKey(ctx context.Context, id uint32) (*SignedPreKey, error) {
	recs, err := a.load(ctx, "signed prekey", store.SignedPreKey(id))
	if err != nil {
		return nil, err
	}
	k, err := parseSignedPreKeyRow(recs[0], id)
	if err == nil && k == nil {
		err = fmt.Errorf("signal: signed prekey %d: %w", id, ErrNoPreKey)
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// SignedPreKeyIDs returns the ids of the stored signed prekeys, ascending.
func (a *Account) SignedPreKeyIDs(ctx context.Context) ([]uint32, error) {
	return a.ids(ctx, store.SignedPreKeys)
}

// RemoveSignedPreKey deletes a signed prekey. Messages that name it cannot be
// answered afterwards. Removing an absent one is not an error; the current
// one cannot be removed before another one is set.
func (a *Account) RemoveSignedPreKey(ctx context.Context, id uint32) error {
	return a.changeRow(ctx, "signed prekey", nil, func(row *accountRow, b *store.Batch) (bool, error) {
		if row.hasSigned && row.signedPreKey == id {
			return false, errors.New("signal: the current signed prekey cannot be removed")
		}
		row.keys.forget(id)
		b.Delete(store.SignedPreKey(id))
		return true, nil
	})
}
