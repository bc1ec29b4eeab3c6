package binary

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// unhex reads hexadecimal text with blanks.
func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// compatible writes texts as the reference does.
var compatible = Encoder{Classify: ClassifyCompat}

// TestWorkedNodes holds the examples of the protocol document.
func TestWorkedNodes(t *testing.T) {
	for _, c := range []struct {
		node Node
		want string
	}{
		{Node{Tag: "message", Content: TextContent("receipt")}, "00 f802 13 07"},
		{Node{Tag: "test", Content: TextContent("-.0123456789")}, "00 f802 fc0474657374 ff06 ab0123456789"},
		{Node{Tag: "to", Content: TextContent("3EB0E0E5F2D4F618589C0B")}, "00 f802 11 fb0b 3eb0e0e5f2d4f618589c0b"},
		{Node{Tag: "ack", Attrs: []Attr{
			{"class", Text("message")},
			{"id", Text("3EB0E0E5F2D4F618589C0B")},
			{"to", JID{User: "15550000001", Server: ServerUser}.Value()},
		}}, "00f8071b151308fb0b3eb0e0e5f2d4f618589c0b11faff8615550000001f03"},
	} {
		for name, marshal := range map[string]func(*Node) ([]byte, error){"Marshal": Marshal, "compatibly": compatible.Marshal} {
			got, err := marshal(&c.node)
			if err != nil || !bytes.Equal(got, unhex(c.want)) {
				t.Errorf("%s of %v = %x, %v; want %s", name, c.node.Tag, got, err, c.want)
			}
		}
	}
}

func TestWorkedTexts(t *testing.T) {
	for _, c := range []struct {
		text, want, compat string // compat is "" if it is the same
	}{
		{"123", "ff82 123f", ""},
		{"A1F", "fb82 a1ff", ""},
		{"a1f", "fc03 613166", ""},
		{"", "fc00", "omitted"},
		{" ", "fc01 20", "omitted"},
		{"0", "2d", ""},
		{"15550000001@s.whatsapp.net", "fa ff86 15550000001f 03", ""},
		{"15550000001:5@s.whatsapp.net", "f7 00 05 ff86 15550000001f", ""},
		// What would not come back as it was is written raw.
		{"15550000001:0@s.whatsapp.net", "fc1c 31353535303030303030313a3040732e77686174736170702e6e6574", "f7 00 00 ff86 15550000001f"},
		{
			"15550000001_1:5@s.whatsapp.net", "f7 00 05 fc0d 31353535303030303030315f31",
			"f7 00 05 ff86 15550000001f",
		},
		{
			"15550000001:300@s.whatsapp.net", "fc1e 31353535303030303030313a33303040732e77686174736170702e6e6574",
			"fa fc0f 31353535303030303030313a333030 03",
		},
		{"867051314767696:5@bot", "fa fc11 3836373035313331343736373639363a35 fc03 626f74", "fa ff88 867051314767696f fc03 626f74"},
		{"x@example.com", "fc0d 78406578616d706c652e636f6d", "fa fc01 78 fc0b 6578616d706c652e636f6d"},
		{"@s.whatsapp.net", "fa 00 03", ""},
		{"15550000001:2@interop", "f5 ff86 15550000001f 0002 0000 fc07 696e7465726f70", "f7 00 02 ff86 15550000001f"},
	} {
		n := Node{Tag: "to", Attrs: []Attr{{"id", Text(c.text)}}}
		got, err := Marshal(&n)
		if want := unhex("00f8031108" + c.want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("Marshal of %q = %x, %v; want %x", c.text, got, err, want)
		}
		if c.compat == "" {
			c.compat = c.want
		}
		got, err = compatible.Marshal(&n)
		want := unhex("00f80111")
		if c.compat != "omitted" {
			want = unhex("00f8031108" + c.compat)
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("compatibly, %q = %x, %v; want %x", c.text, got, err, want)
		}
	}
}

