package binary

import (
	"errors"
	"strconv"
	"time"
)

// The reasons why an attribute is not what its reader expects. They arrive
// wrapped in an *[AttrError].
var (
	ErrMissingAttr = errors.New("attribute is missing")
	ErrAttrSyntax  = errors.New("attribute has another form")
)

// AttrError is an error of an [AttrReader]. It does not tell the value.
type AttrError struct {
	Key string
	Err error
}

func (e *AttrError) Error() string {
	return "binary: attribute " + strconv.Quote(e.Key) + ": " + e.Err.Error()
}

func (e *AttrError) Unwrap() error { return e.Err }

// AttrReader reads the attributes of a node one by one and collects what is
// wrong with them, so that a caller asks once, at the end, with [AttrReader.Err].
// A method that finds an error returns the zero value. The methods with
// Optional in their name do not mind an attribute that is not there, but one of
// another form.
type AttrReader struct {
	n    *Node
	errs []error
}

// Read returns a reader of the attributes of n.
func (n *Node) Read() AttrReader { return AttrReader{n: n} }

// Err returns all errors so far, joined, or nil.
func (r *AttrReader) Err() error { return errors.Join(r.errs...) }

func (r *AttrReader) fail(key string, err error) {
	r.errs = append(r.errs, &AttrError{key, err})
}

// read returns what parse makes of an attribute.
func read[T any](r *AttrReader, key string, required bool, parse func(Value) (T, bool)) (v T, ok bool) {
	a, ok := r.n.Attr(key)
	if !ok {
		if required {
			r.fail(key, ErrMissingAttr)
		}
		return v, false
	}
	if v, ok = parse(a); !ok {
		r.fail(key, ErrAttrSyntax)
		var zero T
		return zero, false
	}
	return v, true
}

// need is read for an attribute that has to be there.
func need[T any](r *AttrReader, key string, parse func(Value) (T, bool)) T {
	v, _ := read(r, key, true, parse)
	return v
}

func asText(v Value) (string, bool) { return v.String(), true }

func asJID(v Value) (JID, bool) {
	if j, ok := v.JID(); ok {
		return j, true
	}
	j, err := ParseJID(v.text)
	return j, err == nil
}

func asInt(v Value) (int64, bool) {
	n, err := strconv.ParseInt(v.text, 10, 64)
	return n, err == nil && !v.jid
}

func asUint(v Value) (uint64, bool) {
	n, err := strconv.ParseUint(v.text, 10, 64)
	return n, err == nil && !v.jid
}

func asTime(v Value) (time.Time, bool) {
	n, ok := asInt(v)
	return time.Unix(n, 0), ok
}

func asTimeMilli(v Value) (time.Time, bool) {
	n, ok := asInt(v)
	return time.UnixMilli(n), ok
}

func asBool(v Value) (value, ok bool) {
	if v.jid {
		return false, false
	}
	switch v.text {
	case "1", "true", "True", "t", "T", "TRUE":
		return true, true
	case "0", "false", "False", "f", "F", "FALSE":
		return false, true
	}
	return false, false
}

// Text returns a text, or the display form of a JID.
func (r *AttrReader) Text(key string) string { return need(r, key, asText) }

// OptionalText returns a text, or the display form of a JID, if it is there.
func (r *AttrReader) OptionalText(key string) (string, bool) { return read(r, key, false, asText) }

// JID returns a JID, typed or what [ParseJID] makes of a text.
func (r *AttrReader) JID(key string) JID { return need(r, key, asJID) }

// OptionalJID returns a JID if it is there.
func (r *AttrReader) OptionalJID(key string) (JID, bool) { return read(r, key, false, asJID) }

// Int returns a decimal number.
func (r *AttrReader) Int(key string) int64 { return need(r, key, asInt) }

// OptionalInt returns a decimal number if it is there.
func (r *AttrReader) OptionalInt(key string) (int64, bool) { return read(r, key, false, asInt) }

// Uint returns a decimal number without sign.
func (r *AttrReader) Uint(key string) uint64 { return need(r, key, asUint) }

// OptionalUint returns a decimal number without sign if it is there.
func (r *AttrReader) OptionalUint(key string) (uint64, bool) { return read(r, key, false, asUint) }

// Time returns a time in seconds since 1970.
func (r *AttrReader) Time(key string) time.Time { return need(r, key, asTime) }

// OptionalTime returns a time in seconds since 1970 if it is there.
func (r *AttrReader) OptionalTime(key string) (time.Time, bool) { return read(r, key, false, asTime) }

// TimeMilli returns a time in milliseconds since 1970.
func (r *AttrReader) TimeMilli(key string) time.Time { return need(r, key, asTimeMilli) }

// OptionalTimeMilli returns a time in milliseconds since 1970 if it is there.
func (r *AttrReader) OptionalTimeMilli(key string) (time.Time, bool) {
	return read(r, key, false, asTimeMilli)
}

// Bool returns a truth value: 1, t, T, true, True, TRUE, or 0 and so on.
func (r *AttrReader) Bool(key string) bool { return need(r, key, asBool) }

// OptionalBool returns a truth value if it is there.
func (r *AttrReader) OptionalBool(key string) (value, ok bool) { return read(r, key, false, asBool) }
