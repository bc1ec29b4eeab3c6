package binary

import (
	"bytes"
	"unsafe"
)

// Node is one element: a tag, attributes in wire order, and content.
type Node struct {
	Tag     string
	Attrs   []Attr
	Content Content
}

// The sizes of a node and of an attribute in bytes.
const (
	nodeSize = int(unsafe.Sizeof(Node{}))
	attrSize = int(unsafe.Sizeof(Attr{}))
)

// Attr is one attribute.
type Attr struct {
	Key   string
	Value Value
}

// Value is the value of an attribute: a text or a JID. The zero value is the
// empty text. Two values can be compared with ==; [Value.Same] also finds a
// text equal to the JID it displays.
type Value struct {
	text, server       string
	device, integrator uint16
	agent              uint8
	jid                bool
}

// Text returns s as an attribute value.
func Text(s string) Value { return Value{text: s} }

// Value returns j as an attribute value.
func (j JID) Value() Value {
	return Value{j.User, j.Server, j.Device, j.Integrator, j.Agent, true}
}

// JID returns the JID that v holds, and whether it holds one. A text is never
// a JID here, whatever it looks like: see [ParseJID].
func (v Value) JID() (JID, bool) {
	if !v.jid {
		return JID{}, false
	}
	return JID{v.text, v.server, v.agent, v.device, v.integrator}, true
}

// String returns the text, or the JID in its display form.
func (v Value) String() string {
	if j, ok := v.JID(); ok {
		return j.String()
	}
	return v.text
}

// Same reports whether v and w mean the same: they display the same, a JID
// without user being the same as "@server", and agree in the integrator.
func (v Value) Same(w Value) bool {
	if v == w {
		return true
	}
	return v.integrator == w.integrator && v.canonical() == w.canonical()
}

func (v Value) canonical() string {
	if v.jid && v.text == "" {
		return "@" + v.server
	}
	return v.String()
}

// Kind tells what a Content holds.
type Kind uint8

// The kinds of content.
const (
	None Kind = iota
	BytesKind
	TextKind
	NodesKind
)

// Content is what is inside a node: nothing, bytes, a text, or child nodes.
// The zero value is nothing. On the wire a text is only told apart from bytes
// if it has a short form (token, packed, JID); else it arrives as bytes.
type Content struct {
	_    [0]func() // compare with Equal
	data unsafe.Pointer
	n    int
	kind Kind
}

// BytesContent returns content that holds b itself, not a copy.
func BytesContent(b []byte) Content {
	return Content{data: unsafe.Pointer(unsafe.SliceData(b)), n: len(b), kind: BytesKind}
}

// TextContent returns content that holds a text.
func TextContent(s string) Content {
	return Content{data: unsafe.Pointer(unsafe.StringData(s)), n: len(s), kind: TextKind}
}

// NodesContent returns content that holds the slice nodes itself, not a copy.
func NodesContent(nodes ...Node) Content {
	return Content{data: unsafe.Pointer(unsafe.SliceData(nodes)), n: len(nodes), kind: NodesKind}
}

// Kind returns what c holds.
func (c Content) Kind() Kind { return c.kind }

// Bytes returns the bytes, or nil if c does not hold bytes.
func (c Content) Bytes() []byte {
	if c.kind != BytesKind {
		return nil
	}
	return unsafe.Slice((*byte)(c.data), c.n)
}

// Text returns the text, or "" if c does not hold a text.
func (c Content) Text() string {
	if c.kind != TextKind {
		return ""
	}
	return unsafe.String((*byte)(c.data), c.n)
}

// Nodes returns the child nodes, or nil if c does not hold nodes.
func (c Content) Nodes() []Node {
	if c.kind != NodesKind {
		return nil
	}
	return unsafe.Slice((*Node)(c.data), c.n)
}

// Data returns what a reader of a payload wants: the bytes, or the bytes of
// the text, since which of the two it was does not survive the wire. It is nil
// for the other kinds. The result must not be changed.
func (c Content) Data() []byte {
	if !c.isData() {
		return nil
	}
	return unsafe.Slice((*byte)(c.data), c.n)
}

func (c Content) isData() bool { return c.kind == BytesKind || c.kind == TextKind }

// Attr returns the value of the attribute key, and whether there is one. Of
// several with the same key the last one counts.
func (n *Node) Attr(key string) (Value, bool) {
	for i := len(n.Attrs) - 1; i >= 0; i-- {
		if n.Attrs[i].Key == key {
			return n.Attrs[i].Value, true
		}
	}
	return Value{}, false
}

// Equal reports whether a and b are the same node after a way over the wire:
// attributes are compared in order with [Value.Same], a text in the content
// with its bytes, and an empty list of children is no content.
func Equal(a, b *Node) bool {
	if a.Tag != b.Tag || len(a.Attrs) != len(b.Attrs) {
		return false
	}
	for i := range a.Attrs {
		if a.Attrs[i].Key != b.Attrs[i].Key || !a.Attrs[i].Value.Same(b.Attrs[i].Value) {
			return false
		}
	}
	an, bn := a.Content.Nodes(), b.Content.Nodes()
	if len(an) != len(bn) {
		return false
	}
	for i := range an {
		if !Equal(&an[i], &bn[i]) {
			return false
		}
	}
	return a.Content.isData() == b.Content.isData() && bytes.Equal(a.Content.Data(), b.Content.Data())
}
