package signal

import (
	"context"
	"slices"
	"time"

	"github.com/sigcore/sigcore/signal/store"
)

// SweepOptions says what a sweep removes: what is older than Before, and what is
// of a device that is not Live. Both are optional; with neither, nothing is.
type SweepOptions struct {
	// Before, unless zero, removes sessions and sender keys that were last
	// written on an earlier day than that of Before, in UTC. Those of which the
	// day is not known stay.
	Before time.Time

	// Live, unless nil, reports whether a device exists. What is of one that
	// does not is removed. It is called with locks held: it must not call the
	// account.
	Live func(Address) bool

	// Identities has identities removed as well, of devices that are not Live and
	// have no session left.
	// Then another identity of the same address is no change of which anybody is
	// told, with TrustPinned too.
	Identities bool
}

// SweptRow is a row that a sweep has removed.
type SweptRow struct {
	Table store.Table // Sessions, SenderKeys or Identities
	Addr  Address
	Group string // of a sender key
	Bytes int
}

// SweepReport is what a sweep did.
type SweepReport struct {
	Removed []SweptRow
	Bytes   int64 // of what was removed

	// What would have been removed, and was not.
	Pending    int // sessions that were started here and not answered
	Leased     int // sessions and sender keys with reserved counters
	Own        int // sender keys that we send with
	Unreadable int // records that cannot be read
}

// sweepSize bounds the rows of one transaction.
const sweepSize = 64

// Sweep removes sessions and sender keys of others, and identities if asked to,
// as o says. Nothing is removed unless a call of Sweep asks for it. It never
// removes a session that the peer may not know yet, because it was started here
// and not answered, nor a row whose lease covers counters that may be in use, nor
// a sender key of our own, nor what cannot be read.
//
// It works in transactions of at most 64 rows, under the locks of these alone,
// and decides on what it reads under the lock: a session that comes into use
// meanwhile stays. If it fails, the report is about the transactions before; what
// is left the next sweep removes.
func (a *Account) Sweep(ctx context.Context, o SweepOptions) (SweepReport, error) {
	var total SweepReport
	tables := []store.Table{store.Sessions, store.SenderKeys}
	if o.Identities && o.Live != nil {
		tables = append(tables, store.Identities)
	}
	if o.Before.IsZero() && o.Live == nil {
		return total, nil
	}
	for _, t := range tables {
		err := a.eachPage(ctx, t, "", func(page []store.Key) error {
			if t == store.Identities || o.Before.IsZero() {
				// Only the name counts: do not read what stays.
				page = slices.DeleteFunc(page, func(k store.Key) bool {
					addr, ok := addressOf(k)
					return !ok || o.Live(addr)
				})
			}
			for keys := range slices.Chunk(page, sweepSize) {
				var r SweepReport
				err := a.update(ctx, "sweep", withSessions(keys), nil, func(recs []store.Record, b *store.Batch) error {
					r = SweepReport{}
					for i, k := range keys {
						if k.Table == store.Identities && recs[len(keys)+i].Found {
							continue // the session was not removed
						}
						if recs[i].Found && r.remove(o, k, recs[i].Value) {
							b.Delete(k)
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
				total.plus(&r)
			}
			return nil
		})
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// withSessions returns the keys, followed by those of the sessions of identities.
func withSessions(keys []store.Key) []store.Key {
	rows := slices.Clone(keys)
	for _, k := range keys {
		if k.Table == store.Identities {
			rows = append(rows, store.Session(k.Name))
		}
	}
	return rows
}

// remove decides on a row and counts it.
func (r *SweepReport) remove(o SweepOptions, k store.Key, rec []byte) bool {
	row := SweptRow{Table: k.Table, Bytes: len(rec)}
	var ok bool
	if k.Table == store.SenderKeys {
		var n SenderKeyName
		n, ok = parseSenderKeyName(k.Name)
		row.Group, row.Addr = n.Group, n.Sender
	} else {
		row.Addr, ok = parseAddress(k.Name)
	}
	if !ok {
		return false
	}
	var last day
	var keep *int
	switch k.Table {
	case store.Sessions:
		last, keep = r.session(rec)
	case store.SenderKeys:
		last, keep = r.senderKey(rec)
	}
	switch {
	case !o.wants(row, last):
		return false
	case keep != nil:
		*keep++
		return false
	}
	r.Removed = append(r.Removed, row)
	r.Bytes += int64(row.Bytes)
	return true
}

// wants reports whether a row is one that o is about.
func (o *SweepOptions) wants(row SweptRow, last day) bool {
	if o.Live != nil && !o.Live(row.Addr) {
		return true
	}
	return !o.Before.IsZero() && last != 0 && last < dayOf(o.Before)
}

// session returns when a session was last used, and where it counts if it must
// stay, else nil.
func (r *SweepReport) session(rec []byte) (last day, keep *int) {
	s, err := ParseSession(rec)
	switch {
	case err != nil:
		return 0, &r.Unreadable
	case s.Pending():
		return s.used, &r.Pending
	case s.leased():
		return s.used, &r.Leased
	}
	return s.used, nil
}

// senderKey is session for a sender key.
func (r *SweepReport) senderKey(rec []byte) (last day, keep *int) {
	k, err := ParseSenderKey(rec)
	switch {
	case err != nil:
		return 0, &r.Unreadable
	case k.own():
		return k.used, &r.Own
	case k.leased():
		return k.used, &r.Leased
	}
	return k.used, nil
}

func (r *SweepReport) plus(o *SweepReport) {
	r.Removed = append(r.Removed, o.Removed...)
	r.Bytes += o.Bytes
	r.Pending += o.Pending
	r.Leased += o.Leased
	r.Own += o.Own
	r.Unreadable += o.Unreadable
}
