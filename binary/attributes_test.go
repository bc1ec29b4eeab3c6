package binary

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestAttrReader(t *testing.T) {
	jid := JID{User: "15550000001", Server: ServerUser, Device: 3}
	n := Build("iq").Attr("type", "get").JID("from", jid).Attr("to", "15550000002@s.whatsapp.net").
		Int("offset", -4).Uint("size", 1<<63).Bool("last", true).Time("t", time.Unix(1717171717, 5)).Int("ms", 1717171717123).Node()
	r := n.Read()
	if got := r.Text("type"); got != "get" {
		t.Errorf("Text = %q", got)
	}
	if got := r.Text("from"); got != jid.String() {
		t.Errorf("Text of a JID = %q", got)
	}
	if got := r.JID("from"); got != jid {
		t.Errorf("JID = %v", got)
	}
	if got, ok := r.OptionalJID("to"); !ok || got != (JID{User: "15550000002", Server: ServerUser}) {
		t.Errorf("OptionalJID of a text = %v, %v", got, ok)
	}
	if got := r.Int("offset"); got != -4 {
		t.Errorf("Int = %d", got)
	}
	if got := r.Uint("size"); got != 1<<63 {
		t.Errorf("Uint = %d", got)
	}
	if got := r.Bool("last"); !got {
		t.Error("Bool = false")
	}
	if got := r.Time("t"); !got.Equal(time.Unix(1717171717, 0)) {
		t.Errorf("Time = %v", got)
	}
	if got := r.TimeMilli("ms"); !got.Equal(time.UnixMilli(1717171717123)) {
		t.Errorf("TimeMilli = %v", got)
	}
	for _, missing := range []func(string) bool{
		func(k string) bool { _, ok := r.OptionalText(k); return ok },
		func(k string) bool { _, ok := r.OptionalJID(k); return ok },
		func(k string) bool { _, ok := r.OptionalInt(k); return ok },
		func(k string) bool { _, ok := r.OptionalUint(k); return ok },
		func(k string) bool { _, ok := r.OptionalBool(k); return ok },
		func(k string) bool { _, ok := r.OptionalTime(k); return ok },
		func(k string) bool { _, ok := r.OptionalTimeMilli(k); return ok },
	} {
		if missing("nothing") {
			t.Error("an optional attribute is there")
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestAttrReaderErrors(t *testing.T) {
	n := Build("iq").Attr("number", "12a").Attr("address", "nobody").Attr("truth", "yes").JID("jid", JID{User: "1", Server: ServerLID}).Node()
	r := n.Read()
	zero := r.Int("number") == 0 && r.Uint("number") == 0 && r.JID("address") == JID{} && !r.Bool("truth") && r.Time("number").IsZero() &&
		r.Int("jid") == 0 && !r.Bool("jid") && r.Text("absent") == "" && r.JID("absent") == JID{}
	if _, ok := r.OptionalInt("number"); ok || !zero {
		t.Error("errors come with values")
	}
	err := r.Err()
	if !errors.Is(err, ErrMissingAttr) || !errors.Is(err, ErrAttrSyntax) {
		t.Fatalf("%v", err)
	}
	if got := strings.Count(err.Error(), "\n") + 1; got != 10 {
		t.Errorf("%d errors, want 10: %v", got, err)
	}
	var attr *AttrError
	if !errors.As(err, &attr) || attr.Key != "number" {
		t.Errorf("the first error is %v", attr)
	}
	if strings.Contains(err.Error(), "12a") || strings.Contains(err.Error(), "nobody") {
		t.Errorf("a value is in the text: %v", err)
	}
	for text, want := range map[string]bool{"1": true, "t": true, "T": true, "true": true, "True": true, "TRUE": true, "0": false, "f": false, "F": false, "false": false, "False": false, "FALSE": false} {
		n := Build("iq").Attr("b", text).Node()
		r := n.Read()
		if got := r.Bool("b"); got != want || r.Err() != nil {
			t.Errorf("%q reads as %v, %v", text, got, r.Err())
		}
	}
}

func TestBuilder(t *testing.T) {
	n := Build("iq").Attr("a", "1").Attr("b", "2").Attr("a", "3").Push("c", Text("4")).
		Add(Build("list").Add(Build("item").Bytes([]byte{1}).Node(), Build("item").Text("x").Node()).Node()).
		Add(Build("end").Node()).Node()
	want := Node{Tag: "iq", Attrs: []Attr{{"a", Text("3")}, {"b", Text("2")}, {"c", Text("4")}}, Content: NodesContent(
		Node{Tag: "list", Content: NodesContent(Node{Tag: "item", Content: BytesContent([]byte{1})}, Node{Tag: "item", Content: TextContent("x")})},
		Node{Tag: "end"},
	)}
	if !Equal(&n, &want) {
		t.Errorf("%v, want %v", &n, &want)
	}
	if got := n.Find("list", "item"); got == nil || got.Content.Kind() != BytesKind {
		t.Errorf("Find = %v", got)
	}
	if n.Find() != &n || n.Find("list", "none") != nil || n.Find("none", "item") != nil || n.Child("item") != nil {
		t.Error("Find finds what is not there")
	}
	items := 0
	for c := range n.Child("list").Children("item") {
		if items++; c.Tag != "item" {
			t.Errorf("a child %v", c)
		}
	}
	for range n.Child("list").Children("item") {
		break
	}
	if items != 2 {
		t.Errorf("%d items", items)
	}
}

// TestString: nothing of a phone number, of a text or of bytes is shown.
func TestString(t *testing.T) {
	private := []string{"15550000001", "15550000002", "Someone", "c2VjcmV0", "1555000"}
	n := Build("message").JID("from", JID{User: "15550000001", Server: ServerUser, Device: 7}).Attr("to", "15550000002@s.whatsapp.net").
		Attr("phone", "15550000001").Attr("id", "3EB0E0E5F2D4F618589C0B").Attr("t", "1717171717").Attr("type", "text").Attr("notify", "Someone").
		Attr("auth", "c2VjcmV0").Attr("e", "3").JID("participant", JID{User: "100000000000001", Server: ServerLID, Device: 2}).
		JID("group", JID{User: "15550000001-1400000000", Server: ServerGroup}).Attr("iq", "15550000001").
		Add(Build("enc").Attr("v", "2").Bytes([]byte("Someone")).Node(), Build("body").Text("Someone").Node(), Build("user").Text("15550000001").Node(), Build("15550000002").Node()).Node()
	got := n.String()
	for _, s := range private {
		if strings.Contains(got, s) {
			t.Errorf("%q is in %s", s, got)
		}
	}
	for _, s := range []string{
		"<message ", `from="pn#`, `:7@s.whatsapp.net"`, `id="3EB0E0E5F2D4F618589C0B"`, `t="1717171717"`, `type="text"`, `notify="[7 bytes]"`, `e="3"`, `phone="[11 bytes]"`,
		`participant="100000000000001:2@lid"`, `-1400000000@g.us"`, "\n  <enc v=\"2\"><!-- 7 bytes --></enc>", "<body>[7 bytes]</body>", "</message>",
	} {
		if !strings.Contains(got, s) {
			t.Errorf("%q is not in %s", s, got)
		}
	}
	loop := make([]Node, 1)
	loop[0] = Node{Tag: "a", Content: NodesContent(loop...)}
	if s := loop[0].String(); len(s) > 1<<20 {
		t.Errorf("a tree in itself takes %d bytes", len(s))
	}
}

func TestRedacted(t *testing.T) {
	user := JID{User: "15550000001", Server: ServerUser}
	if a, b := user.Redacted(), user.Redacted(); a != b || !strings.HasPrefix(a, "pn#") || len(a) != len("pn#0123456789abcdef@s.whatsapp.net") {
		t.Errorf("%s and %s", a, b)
	}
	other := JID{User: "15550000002", Server: ServerUser}
	if user.Redacted() == other.Redacted() {
		t.Error("two users have one hash")
	}
	for j, want := range map[JID]string{
		{Server: ServerUser}:                                   "s.whatsapp.net",
		{User: "100000000000001", Server: ServerLID}:           "100000000000001@lid",
		{User: "status", Server: ServerBroadcast}:              "status@broadcast",
		{User: "120363000000000001", Server: ServerGroup}:      "120363000000000001@g.us",
		{User: "867051314767696", Server: ServerBot}:           "867051314767696@bot",
		{User: "120363000000000002", Server: ServerNewsletter}: "120363000000000002@newsletter",
	} {
		if got := j.Redacted(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, j := range []JID{
		{User: "a name", Server: ServerLID},
		{User: "a name", Server: ServerGroup},
		{User: "15550000001", Server: ServerLegacy},
		{User: "15550000001", Server: ServerMessenger},
		{User: "1", Server: "15550000001"},
		{User: "15550000001", Server: ServerHosted},
	} {
		if got := j.Redacted(); strings.Contains(got, "15550000001") || strings.Contains(got, "a name") {
			t.Errorf("%s shows it all", got)
		}
	}
}
