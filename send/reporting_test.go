package send

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/testvec"
)

// TestRecordedTokens: content, key and token of the recordings, where other
// implementations differ those of the variant that recurses into messages.
func TestRecordedTokens(t *testing.T) {
	type variant struct{ Content, Token testvec.Hex }
	var file struct {
		Whitelist []json.RawMessage `json:"fields_whitelist"`
		Cases     []struct {
			Name                 string
			Message, Secret, Key testvec.Hex
			ID                   string `json:"message_id"`
			Sender, Remote       string
			Content, Token       testvec.Hex
			Wacore               *variant `json:"wacore_variant"`
		}
	}
	testvec.Load(t, "reporting_token", &file)
	if len(file.Cases) != 19 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, v := range file.Cases {
		want := variant{v.Content, v.Token}
		if v.Wacore != nil {
			want = *v.Wacore
		}
		content := ReportingContent(v.Message)
		if !bytes.Equal(content, want.Content) {
			t.Errorf("%s: content %x, want %x", v.Name, content, want.Content)
			continue
		}
		// The recordings name users without their device.
		sender, err := binary.ParseJID(v.Sender)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ReportingKey(v.Secret, v.ID, sender.NonAD().String(), v.Remote)
		if err != nil || !bytes.Equal(key[:], v.Key) {
			t.Errorf("%s: key %x, %v; want %x", v.Name, key, err, v.Key)
		}
		if token := ReportingToken(&key, content); !bytes.Equal(token[:], want.Token) {
			t.Errorf("%s: token %x, want %x", v.Name, token, want.Token)
		}
	}
	// What is reported is what the file says.
	if len(file.Whitelist) != len(reportedFields) {
		t.Fatalf("%d fields are reported, want %d", len(reportedFields), len(file.Whitelist))
	}
	for i, raw := range file.Whitelist {
		checkReported(t, raw, reportedFields[i])
	}
}

