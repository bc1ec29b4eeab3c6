package binary

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestHostileNodes: trees made to exhaust a decoder end in a typed error with
// an offset, soon, and without using memory that their length does not justify.
func TestHostileNodes(t *testing.T) {
	repeat := func(unit string, n int) []byte { return bytes.Repeat(unhex(unit), n) }
	attr := func(value []byte) []byte { return append(unhex("f8031908"), value...) }
	cases := map[string]struct {
		data []byte
		want error
	}{
		"60 lists of 65535":       {repeat("f80219f9ffff", 60), ErrUnexpectedEOF},
		"2 MB of nesting":         {repeat("f80219f801", 400_000), ErrDepth},
		"1 MB of JIDs in users":   {attr(repeat("fa", 1<<20)), ErrDepth},
		"1 MB of JIDs, AD":        {attr(repeat("f70001", 1<<18)), ErrDepth},
		"1 MB of JIDs in servers": {attr(repeat("fa00", 1<<19)), ErrDepth},
		"JIDs in a tag":           {append(unhex("f801"), repeat("fa", 1000)...), ErrDepth},
		"list as tag":             {unhex("f802f8011908"), ErrInvalidToken},
		"list as value":           {attr(unhex("f801f80108")), ErrInvalidToken},
		"32767 attributes":        {append(unhex("f9ffff19"), repeat("0808", 32766)...), ErrUnexpectedEOF},
		"blob of 2^31":            {unhex("f80219fe80000000616263"), ErrUnexpectedEOF},
		"blob of 2^32-1":          {unhex("f80219feffffffff616263"), ErrUnexpectedEOF},
		"text of 2^31":            {unhex("f801fe80000000616263"), ErrUnexpectedEOF},
	}
	for i := range 256 {
		if i != tagList8 && i != tagList16 && i != tagListEmpty {
			cases["one byte "+string(rune('0'+i))] = struct {
				data []byte
				want error
			}{[]byte{byte(i)}, ErrInvalidToken}
		}
	}
	for name, c := range cases {
		var n *Node
		var err error
		start := time.Now()
		bytes := allocated(func() { n, err = Unmarshal(c.data) })
		took := time.Since(start)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !errors.Is(err, c.want) || syntax.Offset < 0 || syntax.Offset > len(c.data) {
			t.Errorf("%s: %+v, %v; want a *SyntaxError for %v", name, n, err, c.want)
		}
		if limit := uint64(64*len(c.data) + 64<<10); bytes > limit {
			t.Errorf("%s: %d bytes allocated for %d", name, bytes, len(c.data))
		}
		var arena Arena
		if got := allocated(func() { _, err = arena.Unmarshal(c.data) }); got > uint64(64*len(c.data)+64<<10) || !errors.Is(err, c.want) {
			t.Errorf("%s: in an arena: %v, %d bytes allocated for %d", name, err, got, len(c.data))
		}
		if limit := 50*time.Millisecond + time.Duration(len(c.data))*time.Millisecond/1024; took > limit {
			t.Errorf("%s: %v for %d bytes", name, took, len(c.data))
		}
	}
	for _, s := range []string{"ff80", "fb80", "ff00", "fb00"} {
		n, err := Unmarshal(attr(unhex(s)))
		if err != nil {
			t.Errorf("packed text without characters: %v", err)
		} else if v, ok := n.Attr("id"); !ok || v != Text("") {
			t.Errorf("packed text without characters reads as %q", v)
		}
	}
}

