package binary

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// MaxDepth is the number of levels that nodes may be nested, the root being
// the first.
const MaxDepth = 128

// Unmarshal reads one node from data, the bytes after the flag byte, to their
// end. The node does not refer to data. Errors are *[SyntaxError] values.
//
// What correct encoders do not write but peers read is read as the reference
// does: JIDs of unknown servers keep the server's name, a JID where only a
// text can stand becomes its display form, one JID inside another too, a
// filler nibble inside a packed text becomes a NUL, and of repeated attributes
// all are kept.
func Unmarshal(data []byte) (*Node, error) { return Decoder{}.Unmarshal(data) }

// UnmarshalInPlace is [Unmarshal] for a data that is given away: texts and
// bytes of the node are parts of it. It must not change while they are in use.
func UnmarshalInPlace(data []byte) (*Node, error) { return Decoder{InPlace: true}.Unmarshal(data) }

// UnmarshalStrict is [Unmarshal] for what correct encoders write. It refuses,
// with an error that wraps [ErrStrict], JIDs of unknown servers, unknown
// domain bytes, a JID inside a JID or as a tag or an attribute key, an empty
// tag and a filler nibble inside a packed text.
func UnmarshalStrict(data []byte) (*Node, error) { return Decoder{Strict: true}.Unmarshal(data) }

// Decoder reads nodes with options. The zero value is what [Unmarshal] uses.
type Decoder struct {
	Strict   bool // as UnmarshalStrict
	InPlace  bool // as UnmarshalInPlace
	MaxDepth int  // levels of nesting; 0 stands for the constant of that name
}

// Unmarshal reads one node as the function of that name does.
func (o Decoder) Unmarshal(data []byte) (*Node, error) {
	if o.MaxDepth == 0 {
		o.MaxDepth = MaxDepth
	}
	// The same code runs twice. The first run checks and counts; it does not
	// allocate but for JIDs inside JIDs. The second has room for everything.
	count := decoder{data: data, strict: o.Strict, inPlace: o.InPlace, maxDepth: o.MaxDepth, counting: true}
	var root Node
	err := count.node(&root, 0)
	if err == nil && count.off != len(data) {
		err = &SyntaxError{count.off, fmt.Errorf("%w: %d bytes", ErrLeftoverData, len(data)-count.off)}
	}
	if err != nil {
		return nil, err
	}
	d := decoder{
		data: data, inPlace: o.InPlace, maxDepth: o.MaxDepth,
		nodes: make([]Node, 1+count.nodeCount),
		attrs: make([]Attr, count.attrCount),
		arena: make([]byte, 0, count.arenaLen),
	}
	n := d.takeNodes(1)
	if err := d.node(&n[0], 0); err != nil {
		panic("binary: internal error: the second run over a node fails: " + err.Error())
	}
	return &n[0], nil
}

type decoder struct {
	data            []byte
	off             int
	strict, inPlace bool
	maxDepth        int

	counting                       bool
	nodeCount, attrCount, arenaLen int

	// What the second run takes from.
	nodes []Node
	attrs []Attr
	arena []byte
}

func (d *decoder) takeNodes(n int) []Node {
	t := d.nodes[:n:n]
	d.nodes = d.nodes[n:]
	return t
}

func (d *decoder) takeAttrs(n int) []Attr {
	t := d.attrs[:n:n]
	d.attrs = d.attrs[n:]
	return t
}

func (d *decoder) fail(offset int, err error) error { return &SyntaxError{offset, err} }

func (d *decoder) eof() error { return &SyntaxError{len(d.data), ErrUnexpectedEOF} }

func (d *decoder) byte() (byte, error) {
	if d.off >= len(d.data) {
		return 0, d.eof()
	}
	d.off++
	return d.data[d.off-1], nil
}

// bytes returns the next n bytes, which are part of data.
func (d *decoder) bytes(n int) ([]byte, error) {
	if n > len(d.data)-d.off {
		return nil, d.eof()
	}
	d.off += n
	return d.data[d.off-n : d.off : d.off], nil
}

func (d *decoder) uint16() (uint16, error) {
	b, err := d.bytes(2)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint16(b), nil
}

