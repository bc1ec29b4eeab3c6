package signal

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// A base key says which agreement a session came from. When a message is asked
// for again and again, the one that was current at an earlier request tells
// whether the session was replaced since, or has to be.

// maxMessageID is the longest message id, in bytes, that is part of a row's name
// as it is. Ids come from the peer, and databases bound names.
const maxMessageID = 128

// baseKeyRow returns the key of the base-key row of a message of an address. The
// length keeps names apart whatever is in an address or an id.
func baseKeyRow(addr Address, messageID string) store.Key {
	s := addr.String()
	if len(messageID) > maxMessageID {
		sum := sha256.Sum256([]byte(messageID))
		messageID = "sha256:" + hex.EncodeToString(sum[:])
	}
	return store.BaseKey(strconv.Itoa(len(s)) + ":" + s + ":" + messageID)
}

// SaveBaseKey remembers the base key of the current session with addr, for a
// message that addr has asked for. now is stored, for SweepBaseKeys. The error is
// ErrNoSession if there is no session, or one that was imported without its base
// key.
func (a *Account) SaveBaseKey(ctx context.Context, addr Address, messageID string, now time.Time) error {
	row := baseKeyRow(addr, messageID)
	return a.update(ctx, "base key", []store.Key{store.Session(addr.String())}, []store.Key{row}, func(recs []store.Record, b *store.Batch) error {
		key, ok, err := currentBaseKey(recs[0])
		if err != nil {
			return err
		}
		if !ok {
			return ErrNoSession
		}
		b.Put(row, binary.AppendUvarint(key[:], uint64(max(0, now.Unix()))))
		return nil
	})
}

// HasBaseKey reports whether the current session with addr still has the base key
// that SaveBaseKey has remembered for the message: then it was not replaced, and
// what failed with it will fail again. It is false if nothing was remembered or
// there is no session.
func (a *Account) HasBaseKey(ctx context.Context, addr Address, messageID string) (same bool, err error) {
	recs, err := a.load(ctx, "base key", store.Session(addr.String()), baseKeyRow(addr, messageID))
	if err != nil || !recs[1].Found {
		return false, err
	}
	saved, _, err := parseBaseKeyRow(recs[1].Value)
	if err != nil {
		return false, err
	}
	key, ok, err := currentBaseKey(recs[0])
	return ok && key.Equal(saved), err
}

// DeleteBaseKey forgets what was remembered for a message. That there is nothing
// is not an error.
func (a *Account) DeleteBaseKey(ctx context.Context, addr Address, messageID string) error {
	row := baseKeyRow(addr, messageID)
	return a.update(ctx, "base key", nil, []store.Key{row}, func(_ []store.Record, b *store.Batch) error {
		b.Delete(row)
		return nil
	})
}

// SweepBaseKeys forgets what was remembered before a time, and what cannot be
// read, in transactions of a few hundred rows. It returns how many rows it
// removed, also if it fails.
func (a *Account) SweepBaseKeys(ctx context.Context, before time.Time) (removed int, err error) {
	err = a.eachPage(ctx, store.BaseKeys, "", func(keys []store.Key) error {
		n := 0
		err := a.update(ctx, "base keys", keys, nil, func(recs []store.Record, b *store.Batch) error {
			n = 0
			for i, r := range recs {
				if !r.Found {
					continue
				}
				if _, at, err := parseBaseKeyRow(r.Value); err != nil || at < before.Unix() {
					b.Delete(keys[i])
					n++
				}
			}
			return nil
		})
		if err == nil {
			removed += n
		}
		return err
	})
	return removed, err
}

// currentBaseKey returns the base key of the current session of a session row.
func currentBaseKey(r store.Record) (key PublicKey, ok bool, err error) {
	if !r.Found {
		return key, false, nil
	}
	s, err := ParseSession(r.Value)
	if err != nil || s.current == nil {
		return key, false, err
	}
	return s.current.baseKey, s.current.hasBaseKey, nil
}

// parseBaseKeyRow reads a base-key row: the 32 bytes of the key, then the time as
// a varint, in seconds since 1970.
func parseBaseKeyRow(rec []byte) (key PublicKey, at int64, err error) {
	if len(rec) > len(key) {
		if v, n := binary.Uvarint(rec[len(key):]); n == len(rec)-len(key) && v < 1<<63 {
			return PublicKey(rec), int64(v), nil
		}
	}
	return key, 0, fmt.Errorf("signal: base key of %d bytes: %w", len(rec), ErrCorruptRecord)
}