func TestWorkedJIDs(t *testing.T) {
	for _, c := range []struct {
		jid  JID
		want string
	}{
		{JID{User: "15550000001", Server: ServerUser}, "fa ff86 15550000001f 03"},
		{JID{User: "15550000001", Server: ServerUser, Device: 5}, "f7 00 05 ff86 15550000001f"},
		{JID{User: "100000000000001", Server: ServerLID, Device: 5}, "f7 01 05 ff88 100000000000001f"},
		{JID{User: "15550000001", Server: ServerHosted, Device: 99}, "f7 80 63 ff86 15550000001f"},
		{JID{User: "15550000001", Server: ServerHostedLID, Device: 99}, "f7 81 63 ff86 15550000001f"},
		{JID{User: "120363000000000001", Server: ServerGroup}, "fa ff09 120363000000000001 1c"},
		{JID{Server: ServerUser}, "fa 00 03"},
		{JID{User: "status", Server: ServerBroadcast}, "fa 0b 0d"},
		{JID{User: "15550000001", Server: ServerInterop, Device: 3, Integrator: 9}, "f5 ff86 15550000001f 0003 0009 fc07 696e7465726f70"},
		{JID{User: "15550000001", Server: ServerInterop}, "fa ff86 15550000001f fc07 696e7465726f70"},
		{JID{User: "15550000001", Server: ServerMessenger, Device: 300}, "f6 ff86 15550000001f 012c cc"},
		{JID{User: "15550000001", Server: "example"}, "fa ff86 15550000001f fc07 6578616d706c65"},
	} {
		n := Node{Tag: "to", Attrs: []Attr{{"id", c.jid.Value()}}}
		got, err := Marshal(&n)
		if want := unhex("00f8031108" + c.want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("Marshal of %v = %x, %v; want %x", c.jid, got, err, want)
		}
		got, err = compatible.Marshal(&n)
		if want := unhex("00f8031108" + c.want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("compatibly, %v = %x, %v; want %x", c.jid, got, err, want)
		}
	}
}

// roundTrip encodes n, decodes it in every way, and returns the encoding, nil
// if there is none.
func roundTrip(t *testing.T, n *Node) []byte {
	t.Helper()
	data, err := Marshal(n)
	if err != nil {
		if !errors.Is(err, ErrEncode) {
			t.Fatalf("%v does not wrap ErrEncode", err)
		}
		return nil
	}
	again, err := Marshal(n)
	if err != nil || !bytes.Equal(data, again) {
		t.Fatalf("a second encoding differs: %x, %x, %v", data, again, err)
	}
	back, err := Unmarshal(data[1:])
	if err != nil {
		t.Fatalf("%x: %v", head(data), err)
	}
	if !Equal(n, back) {
		t.Fatalf("%+v was encoded as %x and decoded as %+v", n, head(data), back)
	}
	inPlace, err := UnmarshalInPlace(bytes.Clone(data[1:]))
	if err != nil || !Equal(back, inPlace) {
		t.Fatalf("in place: %+v, %v; want %+v", inPlace, err, back)
	}
	return data
}

// TestLookalikes: texts that look like numbers, identifiers, tokens or
// addresses come back as they were.
func TestLookalikes(t *testing.T) {
	texts := []string{
		"5e0c7fa1b2d34c9f8a6b1d20", "5E0C7FA1B2D34C9F8A6B1D20", "12-34.5", "", "0", "A", " ", "\x00", "1\x00",
		strings.Repeat("7", 127), strings.Repeat("7", 128), strings.Repeat("B", 127), strings.Repeat("B", 128), strings.Repeat("B", 126),
		"x@s.whatsapp.net", "@", "a@", "@a", "@@", "me@example.com", "x@lid@lid", "1:2@lid", "1:0@lid", "1:00@lid", "1:+2@lid", "1:256@lid", "1:65536@lid",
		"1.2@lid", "1.2@s.whatsapp.net", "1.2@g.us", "1.2:3@g.us", "1:300@msgr", "1.4:300@msgr", "1:2@interop", "_1@lid", "1_2:3@lid", ":1@lid", ":1@bot", ".1@bot",
		"s.whatsapp.net", "@s.whatsapp.net", "lid", "@lid", "hosted", "@hosted", "interop", "message ", "xmlstreamend", "2:47DEQpj8",
		strings.Repeat("1", 33) + "@s.whatsapp.net", strings.Repeat("1", 34) + "@s.whatsapp.net", "grüße@lid", "٠١٢",
	}
	for _, s := range singleTokens[:tagDictionary0] {
		texts = append(texts, s, s+" ", s+"@lid")
	}
	for _, s := range texts {
		n := Node{Tag: "to", Attrs: []Attr{{"id", Text(s)}}, Content: TextContent(s)}
		if roundTrip(t, &n) == nil {
			t.Errorf("%q has no encoding", s)
		}
		for _, n := range []Node{
			{Tag: s, Attrs: []Attr{{s, Text(s)}, {"id", JID{User: s, Server: ServerLID, Device: 3}.Value()}}},
			{Tag: "to", Attrs: []Attr{{"id", JID{User: s, Server: ServerLID}.Value()}, {"jid", JID{User: s, Server: s}.Value()}, {s, Text("")}}},
		} {
			if roundTrip(t, &n) == nil {
				t.Errorf("%q has no encoding as a tag, a key or a part of a JID", s)
			}
		}
		// Where a text is written as a JID, the typed JID is written the same.
		data, err := Marshal(&Node{Tag: "to", Attrs: []Attr{{"id", Text(s)}}})
		if err != nil {
			t.Fatal(err)
		}
		if j, err := ParseJID(s); err == nil && isJIDTag(data[5]) {
			typed, err := Marshal(&Node{Tag: "to", Attrs: []Attr{{"id", j.Value()}}})
			if err != nil || !bytes.Equal(typed, data) {
				t.Errorf("%q is %x as a text and %x, %v as a JID", s, data, typed, err)
			}
		}
	}
	surrogate := "a\xed\xa0\x80b"
	for _, n := range []Node{
		{Tag: surrogate},
		{Tag: "to", Attrs: []Attr{{surrogate, Text("")}}},
		{Tag: "to", Attrs: []Attr{{"id", Text(surrogate)}}},
		{Tag: "to", Attrs: []Attr{{"id", JID{User: surrogate, Server: ServerLID}.Value()}}},
		{Tag: "to", Attrs: []Attr{{"id", JID{User: "1", Server: surrogate}.Value()}}},
		{Tag: "to", Content: TextContent(surrogate)},
	} {
		if data, err := Marshal(&n); !errors.Is(err, ErrEncode) {
			t.Errorf("text that is not UTF-8: %x, %v", data, err)
		}
	}
	if roundTrip(t, &Node{Tag: "to", Content: BytesContent([]byte(surrogate))}) == nil {
		t.Error("bytes have no encoding")
	}
}

