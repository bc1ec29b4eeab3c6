package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// TestRecordedNodes encodes and decodes what three other implementations
// encoded and decoded.
func TestRecordedNodes(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name      string
			Node      jsonNode
			Encodings []struct {
				By      []string
				Data    hexText
				Decoded json.RawMessage
			}
			Agree bool `json:"encoders_agree"`
		}
	}
	testvec.Load(t, "nodes", &file)
	if len(file.Vectors) != 107 {
		t.Fatalf("%d vectors, want 107", len(file.Vectors))
	}
	agreed, reference := 0, 0
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			tooDeep := v.Name == "depth-200"
			encoder, compatible := Encoder{}, compatible
			if tooDeep {
				if _, err := Marshal(&v.Node.Node); !errors.Is(err, ErrEncode) {
					t.Errorf("201 levels: %v, want ErrEncode", err)
				}
				encoder.MaxDepth, compatible.MaxDepth = 201, 201
			}
			got, err := encoder.Marshal(&v.Node.Node)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range v.Encodings {
				n, err := Unmarshal(e.Data[1:])
				if tooDeep {
					if !errors.Is(err, ErrDepth) {
						t.Errorf("201 levels: %v, want ErrDepth", err)
					}
					deep, err := Decoder{MaxDepth: 201}.Unmarshal(e.Data[1:])
					if err != nil || !Equal(deep, &v.Node.Node) {
						t.Errorf("201 levels of 201: %v, %v", deep, err)
					}
					continue
				}
				if err != nil {
					if outcomes := verdicts(t, e.Decoded); outcomes == nil || outcomes["wrb"] != "error" {
						t.Errorf("by %v: %v", e.By, err)
					}
					continue
				}
				want := wanted(t, v.Node.Node, e.Decoded)
				if c := canonical(n); !reflect.DeepEqual(c, want) {
					t.Errorf("by %v: decodes to %v, want %v", e.By, c, want)
				}
				f, err := UnmarshalFrame(e.Data)
				if err != nil || !Equal(f, n) {
					t.Errorf("by %v: as a frame: %v, %v", e.By, f, err)
				}
				// What encoders agree on is the one form, so it passes strict decoding.
				if v.Agree {
					if s, err := UnmarshalStrict(e.Data[1:]); err != nil || !Equal(s, n) {
						t.Errorf("strict: %v", err)
					}
				}
			}
			if !tooDeep {
				back, err := Unmarshal(got[1:])
				if err != nil || !Equal(&v.Node.Node, back) && !strings.HasPrefix(v.Name, "jid-agent") {
					t.Errorf("%x decodes to %+v, %v", head(got), back, err)
				}
			}
			compat, err := compatible.Marshal(ref(withTextJIDs(v.Node.Node)))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range v.Encodings {
				if !bytes.Equal(hexText(compat), e.Data) {
					continue
				}
				for _, by := range e.By {
					if by == "wrb" {
						reference++
					}
				}
			}
			if v.Agree {
				agreed++
				if !bytes.Equal(got, v.Encodings[0].Data) {
					t.Errorf("encodes to %x, want %x", head(got), head(v.Encodings[0].Data))
				}
			}
		})
	}
	if agreed != 82 {
		t.Errorf("encoders agree on %d vectors, want 82", agreed)
	}
	if reference != 107 {
		t.Errorf("ClassifyCompat writes the bytes of the reference in %d vectors, want all 107", reference)
	}
}

func ref(n Node) *Node { return &n }

func head(b []byte) []byte { return b[:min(len(b), 64)] }

// verdicts returns what each peer decoded: "same", "error" or a node; nil if
// all decoded the node itself.
func verdicts(t *testing.T, raw json.RawMessage) map[string]any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	m, _ := v.(map[string]any)
	for k, y := range m {
		if s, ok := y.(string); ok && s != "same" {
			m[k] = "error"
			if strings.Contains(s, "unknown server") {
				m[k] = "unknown server"
			}
		}
	}
	return m
}

