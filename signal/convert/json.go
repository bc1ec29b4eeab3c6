package convert

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
)

// maxDepth bounds the nesting of values that are skipped.
const maxDepth = 512

// A decoder reads JSON by calling back, so that a record costs memory for what
// it holds and none for a tree of values. The first error stays, and stops
// everything.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = corrupt(format, args...)
	}
}

// failed reports the error to a loop, and makes it end.
func (d *decoder) failed() bool { return d.err != nil }

func (d *decoder) space() {
	i := 0
	for i < len(d.b) && (d.b[i] == ' ' || d.b[i] == '\t' || d.b[i] == '\n' || d.b[i] == '\r') {
		i++
	}
	d.b = d.b[i:]
}

// peek returns the first byte of the next token, 0 at the end and after an
// error.
func (d *decoder) peek() byte {
	if d.err != nil {
		return 0
	}
	d.space()
	if len(d.b) == 0 {
		return 0
	}
	return d.b[0]
}

// take reads a punctuation mark.
func (d *decoder) take(c byte) {
	if d.peek() != c {
		d.fail("JSON without %q", c)
		return
	}
	d.b = d.b[1:]
}

// word reads a literal if it is next.
func (d *decoder) word(w string) bool {
	d.space()
	if d.err != nil || !bytes.HasPrefix(d.b, []byte(w)) {
		return false
	}
	d.b = d.b[len(w):]
	return true
}

// null reads a null if it is next.
func (d *decoder) null() bool { return d.peek() == 'n' && d.word("null") }

// end is called after the outermost value.
func (d *decoder) end() error {
	if d.peek() != 0 || len(d.b) > 0 {
		d.fail("JSON with %d bytes after it", len(d.b))
	}
	return d.err
}

// object reads an object and calls field for each name, to read the value.
func (d *decoder) object(field func(name string)) {
	d.take('{')
	if d.peek() == '}' {
		d.take('}')
		return
	}
	for !d.failed() {
		name := d.text()
		d.take(':')
		if d.failed() {
			return
		}
		field(name)
		if d.peek() != ',' {
			d.take('}')
			return
		}
		d.take(',')
	}
}

// array reads an array and calls element for each value, to read it.
func (d *decoder) array(element func()) {
	d.take('[')
	if d.peek() == ']' {
		d.take(']')
		return
	}
	for !d.failed() {
		element()
		if d.peek() != ',' {
			d.take(']')
			return
		}
		d.take(',')
	}
}

// quoted returns a string as it stands, with its quotation marks, and whether
// it has escapes.
func (d *decoder) quoted() (raw []byte, escaped bool) {
	if d.peek() != '"' {
		d.fail("JSON without a string")
		return nil, false
	}
	for i := 1; i < len(d.b); i++ {
		switch c := d.b[i]; {
		case c == '\\':
			escaped = true
			i++
		case c == '"':
			raw, d.b = d.b[:i+1], d.b[i+1:]
			return raw, escaped
		case c < ' ':
			d.fail("JSON string with a control character")
			return nil, false
		}
	}
	d.fail("JSON string without end")
	return nil, false
}

// text reads a string.
func (d *decoder) text() string { return string(d.content()) }

// content reads a string and returns what it stands for.
func (d *decoder) content() []byte {
	raw, escaped := d.quoted()
	switch {
	case d.failed():
		return nil
	case !escaped:
		return raw[1 : len(raw)-1]
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		d.fail("JSON string with a bad escape")
		return nil
	}
	return []byte(s)
}

// base64 reads a string of padded standard base64.
func (d *decoder) base64() []byte {
	s := d.content()
	if d.failed() {
		return nil
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(s)))
	n, err := base64.StdEncoding.Strict().Decode(out, s)
	if err != nil {
		d.fail("bad base64 of %d characters", len(s))
		return nil
	}
	return out[:n]
}

// optional reads base64 or null.
func (d *decoder) optional() []byte {
	if d.null() {
		return nil
	}
	return d.base64()
}

// sized reads base64 of size bytes.
func (d *decoder) sized(what string, size int) []byte {
	b := d.optional()
	if !d.failed() && len(b) != size {
		d.fail("%s of %d bytes", what, len(b))
	}
	return b
}

// sizedOrNone reads base64 of size bytes, or null or nothing for nil.
func (d *decoder) sizedOrNone(what string, size int) []byte {
	b := d.optional()
	if len(b) == 0 {
		return nil
	}
	if len(b) != size {
		d.fail("%s of %d bytes", what, len(b))
	}
	return b
}

// integer reads a whole number.
func (d *decoder) integer(what string) int64 {
	d.space()
	n := 0
	for n < len(d.b) && (d.b[n] == '-' || d.b[n] >= '0' && d.b[n] <= '9') {
		n++
	}
	v, err := strconv.ParseInt(string(d.b[:n]), 10, 64)
	if err != nil || n < len(d.b) && (d.b[n] == '.' || d.b[n] == 'e' || d.b[n] == 'E') {
		d.fail("%s is not a whole number", what)
		return 0
	}
	d.b = d.b[n:]
	return v
}

// uint32 reads a number of 32 bits.
func (d *decoder) uint32(what string) *uint32 {
	v := d.integer(what)
	if v < 0 || v > math.MaxUint32 {
		d.fail("%s is %d", what, v)
	}
	u := uint32(v)
	return &u
}

func (d *decoder) boolean(what string) bool {
	switch {
	case d.word("true"):
		return true
	case d.word("false"):
		return false
	}
	d.fail("%s is not true or false", what)
	return false
}

// skip reads a value of any kind. It does not recurse, so that nesting costs
// no stack.
func (d *decoder) skip() {
	var open [maxDepth]byte
	for depth := 0; ; {
		// A value, or the start of one.
		switch c := d.peek(); c {
		case '{', '[':
			d.b = d.b[1:]
			if depth == maxDepth {
				d.fail("JSON nested too deep")
				return
			}
			open[depth] = c + 2 // the closing mark
			depth++
			if d.peek() == c+2 {
				break
			}
			if c == '{' {
				d.quoted()
				d.take(':')
			}
			if d.failed() {
				return
			}
			continue
		case '"':
			d.quoted()
		case 't', 'f', 'n':
			if !d.word("true") && !d.word("false") && !d.word("null") {
				d.fail("JSON with an unknown word")
			}
		default:
			n := 0
			for n < len(d.b) && (d.b[n] >= '0' && d.b[n] <= '9' || bytes.IndexByte([]byte("+-.eE"), d.b[n]) >= 0) {
				n++
			}
			if !json.Valid(d.b[:n]) {
				d.fail("JSON without a value")
				return
			}
			d.b = d.b[n:]
		}
		// What follows a value.
		for {
			if d.failed() || depth == 0 {
				return
			}
			closing := open[depth-1]
			if d.peek() == closing {
				d.b = d.b[1:]
				depth--
				continue
			}
			d.take(',')
			if closing == '}' {
				d.quoted()
				d.take(':')
			}
			if d.failed() {
				return
			}
			break
		}
	}
}

// appendBase64 appends a string of base64, or null for nil.
func appendBase64(dst, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendUint appends a name, ready with its marks, and a number.
func appendUint(dst []byte, name string, v uint32) []byte {
	return strconv.AppendUint(append(dst, name...), uint64(v), 10)
}

// appendBytes appends a name, ready with its marks, and base64 or null.
func appendBytes(dst []byte, name string, b []byte) []byte {
	return appendBase64(append(dst, name...), b)
}
