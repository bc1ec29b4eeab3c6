package binary

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is the number of levels that nodes may be nested, the root being
// the first, unless a [Decoder], an [Arena] or an [Encoder] says otherwise.
const MaxDepth = 128

// Unmarshal reads one node from data, the bytes after the flag byte, to their
// end. The node does not refer to data: texts and bytes of it are parts of one
// copy, which lives as long as any of them. Errors are *[SyntaxError] values.
//
// What correct encoders do not write but peers read is read as the reference
// does: JIDs of unknown servers keep the server's name, a JID where only a
// text can stand becomes its display form, one JID inside another too, a
// filler nibble inside a packed text becomes a NUL, and of repeated attributes
// all are kept.
func Unmarshal(data []byte) (*Node, error) { return Decoder{}.Unmarshal(data) }

// UnmarshalInPlace is [Unmarshal] for a data that is given away: texts and
// bytes of the node are parts of it. It must not change while they are in use.
// [Node.Clone] makes a node independent of it.
func UnmarshalInPlace(data []byte) (*Node, error) { return Decoder{InPlace: true}.Unmarshal(data) }

// UnmarshalStrict is [Unmarshal] for what correct encoders write. It refuses,
// with an error that wraps [ErrStrict], JIDs of unknown servers, unknown
// domain bytes, a JID inside a JID or as a tag or an attribute key, an empty
// tag and a filler nibble inside a packed text.
func UnmarshalStrict(data []byte) (*Node, error) { return Decoder{Strict: true}.Unmarshal(data) }

// Decoder reads nodes with options. The zero value is what [Unmarshal] uses.
// An [Arena] reads many nodes, one after the other, in the same memory.
type Decoder struct {
	Strict   bool // as UnmarshalStrict
	InPlace  bool // as UnmarshalInPlace
	MaxDepth int  // levels of nesting; 0 stands for the constant of that name
}

// Unmarshal reads one node as the function of that name does.
func (o Decoder) Unmarshal(data []byte) (*Node, error) {
	if !o.InPlace {
		data = bytes.Clone(data)
	}
	// Most nodes are small and alone.
	var first struct {
		root  Node
		attrs [4]Attr
	}
	b := &first
	d := decoder{data: data, strict: o.Strict, maxDepth: cmp.Or(o.MaxDepth, MaxDepth), attrs: b.attrs[:]}
	if !d.root(&b.root) {
		return nil, d.err
	}
	return &b.root, nil
}

// decoder reads a tree in one pass. Nodes, attributes and unpacked texts are
// cut from the slices that it has; a slice that is used up is replaced, never
// grown, so that what was cut stays where it is. No announced count is
// believed before the bytes that it needs at least are known to be there.
type decoder struct {
	data     []byte
	off      int
	owed     int // bytes that the announced nodes not yet begun need at least
	strict   bool
	maxDepth int
	err      *SyntaxError

	// What is free.
	nodes []Node
	attrs []Attr
	text  []byte
	// What was cut off.
	nodesUsed, attrsUsed, textUsed int
}

// minNodeLen is the length in bytes of the shortest node: a list of a token.
const minNodeLen = 3

func (d *decoder) root(n *Node) bool {
	if !d.node(n, 0) {
		return false
	}
	if d.off != len(d.data) {
		return d.fail(d.off, fmt.Errorf("%w: %d bytes", ErrLeftoverData, len(d.data)-d.off))
	}
	return true
}

func (d *decoder) left() int { return len(d.data) - d.off }

// ahead estimates how many times what is read now will come again: announced
// nodes tend to be alike.
func (d *decoder) ahead(n int) int { return n * (1 + d.owed/minNodeLen) }

// takeNodes cuts off n nodes, for which there are bytes.
func (d *decoder) takeNodes(n int) []Node {
	if len(d.nodes) < n {
		d.nodes = make([]Node, max(n, min(d.ahead(n), d.left()/minNodeLen)))
	}
	t := d.nodes[:n:n]
	d.nodes = d.nodes[n:]
	d.nodesUsed += n
	return t
}

// takeAttrs cuts off n attributes, for which there are bytes.
func (d *decoder) takeAttrs(n int) []Attr {
	if len(d.attrs) < n {
		d.attrs = make([]Attr, max(n, min(d.ahead(n), d.left()/2)))
	}
	t := d.attrs[:n:n]
	d.attrs = d.attrs[n:]
	d.attrsUsed += n
	return t
}

