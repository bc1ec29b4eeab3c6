package binary

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// The tag bytes above the tokens.
const (
	tagListEmpty   = 0
	tagDictionary0 = 236
	tagDictionary3 = 239
	tagInteropJID  = 245
	tagFBJID       = 246
	tagADJID       = 247
	tagList8       = 248
	tagList16      = 249
	tagJIDPair     = 250
	tagHex8        = 251
	tagBinary8     = 252
	tagBinary20    = 253
	tagBinary32    = 254
	tagNibble8     = 255
)

const (
	maxListLen = 1<<16 - 1
	// maxEncodeDepth only guards against trees that contain themselves.
	maxEncodeDepth = 1024
	// maxJIDText is the length in bytes up to which a text is tried as a JID.
	maxJIDText = 48
)

// Marshal returns n with the flag byte 00 of an uncompressed frame in front. It
// computes the exact size first and allocates once.
//
// What it writes decodes to a node that is [Equal] to n; where the wire has no
// such form it returns an error that wraps [ErrEncode]: a device above 255 on
// a server of AD devices, a device without a user, an integrator on another
// server than interop, text that is not UTF-8, a list of more than 65535
// elements (an attribute counts two). A text is written as a JID only if it is
// exactly what that JID displays, so all other texts come back unchanged.
func Marshal(n *Node) ([]byte, error) { return AppendMarshal(nil, n) }

// AppendMarshal appends what [Marshal] returns to dst. It does not allocate if
// dst has the capacity. On error it returns dst as it was.
func AppendMarshal(dst []byte, n *Node) ([]byte, error) { return appendMarshal(dst, n, false) }

// MarshalCompat is [Marshal] with the rules of the reference implementation
// where encoders differ: every text of at most 48 bytes with an '@' becomes a
// JID, tags and keys included, whatever gets lost or cannot be read back, and
// JIDs drop what their short form has no room for.
func MarshalCompat(n *Node) ([]byte, error) { return appendMarshal(nil, n, true) }

func appendMarshal(dst []byte, n *Node, compat bool) ([]byte, error) {
	e := encoder{compat: compat}
	size, err := e.nodeSize(n, 0)
	if err != nil {
		return dst, err
	}
	start := len(dst)
	e.buf = append(slices.Grow(dst, 1+size), 0)
	e.node(n)
	if len(e.buf) != start+1+size {
		panic("binary: internal error: size of a node planned wrongly")
	}
	return e.buf, nil
}

// encoder writes nodes. Each put method has a size method that takes the same
// decisions and finds the errors.
type encoder struct {
	buf    []byte
	compat bool
}

func encodeError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEncode, fmt.Sprintf(format, args...))
}

func listSize(n int) int {
	switch {
	case n == 0:
		return 1
	case n < 256:
		return 2
	}
	return 3
}

func (e *encoder) list(n int) {
	switch {
	case n == 0:
		e.buf = append(e.buf, tagListEmpty)
	case n < 256:
		e.buf = append(e.buf, tagList8, byte(n))
	default:
		e.buf = append(e.buf, tagList16, byte(n>>8), byte(n))
	}
}

func headerLen(n *Node) int {
	l := 1 + 2*len(n.Attrs)
	if n.Content.kind != None {
		l++
	}
	return l
}

func (e *encoder) nodeSize(n *Node, depth int) (int, error) {
	if depth >= maxEncodeDepth {
		return 0, encodeError("more than %d levels", maxEncodeDepth)
	}
	if headerLen(n) > maxListLen {
		return 0, encodeError("%d attributes", len(n.Attrs))
	}
	size := listSize(headerLen(n))
	s, err := e.textSize(n.Tag, asName)
	if err != nil {
		return 0, err
	}
	size += s
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if s, err = e.textSize(a.Key, asName); err != nil {
			return 0, err
		}
		size += s
		if j, ok := a.Value.JID(); ok {
			s, err = e.jidSize(j)
		} else {
			s, err = e.textSize(a.Value.text, asValue)
		}
		if err != nil {
			return 0, err
		}
		size += s
	}
	switch c := n.Content; c.kind {
	case BytesKind:
		s, err = rawSize(c.n)
		size += s
	case TextKind:
		s, err = e.textSize(c.Text(), asContent)
		size += s
	case NodesKind:
		if c.n > maxListLen {
			return 0, encodeError("%d children", c.n)
		}
		size += listSize(c.n)
		nodes := c.Nodes()
		for i := range nodes {
			if s, err = e.nodeSize(&nodes[i], depth+1); err != nil {
				return 0, err
			}
			size += s
		}
	}
	return size, err
}

func (e *encoder) node(n *Node) {
	e.list(headerLen(n))
	e.text(n.Tag, asName)
	for i := range n.Attrs {
		a := &n.Attrs[i]
		e.text(a.Key, asName)
		if j, ok := a.Value.JID(); ok {
			e.jid(j)
		} else {
			e.text(a.Value.text, asValue)
		}
	}
	switch c := n.Content; c.kind {
	case BytesKind:
		e.rawHeader(c.n)
		e.buf = append(e.buf, c.Bytes()...)
	case TextKind:
		e.text(c.Text(), asContent)
	case NodesKind:
		e.list(c.n)
		nodes := c.Nodes()
		for i := range nodes {
			e.node(&nodes[i])
		}
	}
}

func rawSize(n int) (int, error) {
	switch {
	case n < 1<<8:
		return 2 + n, nil
	case n < 1<<20:
		return 4 + n, nil
	case uint64(n) < 1<<32:
		return 5 + n, nil
	}
	return 0, encodeError("%d bytes in one string", n)
}

func (e *encoder) rawHeader(n int) {
	switch {
	case n < 1<<8:
		e.buf = append(e.buf, tagBinary8, byte(n))
	case n < 1<<20:
		e.buf = append(e.buf, tagBinary20, byte(n>>16), byte(n>>8), byte(n))
	default:
		e.buf = append(e.buf, tagBinary32)
		e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(n))
	}
}

func (e *encoder) textSize(s string, p place) (int, error) {
	switch t := e.classify(s, p); t.form {
	case formToken:
		if t.token < 256 {
			return 1, nil
		}
		return 2, nil
	case formNibble, formHex:
		return 2 + (len(s)+1)/2, nil
	case formJID:
		return e.wireSize(t.jid)
	default:
		if !utf8.ValidString(s) {
			return 0, encodeError("text of %d bytes is not UTF-8", len(s))
		}
		return rawSize(len(s))
	}
}

func (e *encoder) text(s string, p place) {
	switch t := e.classify(s, p); t.form {
	case formToken:
		if t.token < 256 {
			e.buf = append(e.buf, byte(t.token))
		} else {
			e.buf = append(e.buf, tagDictionary0-1+byte(t.token>>8), byte(t.token))
		}
	case formNibble:
		e.buf = appendPacked(append(e.buf, tagNibble8), s)
	case formHex:
		e.buf = appendPacked(append(e.buf, tagHex8), s)
	case formJID:
		e.wireJID(t.jid)
	default:
		e.rawHeader(len(s))
		e.buf = append(e.buf, s...)
	}
}