// wanted resolves the verdicts: what all say, else what the reference says. A
// JID of an unknown server is read all the same.
func wanted(t *testing.T, n Node, raw json.RawMessage) map[string]any {
	t.Helper()
	m := verdicts(t, raw)
	if m == nil || m["wrb"] == "same" || m["wrb"] == "unknown server" {
		return canonical(&n)
	}
	c, _ := m["wrb"].(map[string]any)
	return c
}

// TestRecordedMalformed reads the malformed nodes as the peers do, or the
// reference where they differ, but for the rows of the decision table.
func TestRecordedMalformed(t *testing.T) {
	var file struct {
		Malformed []struct {
			Name     string
			Data     testvec.Hex
			Verdicts map[string]struct {
				OK    map[string]any
				Error string
			}
			Agree bool
		}
		Deep []struct {
			Depth                      int
			JIDNesting                 int `json:"jid_nesting"`
			Unit, Tail, Head, Mid, End string
			UnitTail                   string `json:"unit_tail"`
		}
		Frames []struct {
			Name            string
			Frame, Inflated testvec.Hex
			Verdicts        map[string]string
			Agree           bool
		}
	}
	testvec.Load(t, "nodes_malformed", &file)
	for _, v := range file.Malformed {
		t.Run(v.Name, func(t *testing.T) {
			want := v.Verdicts["wrb"].OK
			switch {
			case strings.Contains(v.Verdicts["wrb"].Error, "unknown server") && !v.Agree:
				want = v.Verdicts["go"].OK
			case v.Name == "adjid-domain-2" || v.Name == "adjid-domain-255":
				want = nil // the recorded reference read them as domain 0
			}
			n, err := Unmarshal(v.Data)
			if want == nil {
				var syntax *SyntaxError
				if !errors.As(err, &syntax) || syntax.Offset > len(v.Data) {
					t.Fatalf("%v, %v; want a *SyntaxError with an offset inside", n, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := canonical(n); !reflect.DeepEqual(got, want) {
				t.Fatalf("decodes to %v, want %v", got, want)
			}
		})
	}
	for _, v := range file.Deep {
		n := max(v.Depth, v.JIDNesting)
		data, err := hex.DecodeString(v.Head + strings.Repeat(v.Unit, n) + v.Mid + strings.Repeat(v.UnitTail, n) + v.Tail)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Unmarshal(data)
		if v.Depth == 100 {
			if err != nil {
				t.Errorf("depth 100: %v", err)
			}
		} else if !errors.Is(err, ErrDepth) {
			t.Errorf("depth %d: %v, want ErrDepth", n, err)
		}
	}
	for _, v := range file.Frames {
		t.Run(v.Name, func(t *testing.T) {
			want, ok := strings.CutPrefix(v.Verdicts["wrb"], "ok ")
			n, err := UnmarshalFrame(v.Frame)
			if !ok {
				if err == nil {
					t.Fatal("accepted")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(pythonJSON(canonical(n))))
			if got := hex.EncodeToString(sum[:8]); got != want {
				t.Errorf("hash of the node %s, want %s", got, want)
			}
			if v.Inflated != nil {
				data, err := Unpack(v.Frame)
				if err != nil || !bytes.Equal(data, v.Inflated) {
					t.Errorf("inflates to %x, %v", head(data), err)
				}
			}
		})
	}
}

// pythonJSON writes v as Python's json.dumps does with sorted keys. The frames
// hold only ASCII without characters that JSON escapes.
func pythonJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	quoted := false
	for _, c := range b {
		if c == '"' {
			quoted = !quoted
		}
		out.WriteByte(c)
		if !quoted && (c == ':' || c == ',') {
			out.WriteByte(' ')
		}
	}
	return out.String()
}

func TestRecordedTokens(t *testing.T) {
	var file struct {
		Single []string
		Double [][]string
	}
	testvec.Load(t, "tokens", &file)
	if !reflect.DeepEqual(file.Single, singleTokens[:tagDictionary0]) {
		t.Error("single-byte tokens differ")
	}
	for i, d := range file.Double {
		if !reflect.DeepEqual(d, doubleTokens[i][:]) {
			t.Errorf("dictionary %d differs", i)
		}
	}
}
