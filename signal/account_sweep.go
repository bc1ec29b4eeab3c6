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

	// Identities has identities removed as well, of devices that are not Live.
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
				err := a.update(ctx, "sweep", keys, nil, func(recs []store.Record, b *store.Batch) error {
					r = SweepReport{}
					for i, k := range keys {
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
	if !ok || !o.wants(row, rec) || !r.free(k.Table, rec) {
		return false
	}
	r.Removed = append(r.Removed, row)
	r.Bytes += int64(row.Bytes)
	return true
}

// wants reports whether a row is one that o is about.
func (o *SweepOptions) wants(row SweptRow, rec []byte) bool {
	if o.Live != nil && !o.Live(row.Addr) {
		return true
	}
	if o.Before.IsZero() || row.Table == store.Identities {
		return false
	}
	d := lastUse(rec)
	return d != 0 && d < dayOf(o.Before)
}

// free reports whether a row may be removed, and counts why not.
func (r *SweepReport) free(t store.Table, rec []byte) bool {
	switch t {
	case store.Sessions:
		s, err := ParseSession(rec)
		switch {
		case err != nil:
			r.Unreadable++
		case s.Pending():
			r.Pending++
		case s.leased():
			r.Leased++
		default:
			return true
		}
	case store.SenderKeys:
		k, err := ParseSenderKey(rec)
		switch {
		case err != nil:
			r.Unreadable++
		case k.own():
			r.Own++
		case k.leased():
			r.Leased++
		default:
			return true
		}
	default:
		return true
	}
	return false
}

func (r *SweepReport) plus(o *SweepReport) {
	r.Removed = append(r.Removed, o.Removed...)
	r.Bytes += o.Bytes
	r.Pending += o.Pending
	r.Leased += o.Leased
	r.Own += o.Own
	r.Unreadable += o.Unreadable
}
