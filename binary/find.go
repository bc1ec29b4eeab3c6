package binary

import "iter"

// Child returns the first child node with that tag, or nil.
func (n *Node) Child(tag string) *Node {
	nodes := n.Content.Nodes()
	for i := range nodes {
		if nodes[i].Tag == tag {
			return &nodes[i]
		}
	}
	return nil
}

// Find goes down from n, to the first child with the first tag, the first of
// its children with the second one, and so on. It returns nil if there is none,
// and n itself for no tags.
func (n *Node) Find(path ...string) *Node {
	for _, tag := range path {
		if n = n.Child(tag); n == nil {
			return nil
		}
	}
	return n
}

// Children goes through the child nodes with that tag.
func (n *Node) Children(tag string) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		nodes := n.Content.Nodes()
		for i := range nodes {
			if nodes[i].Tag == tag && !yield(&nodes[i]) {
				return
			}
		}
	}
}
