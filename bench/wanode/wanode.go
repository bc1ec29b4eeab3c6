// Package wanode converts between the nodes of sigcore and those of
// go.mau.fi/whatsmeow, whose attributes are a map and whose content has any
// type. docs/whatsmeow-nodes.md says what each side cannot express.
package wanode

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	wabinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/sigcore/sigcore/binary"
)

var (
	// ErrType: an attribute or a content has a type that no node of sigcore can
	// hold.
	ErrType = errors.New("wanode: type without a counterpart")
	// ErrRepeated: an attribute comes twice, which a map cannot hold.
	ErrRepeated = errors.New("wanode: attribute is repeated")
	// ErrDepth: nodes are nested deeper than either side reads by itself.
	ErrDepth = errors.New("wanode: nesting too deep")
)

// From returns the node of sigcore that n is. Attributes come in the order of
// their keys; those that are nil or empty are left out, as whatsmeow does when
// it writes. Numbers, booleans and bytes become text; the bytes of a content are
// shared.
func From(n *wabinary.Node) (binary.Node, error) { return from(n, 0) }

func from(n *wabinary.Node, depth int) (binary.Node, error) {
	if depth >= binary.MaxDepth {
		return binary.Node{}, ErrDepth
	}
	out := binary.Node{Tag: n.Tag}
	for _, key := range slices.Sorted(maps.Keys(n.Attrs)) {
		value := n.Attrs[key]
		if value == nil || value == "" {
			continue
		}
		if j, ok := value.(types.JID); ok {
			out.Attrs = append(out.Attrs, binary.Attr{Key: key, Value: FromJID(j).Value()})
			continue
		}
		s, ok := text(value)
		if !ok {
			return out, fmt.Errorf("%w: attribute of type %T", ErrType, value)
		}
		out.Attrs = append(out.Attrs, binary.Attr{Key: key, Value: binary.Text(s)})
	}
	switch c := n.Content.(type) {
	case nil:
	case []byte:
		out.Content = binary.BytesContent(c)
	case types.JID:
		out.Content = binary.TextContent(FromJID(c).String())
	case []wabinary.Node:
		nodes := make([]binary.Node, len(c))
		for i := range c {
			var err error
			if nodes[i], err = from(&c[i], depth+1); err != nil {
				return out, err
			}
		}
		out.Content = binary.NodesContent(nodes...)
	default:
		s, ok := text(c)
		if !ok {
			return out, fmt.Errorf("%w: content of type %T", ErrType, c)
		}
		out.Content = binary.TextContent(s)
	}
	return out, nil
}

// text returns what whatsmeow writes for a value that is neither a JID nor
// nodes.
func text(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int32:
		return strconv.FormatInt(int64(v), 10), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint:
		return strconv.FormatUint(uint64(v), 10), true
	case uint32:
		return strconv.FormatUint(uint64(v), 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	}
	return "", false
}

// To returns the node of whatsmeow that n is. Texts become strings, JIDs
// types.JID, and content bytes, which are shared, or a string or nodes. It
// refuses repeated attributes. The order of the attributes is lost.
func To(n *binary.Node) (wabinary.Node, error) { return to(n, 0) }

func to(n *binary.Node, depth int) (wabinary.Node, error) {
	if depth >= binary.MaxDepth {
		return wabinary.Node{}, ErrDepth
	}
	out := wabinary.Node{Tag: n.Tag}
	if len(n.Attrs) > 0 {
		out.Attrs = make(wabinary.Attrs, len(n.Attrs))
	}
	for i := range n.Attrs {
		a := &n.Attrs[i]
		if _, ok := out.Attrs[a.Key]; ok {
			return out, fmt.Errorf("%w: attribute %d", ErrRepeated, i)
		}
		if j, ok := a.Value.JID(); ok {
			out.Attrs[a.Key] = ToJID(j)
		} else {
			out.Attrs[a.Key] = a.Value.String()
		}
	}
	switch n.Content.Kind() {
	case binary.BytesKind:
		out.Content = n.Content.Bytes()
	case binary.TextKind:
		out.Content = n.Content.Text()
	case binary.NodesKind:
		children := n.Content.Nodes()
		nodes := make([]wabinary.Node, len(children))
		for i := range children {
			var err error
			if nodes[i], err = to(&children[i], depth+1); err != nil {
				return out, err
			}
		}
		out.Content = nodes
	}
	return out, nil
}

// FromJID and ToJID convert addresses. Both sides have the same fields.
func FromJID(j types.JID) binary.JID {
	return binary.JID{User: j.User, Server: j.Server, Agent: j.RawAgent, Device: j.Device, Integrator: j.Integrator}
}

// ToJID is the reverse of FromJID.
func ToJID(j binary.JID) types.JID {
	return types.JID{User: j.User, Server: j.Server, RawAgent: j.Agent, Device: j.Device, Integrator: j.Integrator}
}