// checkReported compares a field with its description, lists in any order.
func checkReported(t *testing.T, raw json.RawMessage, got reported) {
	t.Helper()
	var want struct {
		F protowire.Number
		M bool
		S []json.RawMessage
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if got.num != want.F || got.message != want.M || len(got.list) != len(want.S) {
		t.Fatalf("field %+v, want %s", got, raw)
	}
	for _, s := range want.S {
		var f struct{ F protowire.Number }
		if err := json.Unmarshal(s, &f); err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(got.list, func(r reported) bool { return r.num == f.F })
		if i < 0 {
			t.Fatalf("field %d lacks %d", got.num, f.F)
		}
		checkReported(t, s, got.list[i])
	}
}

func TestReportingContent(t *testing.T) {
	for name, c := range map[string]struct{ message, want string }{
		"conversation":                         {"0a0454657374", "0a0454657374"},
		"extended text":                        {"32040a024869", "32040a024869"},
		"nothing reported of a nested field":   {"32048a01" + "01" + "28", ""},
		"a varint where a message is listed":   {"3005", "3005"},
		"fixed fields":                         {"0d01020304" + "090102030405060708", "0d01020304" + "090102030405060708"},
		"a value past the end":                 {"0a0161" + "0a0562", "0a0161"},
		"a fixed value past the end":           {"0a0161" + "0d0102", "0a0161"},
		"a tag cut short":                      {"0a0161" + "80", ""},
		"a length cut short":                   {"0a0161" + "0a80", ""},
		"a varint cut short":                   {"0a0161" + "0880", ""},
		"a group":                              {"0a0161" + "0b0c", ""},
		"type 6":                               {"0a0161" + "0e", ""},
		"type 7":                               {"0a0161" + "0f", ""},
		"a nested level that does not parse":   {"0a0161" + "32030a0148", "0a0161" + "32030a0148"},
		"a nested level with a group":          {"0a0161" + "32040a01480b", "0a0161"},
		"a nested level with a value too long": {"32060a014812056162"[:16], "32030a0148"},
		"order of equal numbers":               {"32030a0162" + "0a0132" + "32030a0161" + "0a0131", "0a0132" + "0a0131" + "32030a0162" + "32030a0161"},
		"a field number that wraps":            {"8a8080808001" + "0161", ""},
	} {
		if got := ReportingContent(unhex(c.message)); !bytes.Equal(got, unhex(c.want)) {
			t.Errorf("%s: %x, want %s", name, got, c.want)
		}
	}
}

// TestReportingDepth: a message in a message in a message, and so on, costs no
// more than its size times a bound.
func TestReportingDepth(t *testing.T) {
	wrap := func(n int) []byte {
		b := unhex("0a0161")
		for range n {
			inner := append(appendLen(nil, 1, len(b)), b...)
			b = append(appendLen(nil, 37, len(inner)), inner...)
		}
		return b
	}
	if shallow := wrap(10); !bytes.Equal(ReportingContent(shallow), shallow) {
		t.Error("ten levels are not reported")
	}
	if got := ReportingContent(wrap(3000)); len(got) != 0 {
		t.Errorf("%d bytes of three thousand levels", len(got))
	}
}

func TestNewReporting(t *testing.T) {
	secret := bytes.Repeat([]byte{0x42}, 32)
	message := append(unhex("0a0548656c6c6f"), unhex("9a02221a20")...)
	message = append(message, secret...)
	r, err := NewReporting(message, "3EB0E0E5F2D4F618589C0B", "5511999887766@s.whatsapp.net", "5511888776655@s.whatsapp.net")
	if err != nil || fmt.Sprintf("%x", r.Token) != "18dc527fb2ede90ba74c932e5e5ced09" || !bytes.Equal(r.Secret[:], secret) {
		t.Fatalf("%+v, %v", r, err)
	}
	if want := append(append(unhex("1a20"), secret...), 0x40, 2); !bytes.Equal(r.Context, want) {
		t.Errorf("context %x, want %x", r.Context, want)
	}
	const group = "120363000000000001@g.us"
	if r, err = NewReporting(message, "3EB0E0E5F2D4F618589C0B", group, group); err != nil || fmt.Sprintf("%x", r.Token) != "16bfbcc09805152b248f1ef8416482e4" {
		t.Fatalf("%+v, %v", r, err)
	}
	want := &binary.Node{Tag: "reporting", Content: binary.NodesContent(binary.Node{
		Tag: "reporting_token", Attrs: []binary.Attr{attr("v", "2")}, Content: binary.BytesContent(r.Token[:]),
	})}
	if n := r.Node(); !binary.Equal(&n, want) {
		t.Errorf("node %+v", n)
	}

	// A secret is drawn where the message has none of the right size.
	for _, m := range []string{"0a0548656c6c6f", "0a0548656c6c6f" + "9a02041a026162"} {
		queue(t, secret)
		if r, err := NewReporting(unhex(m), "3EB0E0E5F2D4F618589C0B", group, group); err != nil || fmt.Sprintf("%x", r.Token) != "16bfbcc09805152b248f1ef8416482e4" {
			t.Errorf("%+v, %v", r, err)
		}
	}
	// And nothing is drawn for what has no token.
	queue(t)
	for name, m := range map[string]string{
		"empty": "", "nothing to report": "c202020a00", "reaction": "0a0161" + "f20200", "encrypted reaction": "0a0161" + "c20300",
		"group": "0a0161" + "0b0c", "vote": "0a0161" + "920300", "keep": "0a0161" + "9a0300",
	} {
		if r, err := NewReporting(unhex(m), "id", group, group); err != nil || r != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for _, m := range []string{"0a", "0a0161" + "0a0561", "0a0161" + "0000", "0a0161" + "0b", "0a0161" + "0f", "0a0161" + "8080808080"} {
		if r, err := NewReporting(unhex(m), "id", group, group); !errors.Is(err, ErrMalformed) || r != nil {
			t.Errorf("malformed %s: %+v, %v", m, r, err)
		}
	}
	if _, err := ReportingKey(secret[:31], "id", group, group); !errors.Is(err, ErrReportingSecret) {
		t.Errorf("a short secret: %v", err)
	}
}

func FuzzReportingContent(f *testing.F) {
	f.Add(unhex("0a0454657374"))
	f.Add(unhex("32040a024869"))
	f.Add(unhex("aa02230a211a1f1209696d6167652f706e671a12676976656e207465787420766f20f09f8e89"))
	f.Add(unhex("0a01610b"))
	f.Fuzz(func(t *testing.T, message []byte) {
		content := ReportingContent(message)
		_, _, malformed := splitContext(message)
		r, err := NewReporting(message, "id", "from", "to")
		if (err != nil) != (malformed != nil) || r != nil && len(content) == 0 {
			t.Errorf("%x: %+v, %v; content %x, %v", message, r, err, content, malformed)
		}
		if r != nil {
			key, err := ReportingKey(r.Secret[:], "id", "from", "to")
			if token := ReportingToken(&key, content); err != nil || token != r.Token {
				t.Errorf("%x: token %x, want %x, %v", message, r.Token, token, err)
			}
		}
		if again := ReportingContent(content); !bytes.Equal(again, content) {
			t.Errorf("%x has the content %x, which has %x", message, content, again)
		}
		if len(content) > len(message) {
			t.Errorf("%d bytes of %d", len(content), len(message))
		}
	})
}

// TestReportingKey compares with the standard library.
func TestReportingKey(t *testing.T) {
	secret := [32]byte{1, 2, 3, 31: 0xff}
	for n := range 300 {
		id := strings.Repeat("i", n)
		want, err := hkdf.Key(sha256.New, secret[:], nil, id+"from"+"to"+"Report Token", 32)
		if err != nil {
			t.Fatal(err)
		}
		key, err := ReportingKey(secret[:], id, "from", "to")
		if err != nil || !bytes.Equal(key[:], want) {
			t.Fatalf("id of %d bytes: key %x, %v; want %x", n, key, err, want)
		}
		h := hmac.New(sha256.New, want)
		h.Write([]byte(id))
		if token := ReportingToken(&key, []byte(id)); !bytes.Equal(token[:], h.Sum(nil)[:ReportingTokenSize]) {
			t.Fatalf("token over %d bytes: %x", n, token)
		}
	}
}