func (d *decoder) invalidToken(tag byte) error {
	return d.fail(d.off-1, fmt.Errorf("%w %d", ErrInvalidToken, tag))
}

// listLen reads the header of a list.
func (d *decoder) listLen(tag byte) (int, error) {
	switch tag {
	case tagListEmpty:
		return 0, nil
	case tagList8:
		n, err := d.byte()
		return int(n), err
	case tagList16:
		n, err := d.uint16()
		return int(n), err
	}
	return 0, d.invalidToken(tag)
}

func (d *decoder) node(n *Node, depth int) error {
	start := d.off
	if depth >= d.maxDepth {
		return d.fail(start, ErrDepth)
	}
	tag, err := d.byte()
	if err != nil {
		return err
	}
	l, err := d.listLen(tag)
	if err != nil {
		return err
	}
	if l == 0 {
		return d.fail(start, ErrInvalidNode)
	}
	if tag, err = d.byte(); err != nil {
		return err
	}
	if tag == tagListEmpty {
		return d.fail(d.off-1, ErrInvalidNode)
	}
	at := d.off - 1
	t, err := d.text(tag)
	if err != nil {
		return err
	}
	if d.strict && (t.n == 0 || t.isJID) {
		return d.fail(at, ErrStrict)
	}
	n.Tag = d.keep(t)
	if err := d.attributes(n, (l-1)/2); err != nil {
		return err
	}
	if l%2 != 0 {
		return nil
	}
	return d.content(n, depth)
}

func (d *decoder) attributes(n *Node, count int) error {
	if count == 0 {
		return nil
	}
	var attrs []Attr
	if d.counting {
		d.attrCount += count
	} else {
		attrs = d.takeAttrs(count)
		n.Attrs = attrs
	}
	for i := range count {
		at := d.off
		tag, err := d.byte()
		if err != nil {
			return err
		}
		if tag == tagListEmpty {
			return d.fail(at, ErrNonStringKey)
		}
		key, err := d.text(tag)
		if err != nil {
			return err
		}
		if d.strict && key.isJID {
			return d.fail(at, ErrStrict)
		}
		k := d.keep(key)
		v, err := d.value()
		if err != nil {
			return err
		}
		if !d.counting {
			attrs[i] = Attr{k, v}
		}
	}
	return nil
}

func (d *decoder) value() (Value, error) {
	tag, err := d.byte()
	if err != nil {
		return Value{}, err
	}
	if tag == tagListEmpty {
		return Value{}, nil
	}
	if isJIDTag(tag) {
		j, err := d.jid(tag, 0)
		if err != nil {
			return Value{}, err
		}
		return Value{
			text: d.keep(j.user), server: d.keep(j.server),
			device: j.device, integrator: j.integrator, jid: true,
		}, nil
	}
	t, err := d.text(tag)
	if err != nil {
		return Value{}, err
	}
	return Value{text: d.keep(t)}, nil
}

func (d *decoder) content(n *Node, depth int) error {
	tag, err := d.byte()
	if err != nil {
		return err
	}
	switch tag {
	case tagListEmpty, tagList8, tagList16:
		l, err := d.listLen(tag)
		if err != nil || l == 0 {
			return err
		}
		if d.counting {
			d.nodeCount += l
			var child Node
			for range l {
				if err := d.node(&child, depth+1); err != nil {
					return err
				}
			}
			return nil
		}
		nodes := d.takeNodes(l)
		n.Content = NodesContent(nodes...)
		for i := range nodes {
			if err := d.node(&nodes[i], depth+1); err != nil {
				return err
			}
		}
		return nil
	case tagBinary8, tagBinary20, tagBinary32:
		b, err := d.raw(tag)
		if err != nil {
			return err
		}
		switch {
		case d.inPlace:
		case d.counting:
			d.arenaLen += len(b)
		default:
			b = d.copy(b)
		}
		n.Content = BytesContent(b)
		return nil
	}
	t, err := d.text(tag)
	if err != nil {
		return err
	}
	n.Content = TextContent(d.keep(t))
	return nil
}

