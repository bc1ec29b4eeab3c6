package wanode

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	wabinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"

	"github.com/sigcore/sigcore/binary"
)

// stanza is a node of whatsmeow of every type that it can write.
func stanza() wabinary.Node {
	return wabinary.Node{
		Tag: "message",
		Attrs: wabinary.Attrs{
			"to": types.NewJID("120363000000000001", types.GroupServer), "id": "3EB0E0E5F2D4F618589C0B",
			"t": int64(1717171717), "count": 3, "offset": int32(-4), "size": uint(5), "w": uint32(6), "offline": uint64(7), "last": true, "phash": []byte("2:aGVsbG8="),
		},
		Content: []wabinary.Node{
			{Tag: "to", Attrs: wabinary.Attrs{"jid": types.JID{User: "15550000001", Server: types.DefaultUserServer, Device: 7}}, Content: []wabinary.Node{
				{Tag: "enc", Attrs: wabinary.Attrs{"v": "2", "type": "msg"}, Content: []byte{1, 2, 3}},
			}},
			{Tag: "to", Attrs: wabinary.Attrs{"jid": types.JID{User: "15550000001", Server: types.MessengerServer, Device: 300}}},
			{Tag: "to", Attrs: wabinary.Attrs{"jid": types.JID{User: "15550000001", Server: types.InteropServer, Device: 3, Integrator: 2}}},
			{Tag: "to", Attrs: wabinary.Attrs{"jid": types.JID{User: "15550000001", Server: types.HostedServer, Device: 99}}},
			{Tag: "body", Content: "receipt"},
			{Tag: "count", Content: 12345},
			{Tag: "list"},
		},
	}
}

// TestFrom: what whatsmeow writes and what sigcore writes of the converted node
// decode to the same, in both decoders.
func TestFrom(t *testing.T) {
	n := stanza()
	converted, err := From(&n)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := binary.Marshal(&converted)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := wabinary.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	if len(ours) != len(theirs) {
		t.Errorf("%d bytes, whatsmeow writes %d", len(ours), len(theirs))
	}
	var decoded []*wabinary.Node
	for _, data := range [][]byte{ours, theirs} {
		byThem, err := wabinary.Unmarshal(data[1:])
		if err != nil {
			t.Fatal(err)
		}
		byUs, err := binary.Unmarshal(data[1:])
		if err != nil {
			t.Fatal(err)
		}
		back, err := To(byUs)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(normal(back), normal(*byThem)) {
			t.Errorf("decoded by sigcore and converted: %v; by whatsmeow: %v", back.XMLString(), byThem.XMLString())
		}
		decoded = append(decoded, byThem)
	}
	if !reflect.DeepEqual(decoded[0], decoded[1]) {
		t.Errorf("%v and %v", decoded[0].XMLString(), decoded[1].XMLString())
	}
}

// normal removes differences without meaning: whatsmeow makes an empty map for
// no attributes, and strings of what is a text in the content.
func normal(n wabinary.Node) wabinary.Node {
	if len(n.Attrs) == 0 {
		n.Attrs = nil
	}
	if s, ok := n.Content.(string); ok {
		n.Content = []byte(s)
	}
	if children, ok := n.Content.([]wabinary.Node); ok {
		var nodes []wabinary.Node
		for _, c := range children {
			nodes = append(nodes, normal(c))
		}
		n.Content = nodes
	}
	return n
}

// TestRoundTrip converts random nodes there and back.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := randomNode(r, 3)
		there, err := To(&n)
		if err != nil {
			t.Fatal(err)
		}
		back, err := From(&there)
		if err != nil {
			t.Fatal(err)
		}
		if !binary.Equal(&n, &back) {
			t.Fatalf("%+v comes back as %+v", n, back)
		}
	}
}

// randomNode draws a node with its attributes in the order of their keys.
func randomNode(r *rand.Rand, depth int) binary.Node {
	n := binary.Node{Tag: []string{"iq", "message", "x"}[r.IntN(3)]}
	for _, key := range []string{"a", "b", "c"} {
		switch r.IntN(3) {
		case 0:
			n.Attrs = append(n.Attrs, binary.Attr{Key: key, Value: binary.Text("text")})
		case 1:
			j := binary.JID{User: "15550000001", Server: binary.ServerMessenger, Agent: uint8(r.IntN(2)), Device: uint16(r.IntN(400))}
			n.Attrs = append(n.Attrs, binary.Attr{Key: key, Value: j.Value()})
		}
	}
	switch r.IntN(4) {
	case 0:
		n.Content = binary.BytesContent([]byte{1, 2, byte(r.Uint32())})
	case 1:
		n.Content = binary.TextContent("receipt")
	case 2:
		var nodes []binary.Node
		for range depth {
			nodes = append(nodes, randomNode(r, depth-1))
		}
		n.Content = binary.NodesContent(nodes...)
	}
	return n
}

// TestRefusals: what the other side cannot hold is an error.
func TestRefusals(t *testing.T) {
	for _, n := range []wabinary.Node{
		{Tag: "iq", Attrs: wabinary.Attrs{"a": []string{"b"}}},
		{Tag: "iq", Attrs: wabinary.Attrs{"a": 1.5}},
		{Tag: "iq", Attrs: wabinary.Attrs{"a": []wabinary.Node{}}},
		{Tag: "iq", Content: 1.5},
		{Tag: "iq", Content: []wabinary.Node{{Tag: "a", Content: struct{}{}}}},
	} {
		if _, err := From(&n); !errors.Is(err, ErrType) {
			t.Errorf("%v: %v, want ErrType", n, err)
		}
	}
	twice := binary.Node{Tag: "iq", Attrs: []binary.Attr{{Key: "a", Value: binary.Text("b")}, {Key: "a", Value: binary.Text("c")}}}
	if _, err := To(&twice); !errors.Is(err, ErrRepeated) {
		t.Errorf("%v, want ErrRepeated", err)
	}
	left, err := From(&wabinary.Node{Tag: "iq", Attrs: wabinary.Attrs{"a": "", "b": nil}})
	if err != nil || len(left.Attrs) != 0 {
		t.Errorf("attributes that whatsmeow does not write: %v, %v", left.Attrs, err)
	}
	loop := make([]wabinary.Node, 1)
	loop[0] = wabinary.Node{Tag: "a", Content: loop}
	if _, err := From(&loop[0]); !errors.Is(err, ErrDepth) {
		t.Errorf("tree in itself: %v, want ErrDepth", err)
	}
	nodes := make([]binary.Node, 1)
	nodes[0] = binary.Node{Tag: "a", Content: binary.NodesContent(nodes...)}
	if _, err := To(&nodes[0]); !errors.Is(err, ErrDepth) {
		t.Errorf("tree in itself: %v, want ErrDepth", err)
	}
}
