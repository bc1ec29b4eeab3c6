package binary

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
	"unsafe"
)

const (
	nibbleChars = "0123456789-.\x00\x00\x00\x00" // 12 to 14 are refused, 15 is the filler
	hexChars    = "0123456789ABCDEF"
)

// appendUnpacked appends the characters of n nibbles.
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

// plainUnmarshal reads a node with a plainDecoder.
func plainUnmarshal(data []byte, strict bool) (*Node, error) {
	d := plainDecoder{data: data, strict: strict, maxDepth: MaxDepth}
	n := new(Node)
	if err := d.node(n, 0); err != nil {
		return nil, err
	}
	if d.off != len(data) {
		return nil, d.fail(d.off, ErrLeftoverData)
	}
	return n, nil
}

// sameAsPlain compares all ways of decoding with the plain one.
func sameAsPlain(t *testing.T, arena, strictArena *Arena, data []byte) {
	t.Helper()
	for _, c := range []struct {
		name      string
		unmarshal func([]byte) (*Node, error)
		strict    bool
	}{
		{"Unmarshal", Unmarshal, false},
		{"UnmarshalInPlace", UnmarshalInPlace, false},
		{"UnmarshalStrict", UnmarshalStrict, true},
		{"Arena", arena.Unmarshal, false},
		{"strict Arena", strictArena.Unmarshal, true},
	} {
		want, wantErr := plainUnmarshal(data, c.strict)
		got, err := c.unmarshal(data)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s of %x: %v; the plain decoder: %v", c.name, head(data), err, wantErr)
		}
		if err == nil && !reflect.DeepEqual(tree(got), tree(want)) {
			t.Fatalf("%s of %x: %+v; the plain decoder: %+v", c.name, head(data), got, want)
		}
	}
}

// tree returns all that n holds.
func tree(n *Node) any {
	var nodes []any
	for i := range n.Content.Nodes() {
		nodes = append(nodes, tree(&n.Content.Nodes()[i]))
	}
	return []any{n.Tag, append([]Attr(nil), n.Attrs...), n.Content.Kind(), string(n.Content.Data()), nodes}
}

// plainDecoder reads a tree in the most obvious way: it copies everything and
// grows what it needs.
type plainDecoder struct {
	data     []byte
	off      int
	strict   bool
	maxDepth int
}

func (d *plainDecoder) fail(offset int, err error) error { return &SyntaxError{offset, err} }

func (d *plainDecoder) eof() error { return &SyntaxError{len(d.data), ErrUnexpectedEOF} }

func (d *plainDecoder) byte() (byte, error) {
	if d.off >= len(d.data) {
		return 0, d.eof()
	}
	d.off++
	return d.data[d.off-1], nil
}

// bytes returns the next n bytes, which are part of data.
func (d *plainDecoder) bytes(n int) ([]byte, error) {
	if n > len(d.data)-d.off {
		return nil, d.eof()
	}
	d.off += n
	return d.data[d.off-n : d.off : d.off], nil
}

func (d *plainDecoder) uint16() (uint16, error) {
	b, err := d.bytes(2)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint16(b), nil
}

func (d *plainDecoder) invalidToken(tag byte) error {
	return d.fail(d.off-1, fmt.Errorf("%w %d", ErrInvalidToken, tag))
}

