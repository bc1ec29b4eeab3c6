package signal

import (
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// The row of a session or sender key says on which day it was last changed, in
// field 103 of the record, which readers of it skip. So it costs no write of its
// own. The values do not write it, and exports do not have it. It is in front: a
// record that was cut short must not look whole.

const tagLastUse = 103 << 3

// A day is one since 1970, in UTC; 0 is not known.
type day uint32

func dayOf(t time.Time) day {
	return day(max(0, min(t.Unix()/(24*60*60), 1<<32-1)))
}

func today() day { return dayOf(time.Now()) }

// start returns when the day began; the zero time if it is not known.
func (d day) start() time.Time {
	if d == 0 {
		return time.Time{}
	}
	return time.Unix(int64(d)*24*60*60, 0).UTC()
}

// append appends the field, if the day is known.
func (d day) append(dst []byte) []byte {
	if d == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendVarint(dst, tagLastUse), uint64(d))
}

// room returns an empty buffer for the record of a row, which is about as long as
// the one before.
func (r *row) room() []byte { return make([]byte, 0, len(r.value)+128) }

// read reads the field. One that is malformed counts as not known.
func (d *day) read(r *fieldReader) {
	if *d = 0; r.typ == protowire.VarintType && r.v <= 1<<32-1 {
		*d = day(r.v)
	}
}

// use says that a row was changed today, and reports whether it said otherwise.
func (r *row) use() bool {
	d := r.used()
	if d == nil {
		return false
	}
	before := *d
	*d = today()
	return *d != before
}

func (r *row) used() *day {
	switch {
	case r.session != nil:
		return &r.session.used
	case r.senderKey != nil:
		return &r.senderKey.used
	}
	return nil
}