// TestMemoryOfNodes: what is decoded takes memory in proportion to its bytes,
// also where elements are as short as they can be.
func TestMemoryOfNodes(t *testing.T) {
	repeat := func(head, unit string, n int) []byte { return append(unhex(head), bytes.Repeat(unhex(unit), n)...) }
	for name, data := range map[string][]byte{
		"shortest nodes":      repeat("f80219f9ffff", "f80119", 65535),
		"shortest attributes": repeat("f9ffff19", "0808", 32767),
		"empty texts":         repeat("f9ffff19", "0800", 32767),
		"packed texts":        repeat("f9ffff19", "08ff0112", 32767),
		"shortest JIDs":       repeat("f9ffff19", "08fa0003", 32767),
		"JIDs in JIDs":        repeat("f9ffff19", "08fafa000303", 32767),
		"JIDs as keys":        repeat("f9ffff19", "fa000308", 32767),
		"long JIDs as keys":   repeat("f9ffff19", "f70001ff0412345678"+"08", 32767),
		"packed servers":      repeat("f9ffff19", "08fa08fb0aaaaaaaaaaaaaaaaaaaaa", 32767),
	} {
		var err error
		got := allocated(func() { _, err = Unmarshal(data) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if limit := uint64(64*len(data) + 64<<10); got > limit {
			t.Errorf("%s: %d bytes allocated for %d, %.1f times", name, got, len(data), float64(got)/float64(len(data)))
		}
		// What an arena keeps for the next node comes on top.
		var arena Arena
		got = allocated(func() { _, err = arena.Unmarshal(data) })
		if limit := uint64(64*len(data) + 3*keepLen); err != nil || got > limit {
			t.Errorf("%s: in an arena: %v, %d bytes allocated for %d", name, err, got, len(data))
		}
	}
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestDepth(t *testing.T) {
	nest := func(levels int) []byte {
		return append(bytes.Repeat(unhex("f80219f801"), levels-1), unhex("f80119")...)
	}
	if _, err := Unmarshal(nest(MaxDepth)); err != nil {
		t.Errorf("%d levels: %v", MaxDepth, err)
	}
	if _, err := Unmarshal(nest(MaxDepth + 1)); !errors.Is(err, ErrDepth) {
		t.Errorf("%d levels: %v, want ErrDepth", MaxDepth+1, err)
	}
	if _, err := (Decoder{MaxDepth: 201}).UnmarshalFrame(append([]byte{0}, nest(201)...)); err != nil {
		t.Errorf("201 levels of 201: %v", err)
	}
	if _, err := (Decoder{MaxDepth: 2}).Unmarshal(nest(3)); !errors.Is(err, ErrDepth) {
		t.Errorf("3 levels of 2: %v, want ErrDepth", err)
	}
	strict := append([]byte{1}, nest(1)...)
	if _, err := (Decoder{Strict: true}).UnmarshalFrame(strict); !errors.Is(err, ErrStrict) {
		t.Errorf("flag byte 1, strictly: %v", err)
	}
}

// TestTruncation: every beginning of an encoding is an error at its end.
func TestTruncation(t *testing.T) {
	data, err := Marshal(fanOut(3))
	if err != nil {
		t.Fatal(err)
	}
	data = append(data[1:], unhex("")...)
	for n := range data {
		_, err := Unmarshal(data[:n])
		var syntax *SyntaxError
		if !errors.Is(err, ErrUnexpectedEOF) || !errors.As(err, &syntax) || syntax.Offset != n {
			t.Fatalf("first %d bytes: %v", n, err)
		}
	}
}

// TestReadings pins what is read in the forms that no encoder writes, and that
// strict decoding refuses them.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name, data string
		want       Node
		strict     error // nil: ErrStrict
	}{
		{"unknown server", "f8031908 faff021234fc076578616d706c65", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "1234", Server: "example"}.Value()}}}, nil},
		{"empty server", "f8031908 faff021234fc00", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "1234"}.Value()}}}, nil},
		{"known server in long form", "f8031908 faff021234fc036c6964", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "1234", Server: "lid"}.Value()}}}, ErrNonStringKey},
		{"domain 130", "f8031908 f78205ff021234", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "1234", Server: "hosted", Device: 5}.Value()}}}, nil},
		{"JID in the user", "f8031908 fafaff01120303", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "12@s.whatsapp.net", Server: "s.whatsapp.net"}.Value()}}}, nil},
		{"JID in the server", "f8031908 faff0112faff011203", Node{Tag: "iq", Attrs: []Attr{{"id", JID{User: "12", Server: "12@s.whatsapp.net"}.Value()}}}, nil},
		{"JID in a JID in the content", "f80219 fafaff01120376", Node{Tag: "iq", Content: TextContent("12@s.whatsapp.net@lid")}, nil},
		{"JID as a tag", "f801 f70105ff0112", Node{Tag: "12:5@lid"}, nil},
		{"JID as a key", "f80319 f6ff0112012ccc 08", Node{Tag: "iq", Attrs: []Attr{{"12:300@msgr", Text("id")}}}, nil},
		{"empty tag", "f801 fc00", Node{}, nil},
		{"filler nibble in the middle", "f8031908 ff02f123", Node{Tag: "iq", Attrs: []Attr{{"id", Text("\x00123")}}}, nil},
		{"repeated attribute", "f80519 08ff0112 08ff0134", Node{Tag: "iq", Attrs: []Attr{{"id", Text("12")}, {"id", Text("34")}}}, ErrNonStringKey},
	} {
		n, err := Unmarshal(unhex(c.data))
		if err != nil || !Equal(n, &c.want) {
			t.Errorf("%s: %+v, %v; want %+v", c.name, n, err, c.want)
			continue
		}
		for i := range n.Attrs {
			if n.Attrs[i] != c.want.Attrs[i] {
				t.Errorf("%s: attribute %+v, want %+v", c.name, n.Attrs[i], c.want.Attrs[i])
			}
		}
		_, err = UnmarshalStrict(unhex(c.data))
		switch {
		case c.strict == nil && !errors.Is(err, ErrStrict):
			t.Errorf("%s: strict decoding: %v, want ErrStrict", c.name, err)
		case c.strict != nil && err != nil:
			t.Errorf("%s: strict decoding: %v", c.name, err)
		}
	}
	n := Node{Attrs: []Attr{{"id", Text("12")}, {"id", Text("34")}}}
	if v, ok := n.Attr("id"); !ok || v.String() != "34" {
		t.Errorf("repeated attribute reads as %q; the last one counts", v)
	}
	for name, data := range map[string]string{
		"invalid UTF-8 in a tag":     "f801fc02fffe",
		"invalid UTF-8 in a value":   "f8031908fc02fffe",
		"invalid UTF-8 in a user":    "f8031908fafc02fffe03",
		"no server":                  "f8031908faff021234" + "00",
		"no user on AD":              "f8031908f7000100",
		"domain 2":                   "f8031908f70205ff021234",
		"domain 255":                 "f8031908f7ff05ff021234",
		"msgr form of another":       "f8031908f6ff021234012c03",
		"interop form of another":    "f8031908f5ff0212340002000103",
		"key without text":           "f803190008",
		"three levels of JIDs":       "f8031908fafafaff0112030303",
		"node left over":             "f80119f80108",
		"nibble 12":                  "f8031908ff011c",
		"nibble 13, the first":       "f8031908ff01d1",
		"nibble 14":                  "f8031908ff011e",
		"nibble 14 in a list":        "f8031908ff83111e11",
		"dictionary 4":               "f801f000",
		"empty list where a node is": "f80219f80100",
	} {
		var syntax *SyntaxError
		if n, err := Unmarshal(unhex(data)); !errors.As(err, &syntax) {
			t.Errorf("%s: %+v, %v; want a *SyntaxError", name, n, err)
		}
	}
}

