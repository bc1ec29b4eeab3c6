package binary

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"
)

// FuzzTexts puts texts wherever a text can be: what is encoded decodes to the
// same, or encoding fails because they are not UTF-8. Both classifications keep
// to their rules.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{"", "0", "to", "addressing_mode", "15550000001", "12-34.5", "3EB0E0", "3eb0e0", "15550000001:5@s.whatsapp.net", "1_2:3@lid", "1.4:300@msgr", "@", "a@b@c", "@lid", "ü@lid", "\xff"} {
		f.Add(s, "message", uint16(7))
	}
	f.Fuzz(func(t *testing.T, a, b string, device uint16) {
		n := Node{
			Tag: a,
			Attrs: []Attr{
				{b, Text(a)},
				{a, JID{User: b, Server: ServerLID, Device: device & 255}.Value()},
				{"jid", JID{User: a, Server: b}.Value()},
			},
			Content: NodesContent(Node{Tag: b, Content: TextContent(a)}, Node{Tag: "enc", Content: BytesContent([]byte(b))}),
		}
		data := roundTrip(t, &n)
		if valid := utf8.ValidString(a) && utf8.ValidString(b); valid != (data != nil) && !(valid && b == "" && device&255 > 0) {
			t.Fatalf("%q, %q: valid %v, encoded %v", a, b, valid, data != nil)
		}
		for _, s := range []string{a, b} {
			c, compat := Classify(s), ClassifyCompat(s)
			if !c.of(s) || !compat.of(s) {
				t.Fatalf("%q does not have its own class", s)
			}
			// The two differ only in what becomes a JID and what is left out.
			if c != compat && compat.form() != formJID && compat.form() != formOmitted {
				t.Fatalf("%q: %v and %v", s, c.form(), compat.form())
			}
			if c.form() == formToken && tokenText(c.token()) != s {
				t.Fatalf("%q is the token %q", s, tokenText(c.token()))
			}
		}
		// Compatible encoding gives something that can be framed, whatever is
		// lost, unless the text has no encoding.
		if _, err := compatible.Marshal(&n); err != nil && !errors.Is(err, ErrEncode) {
			t.Fatal(err)
		}
		// A class of another text is refused.
		stolen := Encoder{Classify: func(string) Class { return Classify(a) }}
		if got, err := stolen.Marshal(&n); err == nil && !bytes.Equal(got, data) && data != nil {
			if back, err := Unmarshal(got[1:]); err != nil || !Equal(back, &n) {
				t.Fatalf("%x is not %q", got, a)
			}
		}
	})
}

// FuzzFrame unpacks what is no frame: nothing panics, and a good frame is read
// afterwards.
func FuzzFrame(f *testing.F) {
	node := unhex("f8021307")
	good := compress(f, node)
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(append([]byte{3}, good[1:]...))
	f.Add(append([]byte{0}, node...))
	f.Add(append(bytes.Clone(good), 1, 2))
	f.Add(unhex("0278bb00000001"))
	f.Add([]byte{})
	var arena Arena
	f.Fuzz(func(t *testing.T, frame []byte) {
		data, err := Unpack(frame)
		if strict, strictErr := UnpackStrict(frame); strictErr == nil && (err != nil || !bytes.Equal(data, strict)) {
			t.Fatalf("strict unpacking accepts %x, %v", data, err)
		}
		n, nodeErr := UnmarshalFrame(frame)
		borrowed, arenaErr := arena.UnmarshalFrame(frame)
		if (nodeErr == nil) != (arenaErr == nil) || nodeErr == nil && (err != nil || !Equal(n, borrowed) || !bytes.Equal(arena.Backing(), data)) {
			t.Fatalf("%v, %v and %v", err, nodeErr, arenaErr)
		}
		if got, err := Unpack(good); err != nil || !bytes.Equal(got, node) {
			t.Fatalf("afterwards a good frame is %x, %v", got, err)
		}
	})
}
