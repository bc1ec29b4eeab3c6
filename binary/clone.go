package binary

import "unsafe"

// Clone returns a copy of n that shares nothing with it nor with the bytes that
// it was read from. Tokens and the names of servers are not copied: their texts
// are those of the dictionary.
func (n *Node) Clone() *Node {
	c := cloner{}
	c.measure(n)
	c.nodes = make([]Node, c.nodeCount+1)
	c.attrs = make([]Attr, c.attrCount)
	c.data = make([]byte, c.dataLen)
	root := &c.nodes[0]
	c.nodes = c.nodes[1:]
	c.node(root, n)
	return root
}

// cloner first measures and then cuts the copy from what it has made.
type cloner struct {
	nodeCount, attrCount, dataLen int

	nodes []Node
	attrs []Attr
	data  []byte
}

func (c *cloner) measure(n *Node) {
	c.dataLen += lenUnlessStatic(n.Tag)
	c.attrCount += len(n.Attrs)
	for i := range n.Attrs {
		a := &n.Attrs[i]
		c.dataLen += lenUnlessStatic(a.Key) + lenUnlessStatic(a.Value.text) + lenUnlessStatic(a.Value.server)
	}
	switch n.Content.kind {
	case BytesKind:
		c.dataLen += n.Content.n
	case TextKind:
		c.dataLen += lenUnlessStatic(n.Content.Text())
	case NodesKind:
		nodes := n.Content.Nodes()
		c.nodeCount += len(nodes)
		for i := range nodes {
			c.measure(&nodes[i])
		}
	}
}

func (c *cloner) node(to, from *Node) {
	to.Tag = c.text(from.Tag)
	if n := len(from.Attrs); n > 0 {
		to.Attrs, c.attrs = c.attrs[:n:n], c.attrs[n:]
	}
	for i := range from.Attrs {
		a := from.Attrs[i]
		a.Key, a.Value.text, a.Value.server = c.text(a.Key), c.text(a.Value.text), c.text(a.Value.server)
		to.Attrs[i] = a
	}
	switch from.Content.kind {
	case BytesKind:
		to.Content = BytesContent(c.bytes(from.Content.Bytes()))
	case TextKind:
		to.Content = TextContent(c.text(from.Content.Text()))
	case NodesKind:
		nodes := from.Content.Nodes()
		n := len(nodes)
		copies := c.nodes[:n:n]
		c.nodes = c.nodes[n:]
		for i := range nodes {
			c.node(&copies[i], &nodes[i])
		}
		to.Content = NodesContent(copies...)
	}
}

func (c *cloner) bytes(b []byte) []byte {
	n := copy(c.data, b)
	t := c.data[:n:n]
	c.data = c.data[n:]
	return t
}

func (c *cloner) text(s string) string {
	if t, ok := static(s); ok {
		return t
	}
	b := c.bytes(unsafe.Slice(unsafe.StringData(s), len(s)))
	return unsafe.String(unsafe.SliceData(b), len(b))
}

func lenUnlessStatic(s string) int {
	if _, ok := static(s); ok {
		return 0
	}
	return len(s)
}

// static returns the text equal to s that is part of the program, if there is
// one.
func static(s string) (string, bool) {
	if s == "" {
		return "", true
	}
	if t := lookupToken(s); t != 0 {
		return tokenText(t), true
	}
	k := knownServer(s)
	return k, k != ""
}
