package store

import (
	"context"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/sigcore/sigcore/internal/random"
)

// ErrSeal is in the chain of a [SealError].
var ErrSeal = errors.New("store: sealed record cannot be opened")

// A SealError is a row whose record cannot be opened: it is not sealed, is sealed
// with a key that is not there, or is not what was stored in that row.
type SealError struct {
	Table  Table // 0: the account row
	Reason string

	noKey bool
}

func (e *SealError) Error() string {
	if e.Table == 0 {
		return fmt.Sprintf("store: account row: %s", e.Reason)
	}
	return fmt.Sprintf("store: row of %v: %s", e.Table, e.Reason)
}

// Unwrap returns ErrSeal.
func (e *SealError) Unwrap() error { return ErrSeal }

// A SealKey is a key that records are sealed with, and the number by which records
// name it. It prints as a placeholder.
type SealKey struct {
	ID  uint32
	Key [chacha20poly1305.KeySize]byte
}

// Format prints a placeholder for every verb.
func (SealKey) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("[redacted]")) }

// Sealed is a Backend over another one that stores every record encrypted: whoever
// has a copy of the database and not the key has no keys of sessions. Names of
// accounts and rows, ids, versions and sizes stay readable.
//
// The form of a record is the byte 1, the number of the key in four bytes, big
// endian, a nonce of 24 bytes, and the record under XChaCha20-Poly1305
// (draft-irtf-cfrg-xchacha-03), 45 bytes more in all. What row of what account it
// is of is authenticated with it, so that rows cannot be exchanged. An older record
// of the same row is accepted, as it is without Sealed. It draws 24 bytes for each
// record.
type Sealed struct {
	Backend
	current uint32
	keys    map[uint32]cipher.AEAD

	mu    sync.Mutex
	names map[AccountID]string // of accounts that were opened; their rows are bound to them
}

const (
	sealVersion = 1
	sealHeader  = 1 + 4 + chacha20poly1305.NonceSizeX
	sealSize    = sealHeader + chacha20poly1305.Overhead
)

// Seal returns a Backend over b. Records are sealed with the key current; those that
// were sealed with one of the older keys are read, until [Sealed.Reseal] has
// written them anew. Closing it closes b.
//
// Two keys of one number are an error, as is a process in a mode that does not
// allow the cipher.
func Seal(b Backend, current SealKey, older ...SealKey) (*Sealed, error) {
	s := &Sealed{Backend: b, current: current.ID, keys: map[uint32]cipher.AEAD{}, names: map[AccountID]string{}}
	for _, k := range append([]SealKey{current}, older...) {
		if s.keys[k.ID] != nil {
			return nil, fmt.Errorf("store: two seal keys of number %d", k.ID)
		}
		aead, err := chacha20poly1305.NewX(k.Key[:])
		if err != nil {
			return nil, fmt.Errorf("store: seal: %w", err)
		}
		s.keys[k.ID] = aead
	}
	return s, nil
}

// appendAccount appends what the row of an account is bound to.
func appendAccount(dst []byte, name string) []byte {
	return append(append(dst, "sigcore account\x00"...), name...)
}

// appendKey appends what a row is bound to.
func appendKey(dst []byte, id AccountID, k Key) []byte {
	dst = append(dst, "sigcore row\x00"...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(id))
	dst = append(dst, byte(k.Table))
	dst = binary.BigEndian.AppendUint32(dst, k.ID)
	return append(dst, k.Name...)
}

// seal appends a record, sealed.
func (s *Sealed) seal(dst, record, bound []byte) ([]byte, error) {
	var nonce [chacha20poly1305.NonceSizeX]byte
	if err := random.Read(nonce[:]); err != nil {
		return nil, err
	}
	dst = append(dst, sealVersion)
	dst = binary.BigEndian.AppendUint32(dst, s.current)
	dst = append(dst, nonce[:]...)
	return s.keys[s.current].Seal(dst, nonce[:], record, bound), nil
}

// open returns the record in a sealed one.
func (s *Sealed) open(t Table, sealed, bound []byte) ([]byte, error) {
	if len(sealed) < sealSize || sealed[0] != sealVersion {
		return nil, &SealError{Table: t, Reason: "not sealed"}
	}
	id := binary.BigEndian.Uint32(sealed[1:])
	aead := s.keys[id]
	if aead == nil {
		return nil, &SealError{Table: t, Reason: fmt.Sprintf("sealed with key %d, which is not there", id), noKey: true}
	}
	record, err := aead.Open(make([]byte, 0, len(sealed)-sealSize), sealed[5:sealHeader], sealed[sealHeader:], bound)
	if err != nil {
		return nil, &SealError{Table: t, Reason: "not what was stored"}
	}
	return record, nil
}

func (s *Sealed) remember(id AccountID, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[id] = name
}

// CreateAccount implements Backend.
func (s *Sealed) CreateAccount(ctx context.Context, name string, row []byte) (AccountID, error) {
	sealed, err := s.seal(nil, row, appendAccount(nil, name))
	if err != nil {
		return 0, err
	}
	id, err := s.Backend.CreateAccount(ctx, name, sealed)
	if err == nil {
		s.remember(id, name)
	}
	return id, err
}

// OpenAccount implements Backend. The error is a *SealError if the row cannot be
// opened.
func (s *Sealed) OpenAccount(ctx context.Context, name string) (Account, error) {
	a, err := s.Backend.OpenAccount(ctx, name)
	if err != nil {
		return Account{}, err
	}
	if a.Row.Value, err = s.open(0, a.Row.Value, appendAccount(nil, name)); err != nil {
		return Account{}, err
	}
	s.remember(a.ID, name)
	return a, nil
}