// TestEveryJID encodes JIDs of all kinds, typed and as what they display.
func TestEveryJID(t *testing.T) {
	servers := []string{
		ServerUser, ServerLID, ServerGroup, ServerBroadcast, ServerNewsletter, ServerHosted, ServerHostedLID,
		ServerMessenger, ServerInterop, ServerBot, ServerLegacy, ServerCall, "example", "",
	}
	encoded := 0
	for _, server := range servers {
		for _, user := range []string{"", "15550000001", "15550000001-1400000000", "status", "a.b"} {
			for _, device := range []uint16{0, 1, 99, 255, 256, 65535} {
				for _, agent := range []uint8{0, 1, 255} {
					for _, integrator := range []uint16{0, 1} {
						j := JID{user, server, agent, device, integrator}
						_, ad := adDomain(server)
						data, err := Marshal(&Node{Tag: "to", Attrs: []Attr{{"jid", j.Value()}}})
						must := user != "" && (integrator == 0 || server == ServerInterop) && !(ad && device > 255)
						if err != nil {
							if must || !errors.Is(err, ErrEncode) {
								t.Errorf("%+v: %v", j, err)
							}
							continue
						}
						encoded++
						n, err := Unmarshal(data[1:])
						if err != nil {
							t.Errorf("%+v: %x: %v", j, data, err)
							continue
						}
						v, _ := n.Attr("jid")
						back, ok := v.JID()
						if !ok || !v.Same(j.Value()) || ad && back != j.Key() || agent == 0 && device == 0 && back != j {
							t.Errorf("%+v comes back as %+v", j, back)
						}
						if server == "example" || server == "" || user == "" || integrator != 0 {
							continue
						}
						text, err := Marshal(&Node{Tag: "to", Attrs: []Attr{{"jid", Text(j.String())}}})
						if err != nil || !bytes.Equal(text, data) {
							t.Errorf("%+v: %x typed, %x, %v as text", j, data, text, err)
						}
					}
				}
			}
		}
	}
	if encoded < 500 {
		t.Errorf("only %d JIDs were encoded", encoded)
	}
}

func TestEncodeLimits(t *testing.T) {
	loop := make([]Node, 1)
	loop[0] = Node{Tag: "a", Content: NodesContent(loop...)}
	for name, n := range map[string]*Node{
		"65536 children":       {Tag: "list", Content: NodesContent(make([]Node, 65536)...)},
		"32768 attributes":     {Tag: "list", Attrs: make([]Attr, 32768)},
		"attributes, content":  {Tag: "list", Attrs: make([]Attr, 32767), Content: TextContent("")},
		"tree in itself":       &loop[0],
		"device 256":           {Tag: "to", Attrs: []Attr{{"jid", JID{User: "1", Server: ServerLID, Device: 256}.Value()}}},
		"device without user":  {Tag: "to", Attrs: []Attr{{"jid", JID{Server: ServerBot, Device: 2}.Value()}}},
		"integrator elsewhere": {Tag: "to", Attrs: []Attr{{"jid", JID{User: "1", Server: ServerBot, Integrator: 2}.Value()}}},
	} {
		dst := []byte("kept")
		got, err := AppendMarshal(dst, n)
		if !errors.Is(err, ErrEncode) || !bytes.Equal(got, dst) {
			t.Errorf("%s: %x, %v; want dst and ErrEncode", name, head(got), err)
		}
	}
	for name, n := range map[string]*Node{
		"65535 children":   {Tag: "list", Content: NodesContent(make([]Node, 65535)...)},
		"32767 attributes": {Tag: "list", Attrs: make([]Attr, 32767)},
	} {
		if roundTrip(t, n) == nil {
			t.Errorf("%s: no encoding", name)
		}
	}
}

