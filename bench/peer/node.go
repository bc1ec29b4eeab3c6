package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/sigcore/sigcore/binary"
)

// nodeJSON is a node in JSON, its attributes in their textual order.
type nodeJSON struct{ binary.Node }

func (n *nodeJSON) UnmarshalJSON(data []byte) error {
	var v struct {
		Tag     *string
		Attrs   attrsJSON
		Content *contentJSON
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if v.Tag == nil {
		return missing("tag")
	}
	n.Tag, n.Attrs = *v.Tag, v.Attrs
	if v.Content != nil {
		n.Content = v.Content.Content
	}
	return nil
}

func (n nodeJSON) MarshalJSON() ([]byte, error) {
	v := struct {
		Tag     string       `json:"tag"`
		Attrs   attrsJSON    `json:"attrs"`
		Content *contentJSON `json:"content,omitempty"`
	}{Tag: n.Tag, Attrs: n.Attrs}
	if n.Content.Kind() != binary.None {
		v.Content = &contentJSON{n.Content}
	}
	return json.Marshal(v)
}

type attrsJSON []binary.Attr

func (a *attrsJSON) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open == nil {
		return nil
	}
	if open != json.Delim('{') {
		return fmt.Errorf("%w: attrs is not an object", errBadRequest)
	}
	seen := make(map[string]bool)
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key := token.(string) // the decoder allows nothing else here
		if seen[key] {
			return fmt.Errorf("%w: attribute %q is repeated", errBadRequest, key)
		}
		seen[key] = true
		var v valueJSON
		if err := d.Decode(&v); err != nil {
			return err
		}
		*a = append(*a, binary.Attr{Key: key, Value: v.Value})
	}
	return nil
}

func (a attrsJSON) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, attr := range a {
		if i > 0 {
			out = append(out, ',')
		}
		key, err := json.Marshal(attr.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(valueJSON{attr.Value})
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, key...), ':'), value...)
	}
	return append(out, '}'), nil
}

type valueJSON struct{ binary.Value }

func (v *valueJSON) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		v.Value = binary.Text(text)
		return nil
	}
	var object struct{ JID *jidJSON }
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	if object.JID == nil {
		return missing("jid")
	}
	v.Value = object.JID.jid().Value()
	return nil
}

func (v valueJSON) MarshalJSON() ([]byte, error) {
	if j, ok := v.JID(); ok {
		return json.Marshal(map[string]jidJSON{"jid": jidOf(j)})
	}
	return json.Marshal(v.String())
}

type contentJSON struct{ binary.Content }

func (c *contentJSON) UnmarshalJSON(data []byte) error {
	var v struct {
		Hex   *hexBytes
		Str   *string
		JID   *jidJSON
		Nodes *[]nodeJSON
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	switch {
	case v.Hex != nil:
		c.Content = binary.BytesContent(*v.Hex)
	case v.Str != nil:
		c.Content = binary.TextContent(*v.Str)
	case v.JID != nil:
		c.Content = binary.TextContent(v.JID.jid().String())
	case v.Nodes != nil:
		nodes := make([]binary.Node, len(*v.Nodes))
		for i := range nodes {
			nodes[i] = (*v.Nodes)[i].Node
		}
		c.Content = binary.NodesContent(nodes...)
	default:
		return fmt.Errorf("%w: content of no kind", errBadRequest)
	}
	return nil
}

func (c contentJSON) MarshalJSON() ([]byte, error) {
	switch c.Kind() {
	case binary.BytesKind:
		return json.Marshal(map[string]hexBytes{"hex": c.Bytes()})
	case binary.TextKind:
		return json.Marshal(map[string]string{"str": c.Text()})
	case binary.NodesKind:
		nodes := make([]nodeJSON, len(c.Nodes()))
		for i, n := range c.Nodes() {
			nodes[i] = nodeJSON{n}
		}
		return json.Marshal(map[string][]nodeJSON{"nodes": nodes})
	}
	return []byte("null"), nil
}

// decoded is the answer for a node; quiet answers only that there is one.
func decoded(n *binary.Node, quiet bool) answer {
	if quiet {
		return nil
	}
	return answer{"node": nodeJSON{*n}}
}

// decoder and encoder go deeper than the library does by itself: one recorded
// node has 200 levels.
var (
	decoder = binary.Decoder{MaxDepth: 256}
	encoder = binary.Encoder{MaxDepth: 256}
)

func init() {
	features = append(features, "node")
	register("node_encode", func(_ *peer, r *struct{ Node *nodeJSON }) (answer, error) {
		if r.Node == nil {
			return nil, missing("node")
		}
		data, err := encoder.Marshal(&r.Node.Node)
		if err != nil {
			return nil, err
		}
		return answer{"data": hexBytes(data)}, nil
	})
	register("node_decode", func(_ *peer, r *struct {
		Data  *hexBytes
		Quiet bool
	},
	) (answer, error) {
		if r.Data == nil {
			return nil, missing("data")
		}
		n, err := decoder.Unmarshal(*r.Data)
		if err != nil {
			return nil, err
		}
		return decoded(n, r.Quiet), nil
	})
	register("frame_decode", func(_ *peer, r *struct {
		Data  *hexBytes
		Quiet bool
	},
	) (answer, error) {
		if r.Data == nil {
			return nil, missing("data")
		}
		n, err := decoder.UnmarshalFrame(*r.Data)
		if err != nil {
			return nil, err
		}
		return decoded(n, r.Quiet), nil
	})
}
