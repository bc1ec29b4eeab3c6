package signal

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// RowUsage is how many rows of a kind there are and what is in them, in bytes,
// without what a database adds to each.
type RowUsage struct {
	Rows  int
	Bytes int64
}

func (u *RowUsage) add(n int) {
	u.Rows++
	u.Bytes += int64(n)
}

// Usage is what an account keeps.
type Usage struct {
	Sessions         RowUsage
	Identities       RowUsage
	PreKeys          RowUsage
	SignedPreKeys    RowUsage
	SenderKeys       RowUsage
	SenderKeyDevices RowUsage
	LIDs             RowUsage
	BaseKeys         RowUsage

	// Of all sessions and sender keys that can be read.
	Archived    int // sessions that were superseded
	Pending     int // sessions that were started here and not answered
	SkippedKeys int // of messages that did not come yet, in both

	Unreadable int // sessions and sender keys that cannot be read
}

// Bytes returns the sum over all kinds.
func (u *Usage) Bytes() (n int64) {
	for t := store.Identities; t.Valid(); t++ {
		n += u.table(t).Bytes
	}
	return n
}

func (u *Usage) table(t store.Table) *RowUsage {
	switch t {
	case store.Identities:
		return &u.Identities
	case store.Sessions:
		return &u.Sessions
	case store.PreKeys:
		return &u.PreKeys
	case store.SignedPreKeys:
		return &u.SignedPreKeys
	case store.SenderKeys:
		return &u.SenderKeys
	case store.SenderKeyDevices:
		return &u.SenderKeyDevices
	case store.LIDs:
		return &u.LIDs
	case store.BaseKeys:
		return &u.BaseKeys
	}
	panic("signal: internal error: unknown table")
}

// AddressUsage is what an account keeps about one address.
type AddressUsage struct {
	Addr Address

	Session      bool // there is a current session
	SessionBytes int
	Archived     int
	Pending      bool
	Leased       bool // counters are reserved that are not used yet

	Identity bool // an identity is known

	SenderKeys     int // of the address, in as many groups
	SenderKeyBytes int

	SkippedKeys int // in the session and the sender keys
	Unreadable  int // records that cannot be read

	// LastUse is the day, as its beginning in UTC, on which the session or a
	// sender key was last written; zero if that is not known.
	LastUse time.Time
}

// Usage reads everything that the account keeps, a few rows at a time, and sums
// it up. What is written meanwhile may be counted or not.
func (a *Account) Usage(ctx context.Context) (Usage, error) {
	u, _, err := a.survey(ctx, false)
	return u, err
}

// AddressUsages is Usage for each address that there is a session, an identity or
// a sender key of, in ascending order. Sender keys of our own are under our own
// address.
func (a *Account) AddressUsages(ctx context.Context) ([]AddressUsage, error) {
	_, addrs, err := a.survey(ctx, true)
	if err != nil {
		return nil, err
	}
	return slices.SortedFunc(maps.Values(addrs), func(a, b AddressUsage) int { return a.Addr.compare(b.Addr) }), nil
}

// surveySize is how many rows are in memory at a time: a session can have some
// hundred kilobytes.
const surveySize = 32

func (a *Account) survey(ctx context.Context, each bool) (u Usage, addrs map[Address]AddressUsage, err error) {
	addrs = map[Address]AddressUsage{}
	for t := store.Identities; t.Valid(); t++ {
		err := a.eachPage(ctx, t, "", func(page []store.Key) error {
			for keys := range slices.Chunk(page, surveySize) {
				recs, err := a.load(ctx, t.String(), keys...)
				if err != nil {
					return err
				}
				for i, r := range recs {
					if !r.Found {
						continue
					}
					u.table(t).add(len(r.Value))
					addr, ok := addressOf(keys[i])
					if t != store.Identities && t != store.Sessions && t != store.SenderKeys || !ok {
						continue
					}
					one := AddressUsage{Addr: addr}
					one.add(t, r.Value)
					u.Archived += one.Archived
					u.SkippedKeys += one.SkippedKeys
					u.Unreadable += one.Unreadable
					if one.Pending {
						u.Pending++
					}
					if each {
						addrs[addr] = addrs[addr].plus(one)
					}
				}
			}
			return nil
		})
		if err != nil {
			return u, nil, err
		}
	}
	return u, addrs, nil
}