// TestOwnership: a node does not change with the input, one decoded in place
// shares it.
func TestOwnership(t *testing.T) {
	data, err := Marshal(&Node{Tag: "unknown-tag", Attrs: []Attr{{"key!", Text("value!")}}, Content: BytesContent([]byte("content"))})
	if err != nil {
		t.Fatal(err)
	}
	input := bytes.Clone(data[1:])
	n, err := Unmarshal(input)
	if err != nil {
		t.Fatal(err)
	}
	clear(input)
	if n.Tag != "unknown-tag" || n.Attrs[0] != (Attr{"key!", Text("value!")}) || string(n.Content.Bytes()) != "content" {
		t.Errorf("the node changed with its input: %+v", n)
	}
	// Bytes that are appended to must not run into their neighbours.
	_ = append(n.Content.Bytes(), strings.Repeat("x", 100)...)
	input = slices.Clip(bytes.Clone(data[1:]))
	n, err = UnmarshalInPlace(input)
	if err != nil {
		t.Fatal(err)
	}
	if c := n.Content.Bytes(); &c[len(c)-1] != &input[len(input)-1] {
		t.Error("UnmarshalInPlace copied the content")
	}
}

func FuzzUnmarshal(f *testing.F) {
	seed, err := Marshal(fanOut(2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed[1:])
	for _, s := range []string{
		"f8031908fafaff01120303", "f8031908f5ff02123400020001fc07696e7465726f70", "f8031908f6ff021234012cfc046d736772",
		"f8031908ff02f123", "f801fc00", "f80219f9000203", "f90003190811", "f80219fe00000003616263", "f80319f6ff0112012ccc08", "f8031908faff021234fc00",
	} {
		f.Add(unhex(s))
	}
	arena, strictArena := new(Arena), &Arena{Strict: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		sameAsPlain(t, arena, strictArena, data)
		n, err := Unmarshal(data)
		_, strictErr := UnmarshalStrict(data)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(data) {
				t.Fatalf("%v is not a *SyntaxError with an offset inside", err)
			}
			if strictErr == nil {
				t.Fatalf("strict decoding accepts what decoding refuses: %v", err)
			}
			return
		}
		again := roundTrip(t, n)
		if again == nil {
			t.Fatalf("%+v was decoded and cannot be encoded", n)
		}
		back, err := Unmarshal(again[1:])
		if err != nil {
			t.Fatal(err)
		}
		// One way through the encoder makes the form unique.
		if third, err := Marshal(back); err != nil || !bytes.Equal(third, again) {
			t.Fatalf("%x is encoded again as %x, %v", again, third, err)
		}
	})
}
