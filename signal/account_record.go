package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// RecordFormat names a form in which session and sender-key records are
// exported and imported.
type RecordFormat string

const (
	// FormatSigcore is the form in which this package stores records: Signal's
	// protobuf with skipped keys as seeds.
	FormatSigcore RecordFormat = "sigcore"

	// FormatSignalProtobuf is Signal's protobuf as every reader of it
	// understands it: skipped keys are written out.
	FormatSignalProtobuf RecordFormat = "signal-protobuf"
)

func (f RecordFormat) check() error {
	if f != FormatSigcore && f != FormatSignalProtobuf {
		return fmt.Errorf("signal: unknown record format: %w", ErrMalformed)
	}
	return nil
}

// SessionInfo describes the session record of an address.
type SessionInfo struct {
	Exists               bool // there is a current session
	Archived             int  // number of superseded sessions
	Pending              bool // started here, and not answered
	Skipped              int  // skipped keys kept in the current session
	SenderCounter        uint32
	RemoteIdentity       PublicKey
	RemoteRegistrationID uint32
	RecordBytes          int

	// The prekeys of the bundle that a pending session was started from.
	SignedPreKeyID uint32
	HasPreKey      bool
	PreKeyID       uint32
}

// HasSession reports whether there is a current session with addr.
func (a *Account) HasSession(ctx context.Context, addr Address) (bool, error) {
	info, err := a.SessionInfo(ctx, addr)
	return info.Exists, err
}

// HasSessions reports for each address, in order, whether there is a current
// session with it. A record that does not parse is an error that wraps
// ErrCorruptRecord.
func (a *Account) HasSessions(ctx context.Context, addrs []Address) ([]bool, error) {
	keys := sessionKeys(addrs)
	out := make([]bool, len(addrs))
	err := a.view(ctx, "sessions", keys, keys, func(t *txn) error {
		for i, r := range t.asked {
			if r.err != nil {
				return fmt.Errorf("signal: session of address %d: %w", i, r.err)
			}
			out[i] = r.session != nil && r.session.HasCurrent()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SessionInfo returns the facts about the session record of addr; all zero if
// there is none.
func (a *Account) SessionInfo(ctx context.Context, addr Address) (info SessionInfo, err error) {
	key := sessionKeys([]Address{addr})
	err = a.view(ctx, "session", key, key, func(t *txn) error {
		info, err = t.asked[0].sessionInfo()
		return err
	})
	return info, err
}

func (r *row) sessionInfo() (info SessionInfo, err error) {
	if !r.exists || r.err != nil {
		return info, r.err
	}
	s := r.session
	rec, err := s.AppendBinary(nil)
	info = SessionInfo{Exists: s.HasCurrent(), Archived: s.Archived(), RecordBytes: len(rec)}
	if info.Exists {
		info.Pending, info.Skipped, info.SenderCounter = s.Pending(), s.Skipped(), s.SenderCounter()
		info.RemoteIdentity, _ = s.RemoteIdentity()
		info.RemoteRegistrationID = s.RemoteRegistrationID()
		if p := &s.current.pending; info.Pending {
			info.SignedPreKeyID, info.HasPreKey, info.PreKeyID = p.signedPreKeyID, p.hasPreKeyID, p.preKeyID
		}
	}
	return info, err
}

// ExportSession returns the session record of addr. It is exact: no counter is
// skipped. An export is a move: whoever goes on to use both the session that
// was exported and the one imported from it uses message keys twice. Errors:
// ErrNoSession.
func (a *Account) ExportSession(ctx context.Context, addr Address, f RecordFormat) ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	key := sessionKeys([]Address{addr})
	var out []byte
	err := a.run(ctx, "session", key, key, func(t *txn) error {
		r := t.asked[0]
		switch s := r.session; {
		case r.err != nil:
			return r.err
		case s == nil || !s.HasCurrent() && s.Archived() == 0:
			return ErrNoSession
		case f == FormatSignalProtobuf:
			out = s.AppendPortable(nil)
		default:
			exact := Session{current: s.current, archived: s.archived}
			var err error
			out, err = exact.AppendBinary(nil)
			return err
		}
		return nil
	})
	return out, err
}

// ImportSession replaces the session record of addr. The error wraps
// ErrCorruptRecord if data is not a record with a session, and then nothing is
// changed. Identities are not touched: the next message records the one of the
// session. Import is exact but for counters that the record says may have been
// used, below the ceiling of a lease: they are skipped.
func (a *Account) ImportSession(ctx context.Context, addr Address, f RecordFormat, data []byte) error {
	if err := f.check(); err != nil {
		return err
	}
	s, err := ParseSession(data)
	if err != nil {
		return err
	}
	if !s.HasCurrent() && s.Archived() == 0 {
		return fmt.Errorf("signal: import of a record without session: %w", ErrCorruptRecord)
	}
	s.waive()
	rec, err := s.AppendBinary(today().append(nil))
	if err != nil {
		return err
	}
	row := store.Session(addr.String())
	return a.update(ctx, "session", nil, []store.Key{row}, func(_ []store.Record, b *store.Batch) error {
		b.Put(row, rec)
		return nil
	})
}

// DeleteSession deletes the session record of addr, whatever is in it. The
// identity of addr stays known. Deleting an absent one is not an error.
func (a *Account) DeleteSession(ctx context.Context, addr Address) error {
	row := store.Session(addr.String())
	return a.update(ctx, "session", nil, []store.Key{row}, func(_ []store.Record, b *store.Batch) error {
		b.Delete(row)
		return nil
	})
}
