package binary

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// jsonNode reads a node in the JSON form of the recordings, where attributes
// keep their textual order.
type jsonNode struct{ Node }

// hexText is hexadecimal text, or a head, a repeated byte and a tail.
type hexText []byte

func (h *hexText) UnmarshalJSON(data []byte) error {
	var s string
	if data[0] == '{' {
		var parts struct {
			Head, Tail string
			FillByte   string `json:"fill_byte"`
			FillLen    int    `json:"fill_len"`
		}
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		s = parts.Head + strings.Repeat(parts.FillByte, parts.FillLen) + parts.Tail
	} else if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	b, err := hex.DecodeString(s)
	*h = b
	return err
}

func (n *jsonNode) UnmarshalJSON(data []byte) error {
	var v struct {
		Tag     string
		Attrs   json.RawMessage
		Content *struct {
			Hex   *hexText
			Str   *string
			JID   *JID
			Nodes *[]jsonNode
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	n.Node = Node{Tag: v.Tag}
	dec := json.NewDecoder(bytes.NewReader(v.Attrs))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		var text string
		var typed struct{ JID JID }
		value := Value{}
		if raw[0] == '{' {
			err = json.Unmarshal(raw, &typed)
			value = typed.JID.Value()
		} else {
			err = json.Unmarshal(raw, &text)
			value = Text(text)
		}
		if err != nil {
			return err
		}
		n.Attrs = append(n.Attrs, Attr{key.(string), value})
	}
	switch c := v.Content; {
	case c == nil:
	case c.Hex != nil:
		n.Content = BytesContent(*c.Hex)
	case c.Str != nil:
		n.Content = TextContent(*c.Str)
	case c.JID != nil:
		n.Content = TextContent(peerText(*c.JID))
	case c.Nodes != nil:
		nodes := make([]Node, len(*c.Nodes))
		for i := range nodes {
			nodes[i] = (*c.Nodes)[i].Node
		}
		n.Content = NodesContent(nodes...)
	}
	return nil
}

// peerText is how the peers without typed JIDs were given a JID.
func peerText(j JID) string {
	switch {
	case j.Agent > 0:
		return fmt.Sprintf("%s.%d:%d@%s", j.User, j.Agent, j.Device, j.Server)
	case j.Device > 0:
		return fmt.Sprintf("%s:%d@%s", j.User, j.Device, j.Server)
	}
	return j.User + "@" + j.Server
}

// withTextJIDs returns n as those peers got it.
func withTextJIDs(n Node) Node {
	attrs := n.Attrs
	n.Attrs = nil
	for _, a := range attrs {
		if j, ok := a.Value.JID(); ok {
			a.Value = Text(peerText(j))
		}
		n.Attrs = append(n.Attrs, a)
	}
	if n.Content.Kind() == NodesKind {
		nodes := make([]Node, len(n.Content.Nodes()))
		for i, c := range n.Content.Nodes() {
			nodes[i] = withTextJIDs(c)
		}
		n.Content = NodesContent(nodes...)
	}
	return n
}

// canonical returns n in the form of the recorded verdicts, as encoding/json
// decodes it: JIDs as text, one without user as "@server", a text in the
// content as its bytes, no children as no content.
func canonical(n *Node) map[string]any {
	attrs := map[string]any{}
	for _, a := range n.Attrs {
		s := a.Value.String()
		if j, ok := a.Value.JID(); ok && (j.Agent > 0 || j.User == "") {
			s = peerText(j)
		}
		switch s {
		case ServerUser, ServerGroup, ServerBroadcast, ServerLegacy, ServerLID, ServerNewsletter:
			s = "@" + s
		}
		attrs[a.Key] = s
	}
	c := map[string]any{"tag": n.Tag, "attrs": attrs, "content": nil}
	if nodes := n.Content.Nodes(); len(nodes) > 0 {
		var list []any
		for i := range nodes {
			list = append(list, canonical(&nodes[i]))
		}
		c["content"] = list
	} else if n.Content.isData() {
		c["content"] = "bytes:" + hex.EncodeToString(n.Content.Data())
	}
	return c
}