// roomForText makes sure that a text of n bytes can be written.
func (d *decoder) roomForText(n int) {
	if n += unpackSlack; len(d.text) < n {
		d.text = make([]byte, max(n, min(d.ahead(n), 2*d.left()), 64))
	}
}

// takeText cuts off the n bytes just written.
func (d *decoder) takeText(n int) string {
	t := unsafe.String(unsafe.SliceData(d.text), n)
	d.text = d.text[n:]
	d.textUsed += n
	return t
}

func (d *decoder) fail(offset int, err error) bool {
	d.err = &SyntaxError{offset, err}
	return false
}

func (d *decoder) eof() bool { return d.fail(len(d.data), ErrUnexpectedEOF) }

func (d *decoder) invalidToken() bool {
	return d.fail(d.off, fmt.Errorf("%w %d", ErrInvalidToken, d.data[d.off]))
}

// list reads the header of a list. There is at least its tag.
func (d *decoder) list() (n int, ok bool) {
	b := d.data[d.off:]
	switch {
	case b[0] == tagList8:
		if len(b) < 2 {
			return 0, d.eof()
		}
		d.off += 2
		return int(b[1]), true
	case b[0] == tagList16:
		if len(b) < 3 {
			return 0, d.eof()
		}
		d.off += 3
		return int(b[1])<<8 | int(b[2]), true
	case b[0] == tagListEmpty:
		d.off++
		return 0, true
	}
	return 0, d.invalidToken()
}

// node reads a node into n and overwrites all of it.
func (d *decoder) node(n *Node, depth int) bool {
	start := d.off
	if depth >= d.maxDepth {
		return d.fail(start, ErrDepth)
	}
	if d.off >= len(d.data) {
		return d.eof()
	}
	l, ok := d.list()
	if !ok {
		return false
	}
	if l == 0 {
		return d.fail(start, ErrInvalidNode)
	}
	// Each element of the list has at least one byte.
	if d.owed+l > d.left() {
		return d.eof()
	}
	if s := singleTokens[d.data[d.off]]; s != "" {
		n.Tag = s
		d.off++
	} else if !d.tag(n) {
		return false
	}
	n.Attrs = nil
	if l > 2 {
		attrs := d.takeAttrs((l - 1) / 2)
		n.Attrs = attrs
		for i := range attrs {
			// Mostly both are tokens, or at least the key.
			a := &attrs[i]
			if b := d.data[d.off:]; len(b) >= 2 {
				if key := singleTokens[b[0]]; key != "" {
					if text := singleTokens[b[1]]; text != "" {
						*a = Attr{key, Value{text: text}}
						d.off += 2
						continue
					}
					a.Key = key
					d.off++
					if !d.value(&a.Value) {
						return false
					}
					continue
				}
			}
			if !d.attr(a) {
				return false
			}
		}
	}
	n.Content = Content{}
	return l%2 != 0 || d.content(n, depth)
}

// tag reads a tag that is not a single token.
func (d *decoder) tag(n *Node) bool {
	at := d.off
	if d.data[at] == tagListEmpty {
		return d.fail(at, ErrInvalidNode)
	}
	s, isJID, ok := d.str()
	if !ok {
		return false
	}
	if d.strict && (s == "" || isJID) {
		return d.fail(at, ErrStrict)
	}
	n.Tag = s
	return true
}

// attr reads any attribute.
func (d *decoder) attr(a *Attr) bool {
	at := d.off
	if at >= len(d.data) {
		return d.eof()
	}
	if d.data[at] == tagListEmpty {
		return d.fail(at, ErrNonStringKey)
	}
	key, isJID, ok := d.str()
	if !ok {
		return false
	}
	if isJID && d.strict {
		return d.fail(at, ErrStrict)
	}
	a.Key = key
	if d.off >= len(d.data) {
		return d.eof()
	}
	return d.value(&a.Value)
}

// value reads the value of an attribute. There is at least its tag.
func (d *decoder) value(v *Value) bool {
	tag := d.data[d.off]
	if isJIDTag(tag) {
		*v = Value{jid: true}
		return d.jid(v, 0)
	}
	if tag == tagListEmpty {
		*v = Value{}
		d.off++
		return true
	}
	s, _, ok := d.str()
	*v = Value{text: s}
	return ok
}

