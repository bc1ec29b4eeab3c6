package binary

import "cmp"

// Arena reads nodes one after the other in memory that it keeps, so that a loop
// that receives frames allocates nothing once it has seen the largest of them,
// but for what compress/flate needs to inflate the compressed ones. Up to a
// megabyte each of nodes, attributes and texts is kept; a larger node gets
// memory of its own. The zero value is ready.
//
// What it returns belongs to the arena: the node, everything reached from it
// and all texts in it are valid until the next call of a method that reads or
// of Reset, and as long as the bytes that were read do not change, because
// texts and bytes are parts of them. [Node.Clone] makes what shall stay. An
// Arena is for one goroutine at a time.
type Arena struct {
	Strict   bool // as UnmarshalStrict
	MaxDepth int  // levels of nesting; 0 stands for the constant of that name

	nodes []Node
	attrs []Attr
	text  []byte
	// How much of nodes and attrs the last node left behind.
	nodesUsed, attrsUsed int

	backing  []byte
	inflated []byte
}

// Unmarshal reads one node from data, the bytes after the flag byte, as the
// function of that name does but in place.
func (a *Arena) Unmarshal(data []byte) (*Node, error) {
	d := decoder{
		data: data, strict: a.Strict, maxDepth: cmp.Or(a.MaxDepth, MaxDepth),
		nodes: a.nodes, attrs: a.attrs, text: a.text,
	}
	n := &d.takeNodes(1)[0]
	ok := d.root(n)
	a.keep(&d)
	if !ok {
		a.forget()
		return nil, d.err
	}
	a.backing = data
	return n, nil
}

// UnmarshalFrame reads the node in a frame, flag byte first.
func (a *Arena) UnmarshalFrame(frame []byte) (*Node, error) {
	if len(frame) > 0 && frame[0]&flagCompressed == 0 && !a.Strict {
		return a.Unmarshal(frame[1:])
	}
	if cap(a.inflated) > keepLen {
		a.inflated = nil
	}
	data, err := unpack(a.inflated[:0], frame, a.Strict)
	if err != nil {
		a.forget()
		return nil, err
	}
	if frame[0]&flagCompressed != 0 {
		a.inflated = data
	}
	return a.Unmarshal(data)
}

// Backing returns the bytes that the last node was read from, unchanged: what
// stood behind the flag byte, inflated if it was compressed. [Pack] makes an
// uncompressed frame of them. It is nil after an error.
func (a *Arena) Backing() []byte { return a.backing }

// Reset drops the memory of a, which no longer refers to anything. Nodes that
// it has returned stay valid.
func (a *Arena) Reset() { *a = Arena{Strict: a.Strict, MaxDepth: a.MaxDepth} }

// keep makes the slabs as large as d would have needed them, within limits,
// and clears what is left in them of larger nodes before.
func (a *Arena) keep(d *decoder) {
	if d.nodesUsed <= len(a.nodes) && d.attrsUsed <= len(a.attrs) && d.textUsed+unpackSlack <= len(a.text) {
		if d.nodesUsed < a.nodesUsed {
			clear(a.nodes[d.nodesUsed:a.nodesUsed])
		}
		if d.attrsUsed < a.attrsUsed {
			clear(a.attrs[d.attrsUsed:a.attrsUsed])
		}
		a.nodesUsed, a.attrsUsed = d.nodesUsed, d.attrsUsed
		return
	}
	a.nodes, a.nodesUsed = keepSlab(a.nodes, a.nodesUsed, d.nodesUsed, nodeSize)
	a.attrs, a.attrsUsed = keepSlab(a.attrs, a.attrsUsed, d.attrsUsed, attrSize)
	if n := slabLen(d.textUsed+unpackSlack, 1); d.textUsed+unpackSlack > len(a.text) && n > len(a.text) {
		a.text = make([]byte, n)
	}
}

// keepSlab returns the slab for the next node, and how much of it holds what
// was read before, after a node that took used elements and one before it.
func keepSlab[T any](slab []T, before, used, size int) ([]T, int) {
	if used <= len(slab) {
		clear(slab[used:max(used, before)])
		return slab, used
	}
	if n := slabLen(used, size); n > len(slab) {
		return make([]T, n), 0
	}
	return slab, len(slab)
}

// slabLen returns how many elements of a size in bytes a slab gets that was too
// short: a quarter more than were needed, and at least a few, unless that is
// more than shall be kept.
func slabLen(used, size int) int {
	return min(max(used+used/4, 512/size), keepLen/size)
}

// forget drops what a refers to after an error.
func (a *Arena) forget() {
	clear(a.nodes[:a.nodesUsed])
	clear(a.attrs[:a.attrsUsed])
	a.nodesUsed, a.attrsUsed, a.backing = 0, 0, nil
}
