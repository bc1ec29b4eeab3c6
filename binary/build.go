package binary

import (
	"strconv"
	"time"
)

// Builder puts a node together: Build("iq").Attr("type", "get").Node(). The
// methods return their receiver. Attributes are written in the order in which
// they were first set.
type Builder struct{ n Node }

// Build returns a Builder of a node with that tag.
func Build(tag string) *Builder { return &Builder{Node{Tag: tag}} }

// Node returns the node. It shares memory with b.
func (b *Builder) Node() Node { return b.n }

// Value sets an attribute, in the place of one with that key if there is one.
func (b *Builder) Value(key string, v Value) *Builder {
	for i := range b.n.Attrs {
		if b.n.Attrs[i].Key == key {
			b.n.Attrs[i].Value = v
			return b
		}
	}
	return b.Push(key, v)
}

// Push adds an attribute without looking for one with that key.
func (b *Builder) Push(key string, v Value) *Builder {
	b.n.Attrs = append(b.n.Attrs, Attr{key, v})
	return b
}

// Attr sets an attribute to a text.
func (b *Builder) Attr(key, text string) *Builder { return b.Value(key, Text(text)) }

// JID sets an attribute to a JID.
func (b *Builder) JID(key string, j JID) *Builder { return b.Value(key, j.Value()) }

// Int sets an attribute to a decimal number.
func (b *Builder) Int(key string, n int64) *Builder {
	return b.Attr(key, strconv.FormatInt(n, 10))
}

// Uint sets an attribute to a decimal number.
func (b *Builder) Uint(key string, n uint64) *Builder {
	return b.Attr(key, strconv.FormatUint(n, 10))
}

// Bool sets an attribute to true or false.
func (b *Builder) Bool(key string, v bool) *Builder { return b.Attr(key, strconv.FormatBool(v)) }

// Time sets an attribute to a time in seconds since 1970.
func (b *Builder) Time(key string, t time.Time) *Builder { return b.Int(key, t.Unix()) }

// Bytes makes data the content. It is not copied.
func (b *Builder) Bytes(data []byte) *Builder {
	b.n.Content = BytesContent(data)
	return b
}

// Text makes a text the content.
func (b *Builder) Text(s string) *Builder {
	b.n.Content = TextContent(s)
	return b
}

// Add adds child nodes, which take the place of another kind of content.
func (b *Builder) Add(nodes ...Node) *Builder {
	b.n.Content = NodesContent(append(b.n.Content.Nodes(), nodes...)...)
	return b
}
