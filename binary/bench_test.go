package binary

import (
	"fmt"
	"testing"
)

// benchNodes are the shapes of everyday traffic: a receipt, and messages to so
// many devices.
func benchNodes() map[string]*Node {
	nodes := map[string]*Node{
		"small": {Tag: "receipt", Attrs: []Attr{
			{"id", Text("3EB0E0E5F2D4F618589C0B")},
			{"to", JID{User: "15550000001", Server: ServerUser, Device: 7}.Value()},
			{"type", Text("read")},
			{"t", Text("1717171717")},
		}},
	}
	for _, n := range []int{8, 128, 512} {
		nodes[fmt.Sprintf("fanout%d", n)] = fanOut(n)
	}
	return nodes
}

func BenchmarkMarshal(b *testing.B) {
	for name, n := range benchNodes() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Marshal(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	for name, n := range benchNodes() {
		data, err := Marshal(n)
		if err != nil {
			b.Fatal(err)
		}
		for mode, unmarshal := range map[string]func([]byte) (*Node, error){
			"owned": Unmarshal, "inplace": UnmarshalInPlace, "arena": new(Arena).Unmarshal,
		} {
			b.Run(name+"/"+mode, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := unmarshal(data[1:]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
