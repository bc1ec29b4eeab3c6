package binary

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
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
	// maxJIDText is the length in bytes up to which a text is tried as a JID.
	maxJIDText = 48
)

// Marshal returns n with the flag byte 00 of an uncompressed frame in front. It
// allocates once, what it returns.
//
// What it writes decodes to a node that is [Equal] to n; where the wire has no
// such form it returns an error that wraps [ErrEncode]: more than [MaxDepth]
// levels, a device above 255 on a server of AD devices, a device without a
// user, an integrator on another server than interop, text that is not UTF-8,
// a list of more than 65535 elements (an attribute counts two). Texts are
// classified by [Classify], JIDs of the same device are written alike whether
// they come typed or as text, attributes in their order.
func Marshal(n *Node) ([]byte, error) { return Encoder{}.AppendMarshal(nil, n) }

// AppendMarshal appends what [Marshal] returns to dst. It does not allocate if
// dst has the capacity. On error it returns dst as it was.
func AppendMarshal(dst []byte, n *Node) ([]byte, error) { return Encoder{}.AppendMarshal(dst, n) }

// Encoder writes nodes with options. The zero value is what [Marshal] uses. It
// may be used by several goroutines at once.
type Encoder struct {
	// Classify chooses how texts are written; nil stands for [Classify]. With
	// another function, what is written may decode to another node.
	Classify Classifier
	MaxDepth int // levels of nesting; 0 stands for the constant of that name
}

// Marshal encodes as the function of that name does.
func (o Encoder) Marshal(n *Node) ([]byte, error) { return o.AppendMarshal(nil, n) }

// AppendMarshal encodes as the function of that name does.
func (o Encoder) AppendMarshal(dst []byte, n *Node) ([]byte, error) {
	e := encoders.Get().(*encoder)
	e.classify, e.maxDepth = o.Classify, cmp.Or(o.MaxDepth, MaxDepth)
	err := e.node(n, 0)
	if err == nil {
		dst, err = e.replay(dst)
	}
	e.release()
	return dst, err
}

const (
	// spliceLen is the length in bytes from which a payload is left where it is
	// until the exact size is known. Shorter ones are copied twice, which costs
	// less than to keep account of them.
	spliceLen = 2048
	// keepLen is the size in bytes up to which memory is kept for reuse.
	keepLen = 1 << 20
)

// encoder plans a node: in one walk over the tree it classifies each text once
// and writes everything but long payloads into memory that is reused. The
// exact size is known then, and replay puts the pieces together. So nothing is
// decided twice, and the two cannot disagree.
type encoder struct {
	buf      []byte // starts with the flag byte
	pos      int    // how much of buf is written
	splices  []splice
	spliced  int // the length of all splices
	user     []byte
	classify Classifier
	maxDepth int
}

// splice is a payload that belongs at an offset of buf.
type splice struct {
	at   int
	data []byte
}

var encoders = sync.Pool{New: func() any { return &encoder{buf: make([]byte, 1024), pos: 1} }}

// release gives e back for reuse, without references to the node.
func (e *encoder) release() {
	clear(e.splices)
	e.splices, e.spliced, e.pos, e.classify = e.splices[:0], 0, 1, nil
	if len(e.buf) <= keepLen && cap(e.splices) <= keepLen/32 && cap(e.user) <= keepLen {
		encoders.Put(e)
	}
}

// room makes sure that n bytes, and slack bytes more, can be written.
func (e *encoder) room(n int) {
	if len(e.buf)-e.pos < n+slack {
		e.grow(n + slack)
	}
}

func (e *encoder) grow(n int) {
	buf := make([]byte, max(2*len(e.buf), e.pos+n))
	copy(buf, e.buf[:e.pos])
	e.buf = buf
}

// replay appends what was planned.
func (e *encoder) replay(dst []byte) ([]byte, error) {
	if len(e.splices) == 0 {
		if planned := e.buf[:e.pos]; dst == nil {
			out := make([]byte, len(planned))
			copy(out, planned)
			return out, nil
		}
		return append(dst, e.buf[:e.pos]...), nil
	}
	out := slices.Grow(dst, e.pos+e.spliced)
	from := 0
	for _, s := range e.splices {
		out = append(append(out, e.buf[from:s.at]...), s.data...)
		from = s.at
	}
	out = append(out, e.buf[from:e.pos]...)
	if len(out)-len(dst) != e.pos+e.spliced {
		return dst, fmt.Errorf("%w: %d bytes instead of %d", ErrPlanMismatch, len(out)-len(dst), e.pos+e.spliced)
	}
	return out, nil
}

