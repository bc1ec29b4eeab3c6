package send

import (
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A reported is a field that is part of what is reported. Of a field with a list
// only the fields of the list are, and of one that is a message those that are
// reported of every message.
type reported struct {
	num     protowire.Number
	list    []reported
	message bool
}

// plainly returns fields that are reported as they are.
func plainly(nums ...protowire.Number) []reported {
	out := make([]reported, len(nums))
	for i, n := range nums {
		out[i].num = n
	}
	return out
}

// with adds a field with a list.
func with(list []reported, num protowire.Number, of ...reported) []reported {
	return append(list, reported{num: num, list: of})
}

// reportedFields is what is reported of a message, by field number, ascending.
// A context has only whether, and how often, it was forwarded.
var reportedFields = func() []reported {
	forwarded := plainly(21, 22)
	inner := []reported{{num: 1, message: true}}
	video := with(plainly(2, 6, 7, 13, 20), 17, forwarded...)
	poll := with(with(with(plainly(2), 3, plainly(1, 2)...), 5, forwarded...), 8, plainly(1, 2)...)
	out := plainly(1)
	out = with(out, 3, with(plainly(2, 3, 8, 11, 25), 17, forwarded...)...)
	out = with(out, 4, with(plainly(1, 16), 17, forwarded...)...)
	out = with(out, 5, with(plainly(3, 4, 5, 16), 17, forwarded...)...)
	out = with(out, 6, with(plainly(1, 30), 17, forwarded...)...)
	out = with(out, 7, with(plainly(2, 7, 10, 20), 17, forwarded...)...)
	out = with(out, 8, with(plainly(2, 7, 9, 21), 17, forwarded...)...)
	out = with(out, 9, video...)
	out = with(out, 12, append(plainly(1, 2, 15), reported{num: 14, message: true})...)
	out = with(out, 18, with(plainly(6, 16), 17, forwarded...)...)
	out = with(out, 26, with(plainly(4, 5, 8, 13), 17, forwarded...)...)
	out = with(out, 28, with(plainly(1, 2, 4, 5, 6), 7, forwarded...)...)
	out = with(out, 37, inner...)
	out = with(out, 49, poll...)
	for _, num := range []protowire.Number{53, 55, 58, 59} {
		out = with(out, num, inner...)
	}
	out = with(out, 60, poll...)
	out = with(out, 64, poll...)
	out = with(out, 66, video...)
	out = with(out, 74, inner...)
	out = with(out, 87, inner...)
	out = with(out, 88, with(with(plainly(1), 2, plainly(1)...), 3, forwarded...)...)
	for _, num := range []protowire.Number{92, 93, 94} {
		out = with(out, num, inner...)
	}
	return out
}()

// maxReportedDepth bounds how deep messages are looked into. What is deeper is
// not reported.
const maxReportedDepth = 32

// ReportingContent returns what is reported of an encoded message, which is what
// a reporting token is made over: the fields that are reported, by their numbers,
// in ascending order at each level, those of one number in the order that they
// have. It is empty for a message without such fields. A level that does not
// parse has none, one that ends within a value has those before.
func ReportingContent(message []byte) []byte {
	return appendReported(make([]byte, 0, len(message)), message, reportedFields, 0, nil)
}

// A span is a field of a level that was written.
type span struct {
	num      protowire.Number
	from, to int
}

// outermost is what else is to be seen in the fields of a message itself.
type outermost struct {
	unreported bool   // it is of a kind that has no token
	secret     []byte // of its context, nil if there is none; of several the last
	irregular  bool   // not all of it was read
}

func (o *outermost) fail() {
	if o != nil {
		o.irregular = true
	}
}

// see looks at a field.
func (o *outermost) see(num protowire.Number, typ protowire.Type, value []byte) {
	switch num {
	case fieldReaction, fieldEncReaction, fieldPollUpdate, fieldKeepInChat:
		o.unreported = true
	case fieldContext:
		if v, k := protowire.ConsumeBytes(value); typ == protowire.BytesType && k > 0 {
			if s := messageSecret(v); s != nil {
				o.secret = s
			}
		}
	}
}

// appendReported appends what is reported of b. top, if not nil, is told of all
// fields.
func appendReported(dst, b []byte, list []reported, depth int, top *outermost) []byte {
	start := len(dst)
	if depth > maxReportedDepth {
		return dst
	}
	var few [16]span
	spans := few[:0]
	sorted := true
	for len(b) > 0 {
		tag, n := protowire.ConsumeVarint(b)
		if n < 0 {
			top.fail()
			return dst[:start]
		}
		num, typ := protowire.Number(tag>>3), protowire.Type(tag&7)
		size, whole, ok := valueSize(typ, b[n:])
		if !ok {
			top.fail()
			return dst[:start]
		}
		if !whole {
			top.fail()
			break
		}
		field := b[:n+size]
		b = b[n+size:]
		if top != nil {
			if tag>>3 == 0 || tag>>3 > math.MaxInt32 {
				top.fail()
			}
			top.see(num, typ, field[n:])
		}
		i := slices.IndexFunc(list, func(r reported) bool { return r.num == num })
		if i < 0 || tag>>3 > math.MaxInt32 {
			continue
		}
		from := len(dst)
		if r := &list[i]; typ == protowire.BytesType && (r.message || r.list != nil) {
			of := r.list
			if r.message {
				of = reportedFields
			}
			_, k := protowire.ConsumeVarint(field[n:])
			dst = appendFiltered(dst, field[:n], field[n+k:], of, depth)
		} else {
			dst = append(dst, field...)
		}
		if len(dst) == from {
			continue
		}
		if len(spans) > 0 && num < spans[len(spans)-1].num {
			sorted = false
		}
		spans = append(spans, span{num, from, len(dst)})
	}
	if sorted {
		return dst
	}
	slices.SortStableFunc(spans, func(a, b span) int { return int(a.num) - int(b.num) })
	level := slices.Clone(dst[start:])
	dst = dst[:start]
	for _, s := range spans {
		dst = append(dst, level[s.from-start:s.to-start]...)
	}
	return dst
}

// appendFiltered appends a field with what is reported of its value, under its
// own tag, or nothing.
func appendFiltered(dst, tag, value []byte, list []reported, depth int) []byte {
	start := len(dst)
	dst = append(dst, tag...)
	from := len(dst)
	dst = appendReported(dst, value, list, depth+1, nil)
	n := len(dst) - from
	if n == 0 {
		return dst[:start]
	}
	// The length goes in front of what was written.
	head := protowire.SizeVarint(uint64(n))
	dst = append(dst, make([]byte, head)...)
	copy(dst[from+head:], dst[from:from+n])
	protowire.AppendVarint(dst[:from], uint64(n))
	return dst
}

// valueSize returns the size of a value in wire form. ok is false if there is no
// such value; whole is false if it goes beyond the end.
func valueSize(typ protowire.Type, b []byte) (size int, whole, ok bool) {
	switch typ {
	case protowire.VarintType:
		_, n := protowire.ConsumeVarint(b)
		return n, true, n > 0
	case protowire.Fixed64Type:
		return 8, len(b) >= 8, true
	case protowire.Fixed32Type:
		return 4, len(b) >= 4, true
	case protowire.BytesType:
		l, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return 0, false, false
		}
		if l > uint64(len(b)-n) {
			return 0, false, true
		}
		return n + int(l), true, true
	}
	return 0, false, false // groups, and what is no type
}
