package widthbench

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/testvec"
)

var widths = []int{8, 32, 128, 512}

// shapes are the kinds of payload with their lengths in bytes.
var shapes = []struct {
	kind string
	size int
}{{"msg", 128}, {"pkmsg", 320}}

// message returns a message to so many devices, four a user.
func message(width int, kind string, size int) *binary.Node {
	to := make([]binary.Node, width)
	for i := range to {
		jid := binary.JID{User: fmt.Sprint(15550000000 + int64(i/4)), Server: binary.ServerUser, Device: uint16(i % 4)}
		enc := binary.Node{
			Tag:     "enc",
			Attrs:   []binary.Attr{{Key: "v", Value: binary.Text("2")}, {Key: "type", Value: binary.Text(kind)}},
			Content: binary.BytesContent(bytes.Repeat([]byte{byte(i)}, size)),
		}
		to[i] = binary.Node{Tag: "to", Attrs: []binary.Attr{{Key: "jid", Value: jid.Value()}}, Content: binary.NodesContent(enc)}
	}
	return &binary.Node{
		Tag: "message",
		Attrs: []binary.Attr{
			{Key: "to", Value: binary.JID{User: "120363000000000001", Server: binary.ServerGroup}.Value()},
			{Key: "id", Value: binary.Text("3EB0A1B2C3D4E5F60718")},
			{Key: "type", Value: binary.Text("text")},
		},
		Content: binary.NodesContent(binary.Node{Tag: "participants", Content: binary.NodesContent(to...)}),
	}
}

// sweep runs f for every width and shape and reports nanoseconds a recipient.
func sweep(b *testing.B, f func(b *testing.B, n *binary.Node, data []byte)) {
	for _, shape := range shapes {
		for _, width := range widths {
			b.Run(fmt.Sprintf("shape=%s/width=%d", shape.kind, width), func(b *testing.B) {
				n := message(width, shape.kind, shape.size)
				data, err := binary.Marshal(n)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				f(b, n, data)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(width), "ns/recipient")
			})
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	sweep(b, func(b *testing.B, n *binary.Node, _ []byte) {
		for b.Loop() {
			if _, err := binary.Marshal(n); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendMarshal(b *testing.B) {
	sweep(b, func(b *testing.B, n *binary.Node, data []byte) {
		for b.Loop() {
			var err error
			if data, err = binary.AppendMarshal(data[:0], n); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUnmarshalArena(b *testing.B) {
	sweep(b, func(b *testing.B, _ *binary.Node, data []byte) {
		var a binary.Arena
		for b.Loop() {
			if _, err := a.UnmarshalFrame(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUnmarshal(b *testing.B) {
	sweep(b, func(b *testing.B, _ *binary.Node, data []byte) {
		for b.Loop() {
			if _, err := binary.UnmarshalFrame(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAllocations: the fixture is what the figures are about: one allocation to
// encode at any width, none to append or to decode in an arena.
func TestAllocations(t *testing.T) {
	for _, shape := range shapes {
		for _, width := range widths {
			n := message(width, shape.kind, shape.size)
			data, err := binary.Marshal(n)
			if err != nil {
				t.Fatal(err)
			}
			back, err := binary.Unmarshal(data[1:])
			if err != nil || !binary.Equal(n, back) {
				t.Fatalf("%s, %d: does not come back: %v", shape.kind, width, err)
			}
			var a binary.Arena
			for _, c := range []struct {
				name string
				most float64
				f    func()
			}{
				{"Marshal", 1, func() { _, _ = binary.Marshal(n) }},
				{"AppendMarshal", 0, func() { data, _ = binary.AppendMarshal(data[:0], n) }},
				{"Arena", 0, func() { _, _ = a.UnmarshalFrame(data) }},
			} {
				c.f()
				if got := testing.AllocsPerRun(50, c.f); got > c.most && !testvec.Race {
					t.Errorf("%s, %s, %d: %v allocations", c.name, shape.kind, width, got)
				}
			}
		}
	}
}