// DeleteAccount implements Backend.
func (s *Sealed) DeleteAccount(ctx context.Context, id AccountID) error {
	err := s.Backend.DeleteAccount(ctx, id)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.names, id)
	}
	return err
}

// damaged stands for a record that is not what was stored. No record of package
// signal begins so.
var damaged = []byte{0xff}

// Read implements Backend. A row that is not what was stored costs no other row: its
// record is one byte, 0xff, which no reader of records accepts, as none accepts a
// record that was damaged in a database without a seal. The error is a *SealError if
// a row is sealed with a key that is not there.
func (s *Sealed) Read(ctx context.Context, id AccountID, keys []Key) ([]Record, uint64, error) {
	sealed, generation, err := s.Backend.Read(ctx, id, keys)
	if err != nil {
		return nil, 0, err
	}
	recs := make([]Record, len(sealed))
	var bound []byte
	for i, r := range sealed {
		recs[i] = r
		if !r.Found {
			continue
		}
		bound = appendKey(bound[:0], id, keys[i])
		value, err := s.open(keys[i].Table, r.Value, bound)
		var se *SealError
		switch {
		case errors.As(err, &se) && !se.noKey:
			value = damaged
		case err != nil:
			return nil, 0, err
		}
		recs[i].Value = value
	}
	return recs, generation, nil
}

// Apply implements Backend.
func (s *Sealed) Apply(ctx context.Context, id AccountID, b *Batch) (uint64, error) {
	sealed := *b
	size := 0
	for _, op := range b.ops {
		if !op.Delete {
			size += len(op.Value) + sealSize
		}
	}
	sealed.ops = make([]Op, len(b.ops))
	memory := make([]byte, 0, size)
	var bound []byte
	for i, op := range b.ops {
		sealed.ops[i] = op
		if op.Delete {
			continue
		}
		at := len(memory)
		bound = appendKey(bound[:0], id, op.Key)
		var err error
		if memory, err = s.seal(memory, op.Value, bound); err != nil {
			return 0, err
		}
		sealed.ops[i].Value = memory[at:len(memory):len(memory)]
	}
	if b.hasRow {
		s.mu.Lock()
		name, known := s.names[id]
		s.mu.Unlock()
		if !known {
			return 0, ErrNoAccount // it was neither made nor opened here
		}
		var err error
		if sealed.row, err = s.seal(nil, b.row, appendAccount(nil, name)); err != nil {
			return 0, err
		}
	}
	return s.Backend.Apply(ctx, id, &sealed)
}

// resealRows is how many rows Reseal writes at once.
const resealRows = 256

// Reseal writes the rows of an account anew that are sealed with an older key, and
// returns how many there were. Afterwards the older keys are not needed for the
// account. A row that somebody else changes meanwhile is sealed with the current key
// by that. The account must not have an owner, and a durable account that has it
// open sees its rows as changed by another process.
func (s *Sealed) Reseal(ctx context.Context, name string) (n int, err error) {
	a, err := s.Backend.OpenAccount(ctx, name)
	if err != nil {
		return 0, err
	}
	row, err := s.open(0, a.Row.Value, appendAccount(nil, name))
	if err != nil {
		return 0, err
	}
	s.remember(a.ID, name)
	if s.old(a.Row.Value) {
		b := new(Batch)
		b.Expect(Key{}, a.Row.Version)
		b.PutAccount(row)
		if n, err = s.rewrite(ctx, a.ID, b, 1); err != nil {
			return n, err
		}
	}
	for t := Identities; t.Valid(); t++ {
		for q := (Query{Table: t, Limit: resealRows}); ; {
			keys, err := s.List(ctx, a.ID, q)
			if err != nil {
				return n, err
			}
			if len(keys) == 0 {
				break
			}
			q.After = keys[len(keys)-1]
			recs, _, err := s.Backend.Read(ctx, a.ID, keys)
			if err != nil {
				return n, err
			}
			b := new(Batch)
			var bound []byte
			for i, r := range recs {
				if !r.Found || !s.old(r.Value) {
					continue
				}
				bound = appendKey(bound[:0], a.ID, keys[i])
				record, err := s.open(t, r.Value, bound)
				if err != nil { // which it says, rather than to make it look sound
					return n, err
				}
				b.Expect(keys[i], r.Version)
				b.Put(keys[i], record)
			}
			done, err := s.rewrite(ctx, a.ID, b, b.Len())
			if n += done; err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// old reports whether a record is sealed with a key that is not the current one.
func (s *Sealed) old(sealed []byte) bool {
	return len(sealed) >= sealSize && binary.BigEndian.Uint32(sealed[1:]) != s.current
}

// rewrite applies a batch of rows that are written anew, one by one if some of them
// were changed meanwhile.
func (s *Sealed) rewrite(ctx context.Context, id AccountID, b *Batch, rows int) (n int, err error) {
	if rows == 0 {
		return 0, nil
	}
	_, err = s.Apply(ctx, id, b)
	if err == nil {
		return rows, nil
	}
	if !errors.Is(err, ErrConflict) || rows == 1 {
		if errors.Is(err, ErrConflict) {
			err = nil // who has changed it has sealed it
		}
		return 0, err
	}
	for i, op := range b.ops {
		one := new(Batch)
		one.Expect(op.Key, b.expects[i].Version)
		one.Put(op.Key, op.Value)
		done, err := s.rewrite(ctx, id, one, 1)
		if n += done; err != nil {
			return n, err
		}
	}
	return n, nil
}
