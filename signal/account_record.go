package signal

import (
	"bytes"
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
// session with it. A record that does not parse counts as none in the list and
// is in the error of any operation on it.
func (a *Account) HasSessions(ctx context.Context, addrs []Address) ([]bool, error) {
	keys := make([]store.Key, len(addrs))
	for i, addr := range addrs {
		keys[i] = store.Session(addr.String())
	}
	recs, err := a.load(ctx, "sessions", keys...)
	if err != nil {
		return nil, err
	}
	out := make([]bool, len(addrs))
	for i, r := range recs {
		if r.Found {
			s, err := ParseSession(r.Value)
			out[i] = err == nil && s.HasCurrent()
		}
	}
	return out, nil
}

// SessionInfo returns the facts about the session record of addr; all zero if
// there is none.
func (a *Account) SessionInfo(ctx context.Context, addr Address) (info SessionInfo, err error) {
	recs, err := a.load(ctx, "session", store.Session(addr.String()))
	if err != nil || !recs[0].Found {
		return info, err
	}
	s, err := ParseSession(recs[0].Value)
	if err != nil {
		return info, err
	}
	info = SessionInfo{Exists: s.HasCurrent(), Archived: s.Archived(), RecordBytes: len(recs[0].Value)}
	if info.Exists {
		info.Pending, info.Skipped, info.SenderCounter = s.Pending(), s.Skipped(), s.SenderCounter()
		info.RemoteIdentity, _ = s.RemoteIdentity()
		info.RemoteRegistrationID = s.RemoteRegistrationID()
		if p := &s.current.pending; info.Pending {
			info.SignedPreKeyID, info.HasPreKey, info.PreKeyID = p.signedPreKeyID, p.hasPreKeyID, p.preKeyID
		}
	}
	return info, nil
}

// ExportSession returns the session record of addr. It is exact: no counter is
// skipped. An export is a move: whoever goes on to use both the session that
// was exported and the one imported from it uses message keys twice. Errors:
// ErrNoSession.
func (a *Account) ExportSession(ctx context.Context, addr Address, f RecordFormat) ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	locks, err := a.lockSessions(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer locks.release()
	recs, err := a.load(ctx, "session", store.Session(addr.String()))
	if err != nil {
		return nil, err
	}
	if !recs[0].Found {
		return nil, ErrNoSession
	}
	s, err := ParseSession(recs[0].Value)
	switch {
	case err != nil:
		return nil, err
	case !s.HasCurrent() && s.Archived() == 0:
		return nil, ErrNoSession
	case f == FormatSignalProtobuf:
		return s.AppendPortable(nil), nil
	}
	return s.AppendBinary(nil)
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
	locks, err := a.lockSessions(ctx, addr)
	if err != nil {
		return err
	}
	defer locks.release()
	p := peer{addr: addr, session: s, dirty: true}
	var b store.Batch
	if err := p.put(&b); err != nil {
		return err
	}
	return a.save(ctx, "session", &b)
}

// DeleteSession deletes the session record of addr, whatever is in it. The
// identity of addr stays known. Deleting an absent one is not an error.
func (a *Account) DeleteSession(ctx context.Context, addr Address) error {
	locks, err := a.lockSessions(ctx, addr)
	if err != nil {
		return err
	}
	defer locks.release()
	var b store.Batch
	b.Delete(store.Session(addr.String()))
	return a.save(ctx, "session", &b)
}

// sameRecord reports whether a record is stored as rec already.
func sameRecord(r store.Record, rec []byte) bool { return r.Found && bytes.Equal(r.Value, rec) }