// raw reads a string of bytes with its length.
func (d *decoder) raw(tag byte) ([]byte, error) {
	switch tag {
	case tagBinary8:
		n, err := d.byte()
		if err != nil {
			return nil, err
		}
		return d.bytes(int(n))
	case tagBinary20:
		b, err := d.bytes(3)
		if err != nil {
			return nil, err
		}
		return d.bytes(int(b[0]&0x0f)<<16 | int(b[1])<<8 | int(b[2]))
	}
	b, err := d.bytes(4)
	if err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(len(d.data)-d.off) {
		return nil, d.eof()
	}
	return d.bytes(int(n))
}

// textRef is a text as it was found. n is its length in bytes.
type textRef struct {
	n      int
	static string // a token, a server's name or the display form of a JID
	data   []byte // a part of the input: UTF-8, or nibbles if chars is not ""
	chars  string
	isJID  bool
}

// keep turns a reference into the text that the node holds. In the first run
// it only reserves the room.
func (d *decoder) keep(t textRef) string {
	switch {
	case t.data == nil:
		return t.static
	case t.chars == "" && d.inPlace:
		return unsafe.String(unsafe.SliceData(t.data), len(t.data))
	case d.counting:
		d.arenaLen += t.n
		return ""
	case t.chars == "":
		b := d.copy(t.data)
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	start := len(d.arena)
	d.arena = appendUnpacked(d.arena, t.data, t.n, t.chars)
	return unsafe.String(unsafe.SliceData(d.arena[start:]), t.n)
}

// copy copies b into the arena, which has the room: what was cut from it
// before never moves.
func (d *decoder) copy(b []byte) []byte {
	start := len(d.arena)
	d.arena = append(d.arena, b...)
	return d.arena[start:len(d.arena):len(d.arena)]
}

// text reads a text that starts with tag.
func (d *decoder) text(tag byte) (textRef, error) {
	switch {
	case tag >= tagDictionary0 && tag <= tagDictionary3:
		i, err := d.byte()
		if err != nil {
			return textRef{}, err
		}
		s := doubleTokens[tag-tagDictionary0][i]
		return textRef{n: len(s), static: s}, nil
	case tag > 0 && tag < tagDictionary0:
		s := singleTokens[tag]
		return textRef{n: len(s), static: s}, nil
	case tag == tagBinary8 || tag == tagBinary20 || tag == tagBinary32:
		at := d.off
		b, err := d.raw(tag)
		if err != nil || len(b) == 0 {
			return textRef{}, err
		}
		if d.counting && !utf8.Valid(b) {
			return textRef{}, d.fail(at-1, ErrInvalidUTF8)
		}
		return textRef{n: len(b), data: b}, nil
	case tag == tagNibble8:
		return d.packed(nibbleChars)
	case tag == tagHex8:
		return d.packed(hexChars)
	case isJIDTag(tag):
		j, err := d.jid(tag, 0)
		if err != nil {
			return textRef{}, err
		}
		return j.display(), nil
	}
	return textRef{}, d.invalidToken(tag)
}

// packed reads a packed text. Without characters it is empty, odd or not; the
// last nibble of an odd one is not looked at.
func (d *decoder) packed(chars string) (textRef, error) {
	head, err := d.byte()
	if err != nil {
		return textRef{}, err
	}
	start := d.off
	b, err := d.bytes(int(head & 0x7f))
	if err != nil || len(b) == 0 {
		return textRef{}, err
	}
	n := 2 * len(b)
	if head&0x80 != 0 {
		n--
	}
	if d.counting && chars == nibbleChars {
		for i := range n {
			v := b[i/2]
			if i%2 == 0 {
				v >>= 4
			}
			v &= 15
			if v > 11 && v < 15 {
				return textRef{}, d.fail(start+i/2, fmt.Errorf("%w: nibble %d", ErrInvalidToken, v))
			}
			if v == 15 && d.strict {
				return textRef{}, d.fail(start+i/2, ErrStrict)
			}
		}
	}
	return textRef{n: n, data: b, chars: chars}, nil
}

func appendUnpacked(dst, packed []byte, n int, chars string) []byte {
	for i := range n {
		v := packed[i/2]
		if i%2 == 0 {
			v >>= 4
		}
		dst = append(dst, chars[v&15])
	}
	return dst
}
