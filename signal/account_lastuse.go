package signal

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The row of a session or sender key says on which day it was last written, in
// field 103 of the record, which readers of it skip. So it costs no write of its
// own. Exports do not have it.

const tagLastUse = 103 << 3

// A day is one since 1970, in UTC; 0 is not known.
type day uint32

func dayOf(t time.Time) day {
	return day(max(0, min(t.Unix()/(24*60*60), 1<<32-1)))
}

// start returns when the day began; the zero time if it is not known.
func (d day) start() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix(int64(d)*24*60*60, 0).UTC()
}

// append appends the field to a record, if the day is known.
func (d day) append(rec []byte) []byte {
	if d == 0 {
		return rec
	}
	return protowire.AppendVarint(protowire.AppendVarint(rec, tagLastUse), uint64(d))
}

// lastUse returns the day of a record.
func lastUse(rec []byte) (d day) {
	r := fieldReader{b: rec}
	for r.next() {
		if r.num == tagLastUse>>3 && r.typ == protowire.VarintType && r.v <= 1<<32-1 {
			d = day(r.v)
		}
	}
	return d
}