// addressOf returns the address that a row of an identity, session or sender key
// is about.
func addressOf(k store.Key) (Address, bool) {
	if k.Table == store.SenderKeys {
		n, ok := parseSenderKeyName(k.Name)
		return n.Sender, ok
	}
	return parseAddress(k.Name)
}

// add counts a row.
func (u *AddressUsage) add(t store.Table, rec []byte) {
	switch t {
	case store.Identities:
		u.Identity = true
	case store.Sessions:
		u.SessionBytes = len(rec)
		s, err := ParseSession(rec)
		if err != nil {
			u.Unreadable++
			return
		}
		u.Session, u.Archived, u.Pending = s.HasCurrent(), s.Archived(), s.Pending()
		u.Leased, u.LastUse = s.leased(), s.used.start()
		u.SkippedKeys = s.skippedKeys()
	case store.SenderKeys:
		u.SenderKeys, u.SenderKeyBytes = 1, len(rec)
		k, err := ParseSenderKey(rec)
		if err != nil {
			u.Unreadable++
			return
		}
		u.Leased, u.LastUse = k.leased(), k.used.start()
		for _, st := range k.states {
			u.SkippedKeys += st.skipped.len()
		}
	}
}

// plus returns the sum of what is known from different rows of one address.
func (u AddressUsage) plus(o AddressUsage) AddressUsage {
	if u.LastUse.Before(o.LastUse) {
		u.LastUse = o.LastUse
	}
	return AddressUsage{
		Addr:           o.Addr,
		Session:        u.Session || o.Session,
		SessionBytes:   u.SessionBytes + o.SessionBytes,
		Archived:       u.Archived + o.Archived,
		Pending:        u.Pending || o.Pending,
		Leased:         u.Leased || o.Leased,
		Identity:       u.Identity || o.Identity,
		SenderKeys:     u.SenderKeys + o.SenderKeys,
		SenderKeyBytes: u.SenderKeyBytes + o.SenderKeyBytes,
		SkippedKeys:    u.SkippedKeys + o.SkippedKeys,
		Unreadable:     u.Unreadable + o.Unreadable,
		LastUse:        u.LastUse,
	}
}

// skippedKeys returns the number of skipped keys of all sessions that can be
// read.
func (s *Session) skippedKeys() int {
	n := s.Skipped()
	for _, st := range s.archived {
		if st.load() != nil {
			continue
		}
		for i := range st.receivers {
			n += st.receivers[i].skipped.len()
		}
	}
	return n
}

// leased reports whether counters are reserved that the record does not show as
// used.
func (s *Session) leased() bool {
	return s.current != nil && s.lease.ceiling > s.SenderCounter()
}

// leased is Session.leased for a sender key.
func (k *SenderKey) leased() bool {
	return len(k.states) > 0 && k.lease.ceiling > k.Iteration()
}

// AddressUsage returns what is kept about one address. It lists the sender keys
// of the account to find those of the address.
func (a *Account) AddressUsage(ctx context.Context, addr Address) (u AddressUsage, err error) {
	u.Addr = addr
	rows := peerKeys(nil, addr)
	err = a.eachPage(ctx, store.SenderKeys, "", func(keys []store.Key) error {
		for _, k := range keys {
			if of, ok := addressOf(k); ok && of == addr {
				rows = append(rows, k)
			}
		}
		return nil
	})
	if err != nil {
		return u, err
	}
	for keys := range slices.Chunk(rows, surveySize) {
		recs, err := a.load(ctx, "records of an address", keys...)
		if err != nil {
			return AddressUsage{Addr: addr}, err
		}
		for i, r := range recs {
			if r.Found {
				one := AddressUsage{Addr: addr}
				one.add(keys[i].Table, r.Value)
				u = u.plus(one)
			}
		}
	}
	return u, nil
}