func TestAppendMarshal(t *testing.T) {
	n := fanOut(32)
	want, err := Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	if len(want) != cap(want) {
		// Size classes may round the capacity up, but never by more than an eighth.
		if cap(want) > len(want)+len(want)/8 {
			t.Errorf("%d bytes allocated for %d", cap(want), len(want))
		}
	}
	got, err := AppendMarshal([]byte("front"), n)
	if err != nil || !bytes.Equal(got, append([]byte("front"), want...)) {
		t.Errorf("AppendMarshal = %x, %v", head(got), err)
	}
	if testvec.Race {
		return
	}
	buf := make([]byte, 0, len(want))
	if a := testing.AllocsPerRun(20, func() { buf, _ = AppendMarshal(buf[:0], n) }); a != 0 {
		t.Errorf("AppendMarshal: %v allocations", a)
	}
	if a := testing.AllocsPerRun(20, func() { _, _ = Marshal(n) }); a != 1 {
		t.Errorf("Marshal: %v allocations, want 1", a)
	}
}

// fanOut returns a message to so many devices.
func fanOut(devices int) *Node {
	to := make([]Node, devices)
	for i := range to {
		to[i] = Node{
			Tag:   "to",
			Attrs: []Attr{{"jid", JID{User: fmt.Sprintf("1%014d", i), Server: ServerLID, Device: uint16(i % 100)}.Value()}},
			Content: NodesContent(Node{
				Tag:     "enc",
				Attrs:   []Attr{{"v", Text("2")}, {"type", Text("msg")}},
				Content: BytesContent(bytes.Repeat([]byte{byte(i)}, 128)),
			}),
		}
	}
	return &Node{
		Tag: "message",
		Attrs: []Attr{
			{"to", JID{User: "120363000000000001", Server: ServerGroup}.Value()},
			{"id", Text("3EB0E0E5F2D4F618589C0B")},
			{"type", Text("text")},
			{"addressing_mode", Text("lid")},
		},
		Content: NodesContent(Node{Tag: "participants", Content: NodesContent(to...)}),
	}
}

// randomNode draws a node of texts that take all forms.
func randomNode(r *rand.Rand, depth int) Node {
	text := func() string {
		alphabet := []string{"0123456789", "0123456789-.", "0123456789ABCDEF", "abc@:._ü0", "\x00 xyz"}[r.IntN(5)]
		var b strings.Builder
		runes := []rune(alphabet)
		for range r.IntN(20) {
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		switch r.IntN(6) {
		case 0:
			return singleTokens[r.IntN(len(singleTokens))]
		case 1:
			return doubleTokens[r.IntN(4)][r.IntN(256)]
		case 2:
			return b.String() + "@" + []string{ServerUser, ServerLID, ServerBot, ServerMessenger, ServerInterop, ServerGroup, "example"}[r.IntN(7)]
		case 3:
			return strings.Repeat(b.String(), r.IntN(30))
		}
		return b.String()
	}
	n := Node{Tag: text()}
	for range r.IntN(4) {
		v := Text(text())
		if r.IntN(3) == 0 {
			v = JID{text(), []string{ServerUser, ServerLID, ServerInterop, ServerMessenger, ServerGroup, text()}[r.IntN(6)], 0, uint16(r.IntN(256)), 0}.Value()
		}
		n.Attrs = append(n.Attrs, Attr{text(), v})
	}
	switch r.IntN(4) {
	case 0:
		n.Content = TextContent(text())
	case 1:
		n.Content = BytesContent(bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(300)))
	case 2:
		var nodes []Node
		for range r.IntN(5) {
			if depth > 0 {
				nodes = append(nodes, randomNode(r, depth-1))
			}
		}
		n.Content = NodesContent(nodes...)
	}
	return n
}

func TestRandomNodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	encoded, count := 0, 20000
	if testing.Short() {
		count = 2000
	}
	for range count {
		n := randomNode(r, 3)
		if data := roundTrip(t, &n); data != nil {
			encoded++
			// Everything that is decoded can be encoded again, and is the same.
			back, err := Unmarshal(data[1:])
			if err != nil {
				t.Fatal(err)
			}
			if roundTrip(t, back) == nil {
				t.Fatalf("%x decodes to what cannot be encoded", data)
			}
		}
	}
	if encoded < count*3/4 {
		t.Errorf("only %d of %d nodes were encoded", encoded, count)
	}
}