func encodeError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEncode, fmt.Sprintf(format, args...))
}

// list writes the header of a list.
func (e *encoder) list(n int) {
	e.room(0)
	b := e.buf[e.pos : e.pos+3]
	switch {
	case n == 0:
		b[0] = tagListEmpty
		e.pos++
	case n < 256:
		b[0], b[1] = tagList8, byte(n)
		e.pos += 2
	default:
		b[0], b[1], b[2] = tagList16, byte(n>>8), byte(n)
		e.pos += 3
	}
}

// slack is how many bytes can always be written: a key and a value that are
// tokens, or the header of a list and a token.
const slack = 8

func (e *encoder) node(n *Node, depth int) error {
	if depth >= e.maxDepth {
		return encodeError("more than %d levels", e.maxDepth)
	}
	count := 1 + 2*len(n.Attrs)
	if n.Content.kind != None {
		count++
	}
	known := e.classify == nil
	omitted := 0
	if !known {
		for i := range n.Attrs {
			if e.omits(&n.Attrs[i]) {
				omitted++
			}
		}
		count -= 2 * omitted
	}
	if count > maxListLen {
		return encodeError("%d attributes", len(n.Attrs))
	}
	e.room(0)
	// The position is in a variable, not in memory, where one write follows the
	// other at once.
	buf, pos := e.buf, e.pos
	if count < 256 {
		buf[pos], buf[pos+1] = tagList8, byte(count)
		pos += 2
	} else {
		buf[pos], buf[pos+1], buf[pos+2] = tagList16, byte(count>>8), byte(count)
		pos += 3
	}
	if l := &literals[literalSlot(n.Tag)]; l.is(n.Tag) && known {
		binary.LittleEndian.PutUint16(buf[pos:], l.code)
		pos += int(l.size)
	} else {
		e.pos = pos
		if err := e.text(n.Tag, asName); err != nil {
			return err
		}
		buf, pos = e.buf, e.pos
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if len(buf)-pos < slack {
			e.pos = pos
			e.grow(slack)
			buf = e.buf
		}
		if !known && e.omits(a) {
			omitted--
			continue
		}
		if l := &literals[literalSlot(a.Key)]; l.is(a.Key) && known {
			binary.LittleEndian.PutUint16(buf[pos:], l.code)
			pos += int(l.size)
		} else {
			e.pos = pos
			if err := e.text(a.Key, asName); err != nil {
				return err
			}
			buf, pos = e.buf, e.pos
		}
		if a.Value.jid {
			e.pos = pos
			if err := e.jid(&a.Value); err != nil {
				return err
			}
			buf, pos = e.buf, e.pos
			continue
		}
		if l := &literals[literalSlot(a.Value.text)]; l.is(a.Value.text) && known {
			binary.LittleEndian.PutUint16(buf[pos:], l.code)
			pos += int(l.size)
		} else {
			e.pos = pos
			if err := e.text(a.Value.text, asValue); err != nil {
				return err
			}
			buf, pos = e.buf, e.pos
		}
	}
	if omitted != 0 {
		return fmt.Errorf("%w: the same text in two classes", ErrPlanMismatch)
	}
	e.pos = pos
	switch c := &n.Content; c.kind {
	case BytesKind:
		return e.bytes(c.Bytes())
	case TextKind:
		e.room(0)
		return e.text(c.Text(), asContent)
	case NodesKind:
		nodes := c.Nodes()
		if len(nodes) > maxListLen {
			return encodeError("%d children", len(nodes))
		}
		e.list(len(nodes))
		for i := range nodes {
			if err := e.node(&nodes[i], depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// omits reports whether the Classifier leaves an attribute out.
func (e *encoder) omits(a *Attr) bool {
	return !a.Value.jid && e.classify(a.Value.text).form() == formOmitted
}

// rawHeader writes tag and length of a string of n bytes.
func (e *encoder) rawHeader(n int) error {
	e.room(5)
	b := e.buf[e.pos : e.pos+5]
	switch {
	case n < 1<<8:
		b[0], b[1] = tagBinary8, byte(n)
		e.pos += 2
	case n < 1<<20:
		b[0], b[1], b[2], b[3] = tagBinary20, byte(n>>16), byte(n>>8), byte(n)
		e.pos += 4
	case uint64(n) < 1<<32:
		b[0] = tagBinary32
		binary.BigEndian.PutUint32(b[1:], uint32(n))
		e.pos += 5
	default:
		return encodeError("%d bytes in one string", n)
	}
	return nil
}

func (e *encoder) bytes(b []byte) error {
	if n := len(b); n < 256 {
		e.room(2 + n)
		dst := e.buf[e.pos : e.pos+2+n]
		dst[0], dst[1] = tagBinary8, byte(n)
		copy(dst[2:], b)
		e.pos += 2 + n
		return nil
	}
	if err := e.rawHeader(len(b)); err != nil {
		return err
	}
	if len(b) >= spliceLen {
		e.splices = append(e.splices, splice{e.pos, b})
		e.spliced += len(b)
		return nil
	}
	e.room(len(b))
	e.pos += copy(e.buf[e.pos:], b)
	return nil
}

// place is where a text stands; it decides whether a JID may stand there.
type place uint8

const (
	asName    place = iota // a tag or an attribute key
	asValue                // the value of an attribute
	asContent              // the content of a node
	asPart                 // user or server of a JID
)

// text writes s. With [Classify] it takes the same decisions, one after the
// other, without making a Class of them.
func (e *encoder) text(s string, p place) error {
	if e.classify != nil {
		return e.classified(s, p)
	}
	if len(s) == 0 || len(s) > maxPacked {
		return e.rawText(s)
	}
	if t := lookupToken(s); t != 0 {
		e.token(t)
		return nil
	}
	if e.packed(s) {
		return nil
	}
	if len(s) <= maxJIDText && (p == asValue || p == asContent) {
		if c := classifyJID(s); c.form() == formJID {
			return e.jidText(s, c, p)
		}
	}
	return e.rawText(s)
}

// classified writes s as the Classifier says.
func (e *encoder) classified(s string, p place) error {
	c := e.classify(s)
	if !c.of(s) {
		return fmt.Errorf("%w: class of another text", ErrPlanMismatch)
	}
	switch c.form() {
	case formToken:
		e.token(c.token())
	case formNibble, formHex:
		e.packed(s)
	case formJID:
		return e.jidText(s, c, p)
	default:
		return e.rawText(s)
	}
	return nil
}

// jidText writes a text of the class of a JID. A JID where only a text can
// stand comes back as the text that it displays, but peers do not expect one
// there. As an attribute value, "@server" and the typed JID without user are
// the same; in the content the JID would come back as the text "server".
func (e *encoder) jidText(s string, c Class, p place) error {
	a := c.address(s)
	if c.anywhere() || p == asValue || p == asContent && a.user != "" {
		return e.address(&a)
	}
	return e.rawText(s)
}

func (e *encoder) rawText(s string) error {
	if n := len(s); n <= maxPacked && n > 0 && isASCII(s) {
		e.room(2 + n)
		dst := e.buf[e.pos : e.pos+2+n]
		dst[0], dst[1] = tagBinary8, byte(n)
		copy(dst[2:], s)
		e.pos += 2 + n
		return nil
	}
	if !utf8.ValidString(s) {
		return encodeError("text of %d bytes is not UTF-8", len(s))
	}
	if err := e.rawHeader(len(s)); err != nil {
		return err
	}
	e.room(len(s))
	e.pos += copy(e.buf[e.pos:], s)
	return nil
}

func (e *encoder) token(t uint16) {
	b := e.buf[e.pos : e.pos+2]
	if t < 256 {
		b[0] = byte(t)
		e.pos++
	} else {
		b[0], b[1] = tagDictionary0-1+byte(t>>8), byte(t)
		e.pos += 2
	}
	e.room(0)
}

// packedRoom is what putPacked may write, and the beginning of a JID before it.
const packedRoom = 3 + 2 + (maxPacked+1)/2 + packSlack

// packed writes s packed, if one of the alphabets has all its characters.
func (e *encoder) packed(s string) bool {
	e.room(packedRoom)
	n := putPacked(e.buf[e.pos:], s)
	e.pos += n
	return n > 0
}