func (d *decoder) content(n *Node, depth int) bool {
	if d.off >= len(d.data) {
		return d.eof()
	}
	switch d.data[d.off] {
	case tagListEmpty, tagList8, tagList16:
		l, ok := d.list()
		if !ok || l == 0 {
			return ok
		}
		if d.owed+minNodeLen*l > d.left() {
			return d.eof()
		}
		nodes := d.takeNodes(l)
		d.owed += minNodeLen * l
		n.Content = NodesContent(nodes...)
		for i := range nodes {
			d.owed -= minNodeLen
			if !d.node(&nodes[i], depth+1) {
				return false
			}
		}
		return true
	case tagBinary8, tagBinary20, tagBinary32:
		b, ok := d.raw()
		n.Content = BytesContent(b)
		return ok
	}
	s, _, ok := d.str()
	n.Content = TextContent(s)
	return ok
}

// raw reads a string of bytes with its length. There is at least its tag.
func (d *decoder) raw() ([]byte, bool) {
	b := d.data[d.off:]
	head, n := 2, uint64(0)
	switch b[0] {
	case tagBinary8:
		if len(b) < 2 {
			return nil, d.eof()
		}
		n = uint64(b[1])
	case tagBinary20:
		head = 4
		if len(b) < 4 {
			return nil, d.eof()
		}
		n = uint64(b[1]&0x0f)<<16 | uint64(b[2])<<8 | uint64(b[3])
	default:
		head = 5
		if len(b) < 5 {
			return nil, d.eof()
		}
		n = uint64(binary.BigEndian.Uint32(b[1:]))
	}
	if n > uint64(len(b)-head) {
		return nil, d.eof()
	}
	end := head + int(n)
	d.off += end
	return b[head:end:end], true
}

// str reads a text that does not start with a list's tag. There is at least
// its tag. A JID comes in its display form.
func (d *decoder) str() (s string, isJID, ok bool) {
	tag := d.data[d.off]
	switch {
	case tag == tagBinary8 || tag == tagBinary20 || tag == tagBinary32:
		at := d.off
		b, ok := d.raw()
		if !ok {
			return "", false, false
		}
		s = unsafe.String(unsafe.SliceData(b), len(b))
		if !utf8.ValidString(s) {
			return "", false, d.fail(at, ErrInvalidUTF8)
		}
		return s, false, true
	case tag == tagNibble8 || tag == tagHex8:
		s, ok = d.packed(tag == tagHex8)
		return s, false, ok
	case tag >= tagDictionary0 && tag <= tagDictionary3:
		if d.left() < 2 {
			return "", false, d.eof()
		}
		s = doubleTokens[tag-tagDictionary0][d.data[d.off+1]]
		d.off += 2
		return s, false, true
	case tag > 0 && tag < tagDictionary0:
		d.off++
		return singleTokens[tag], false, true
	case isJIDTag(tag):
		s, ok = d.displayed(0)
		return s, true, ok
	}
	return "", false, d.invalidToken()
}

// packed reads a packed text. Without characters it is empty, odd or not; the
// last nibble of an odd one is not looked at.
func (d *decoder) packed(hex bool) (string, bool) {
	b := d.data[d.off:]
	if len(b) < 2 {
		return "", d.eof()
	}
	n := int(b[1] & 0x7f)
	if n > len(b)-2 {
		return "", d.eof()
	}
	start := d.off + 2
	d.off = start + n
	if n == 0 {
		return "", true
	}
	packed := b[2 : 2+n]
	n = 2*n - int(b[1]>>7)
	d.roomForText(n + 1)
	if !unpackText(d.text, packed, n, hex) && !d.fillers(packed, n, start) {
		return "", false
	}
	return d.takeText(n), true
}

// fillers makes NULs of the nibbles 15 inside a packed text at start, unless
// the decoder is strict, and refuses 12 to 14.
func (d *decoder) fillers(packed []byte, n, start int) bool {
	for i := range n {
		switch v := nibbleAt(packed, i); {
		case v == 15 && d.strict:
			return d.fail(start+i/2, ErrStrict)
		case v == 15:
			d.text[i] = 0
		case v > 11:
			return d.fail(start+i/2, fmt.Errorf("%w: nibble %d", ErrInvalidToken, v))
		}
	}
	return true
}
