package binary

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// TestClassifier: an encoder writes what its Classifier says, and refuses what
// cannot be.
func TestClassifier(t *testing.T) {
	n := Build("message").Attr("id", "3EB0").JID("to", JID{User: "15550000001", Server: ServerUser}).Text("15550000001@lid").Node()
	raw := Encoder{Classify: func(string) Class { return Class{} }}
	got, err := raw.Marshal(&n)
	if want := unhex("00f806fc076d657373616765fc026964fc0433454230fc02746ffafc0b3135353530303030303031fc0e732e77686174736170702e6e6574fc0f3135353530303030303031406c6964"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("all raw: %x, %v; want %x", got, err, want)
	}
	if back, err := Unmarshal(got[1:]); err != nil || !Equal(back, &n) {
		t.Errorf("all raw: %v, %v", back, err)
	}
	dst := []byte("kept")
	for _, other := range []string{"message", "15550000002", "3EB1", "15550000002:3@lid"} {
		wrong := Encoder{Classify: func(s string) Class {
			if s == "raw" {
				return Class{}
			}
			return Classify(other)
		}}
		text := "no token"
		if strings.Contains(other, "@") {
			text = "x@lid"
		}
		out, err := wrong.AppendMarshal(dst, &Node{Tag: "raw", Content: TextContent(text)})
		if !errors.Is(err, ErrPlanMismatch) || !bytes.Equal(out, dst) {
			t.Errorf("class of %q for %q: %x, %v; want ErrPlanMismatch", other, text, out, err)
		}
	}
}

// TestFickleClassifier: what is left out must be left out both when attributes
// are counted and when they are written.
func TestFickleClassifier(t *testing.T) {
	n := Build("message").Attr("id", "").Attr("to", " ").Attr("type", "text").Node()
	got, err := compatible.Marshal(&n)
	want, _ := Marshal(&Node{Tag: "message", Attrs: []Attr{{"type", Text("text")}}})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("left out: %x, %v; want %x", got, err, want)
	}
	for first := range 2 {
		asked := first
		fickle := Encoder{Classify: func(s string) Class {
			if s == "" {
				asked++
			}
			if s == "" && asked%2 == 0 {
				return Class{}
			}
			return ClassifyCompat(s)
		}}
		if got, err := fickle.Marshal(&n); !errors.Is(err, ErrPlanMismatch) {
			t.Errorf("%x, %v; want ErrPlanMismatch", got, err)
		}
	}
}

// TestLongPayloads: payloads that are not copied while planning come out in
// their places.
func TestLongPayloads(t *testing.T) {
	var nodes []Node
	for _, size := range []int{0, 1, 255, 256, spliceLen - 1, spliceLen, spliceLen + 1, 1<<20 - 1, 1 << 20, 10} {
		nodes = append(nodes, Node{Tag: "enc", Content: BytesContent(bytes.Repeat([]byte{byte(size + 3)}, size))})
	}
	n := Node{Tag: "list", Content: NodesContent(nodes...)}
	if roundTrip(t, &n) == nil {
		t.Fatal("no encoding")
	}
	buf, err := AppendMarshal([]byte("front"), &n)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Marshal(&n)
	if err != nil || string(buf[:5]) != "front" || !bytes.Equal(buf[5:], want) {
		t.Errorf("appended: %x, want %x", head(buf), head(want))
	}
	if a := testing.AllocsPerRun(10, func() { buf, _ = AppendMarshal(buf[:0], &n) }); a > 0 && !testvec.Race {
		t.Errorf("AppendMarshal: %v allocations", a)
	}
	for range 3 {
		e := encoders.Get().(*encoder)
		if e.pos != 1 || e.buf[0] != 0 || e.spliced != 0 || len(e.splices) != 0 || e.classify != nil {
			t.Errorf("an encoder in the pool is not clean: %d bytes, %d splices", e.pos, len(e.splices))
		}
		for _, s := range e.splices[:cap(e.splices)] {
			if s.data != nil {
				t.Error("an encoder in the pool refers to a payload")
			}
		}
	}
}