// listLen reads the header of a list.
func (d *plainDecoder) listLen(tag byte) (int, error) {
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

func (d *plainDecoder) node(n *Node, depth int) error {
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

func (d *plainDecoder) attributes(n *Node, count int) error {
	if count == 0 {
		return nil
	}
	for range count {
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
		n.Attrs = append(n.Attrs, Attr{k, v})
	}
	return nil
}

func (d *plainDecoder) value() (Value, error) {
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

func (d *plainDecoder) content(n *Node, depth int) error {
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
		var nodes []Node
		for range l {
			var child Node
			if err := d.node(&child, depth+1); err != nil {
				return err
			}
			nodes = append(nodes, child)
		}
		n.Content = NodesContent(nodes...)
		return nil
	case tagBinary8, tagBinary20, tagBinary32:
		b, err := d.raw(tag)
		if err != nil {
			return err
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
func (d *plainDecoder) raw(tag byte) ([]byte, error) {
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

// keep turns a reference into a text.
func (d *plainDecoder) keep(t textRef) string { return strings.Clone(t.view()) }

// text reads a text that starts with tag.
func (d *plainDecoder) text(tag byte) (textRef, error) {
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
		if !utf8.Valid(b) {
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
func (d *plainDecoder) packed(chars string) (textRef, error) {
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
	if chars == nibbleChars {
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

// jidRef is a JID as it was found.
type jidRef struct {
	user, server       textRef
	device, integrator uint16
}

// display returns the display form. It allocates: JIDs seldom stand where only
// a text can.
func (j *jidRef) display() textRef {
	s := JID{User: j.user.view(), Server: j.server.view(), Device: j.device, Integrator: j.integrator}.String()
	return textRef{n: len(s), static: s, isJID: true}
}

// view returns the text for a short look at it.
func (t textRef) view() string {
	switch {
	case t.data == nil:
		return t.static
	case t.chars == "":
		return unsafe.String(unsafe.SliceData(t.data), len(t.data))
	}
	return string(appendUnpacked(nil, t.data, t.n, t.chars))
}

// jid reads a JID that starts with tag and stands in that many others.
func (d *plainDecoder) jid(tag byte, nesting int) (j jidRef, err error) {
	start := d.off - 1
	if nesting > maxJIDNesting {
		return j, d.fail(start, ErrDepth)
	}
	if nesting > 0 && d.strict {
		return j, d.fail(start, ErrStrict)
	}
	switch tag {
	case tagJIDPair:
		if j.user, err = d.part(true, nesting); err != nil {
			return j, err
		}
		if j.server, err = d.part(false, nesting); err != nil {
			return j, err
		}
		known := d.normalise(&j.server)
		if d.strict && !known {
			return j, d.fail(start, ErrStrict)
		}
		return j, nil
	case tagADJID:
		b, err := d.bytes(2)
		if err != nil {
			return j, err
		}
		server, known := domainServer(b[0])
		if server == "" || d.strict && !known {
			reason := ErrInvalidJID
			if server != "" {
				reason = ErrStrict
			}
			return j, d.fail(start+1, reason)
		}
		j.device = uint16(b[1])
		j.server = textRef{n: len(server), static: server}
		j.user, err = d.part(false, nesting)
		return j, err
	}
	want := ServerMessenger
	if j.user, err = d.part(false, nesting); err != nil {
		return j, err
	}
	if j.device, err = d.uint16(); err != nil {
		return j, err
	}
	if tag == tagInteropJID {
		want = ServerInterop
		if j.integrator, err = d.uint16(); err != nil {
			return j, err
		}
	}
	if j.server, err = d.part(false, nesting); err != nil {
		return j, err
	}
	if d.normalise(&j.server); j.server.static != want {
		return j, d.fail(start, ErrInvalidJID)
	}
	return j, nil
}

// part reads the user or the server of a JID.
func (d *plainDecoder) part(optional bool, nesting int) (textRef, error) {
	tag, err := d.byte()
	if err != nil {
		return textRef{}, err
	}
	switch {
	case tag == tagListEmpty && optional:
		return textRef{}, nil
	case tag == tagListEmpty:
		return textRef{}, d.fail(d.off-1, ErrInvalidJID)
	case isJIDTag(tag):
		j, err := d.jid(tag, nesting+1)
		if err != nil {
			return textRef{}, err
		}
		return j.display(), nil
	}
	return d.text(tag)
}

// normalise makes a known server static and reports whether it is known.
func (d *plainDecoder) normalise(server *textRef) bool {
	known := knownServer(server.view())
	if known != "" {
		*server = textRef{n: len(known), static: known}
	}
	return known != ""
}
