package binary

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// TestArenaAllocations: a loop that receives nodes, compressed ones apart,
// allocates nothing, whatever the order of their sizes.
func TestArenaAllocations(t *testing.T) {
	if testvec.Race {
		t.Skip("the race detector allocates")
	}
	var frames [][]byte
	for _, width := range []int{512, 3, 128, 0} {
		data, err := Marshal(fanOut(width))
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, data)
	}
	var a Arena
	receive := func() {
		for _, f := range frames {
			if n, err := a.UnmarshalFrame(f); err != nil || n.Tag != "message" {
				t.Fatal(n, err)
			}
		}
	}
	receive()
	if got := testing.AllocsPerRun(20, receive); got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestArenaKeepsNothing: after a small node the arena does not refer to the
// larger one before it, after an error to none.
func TestArenaKeepsNothing(t *testing.T) {
	large, err := Marshal(fanOut(40))
	if err != nil {
		t.Fatal(err)
	}
	small, err := Marshal(&Node{Tag: "iq", Attrs: []Attr{{"id", Text("x")}}})
	if err != nil {
		t.Fatal(err)
	}
	var a Arena
	for range 2 { // the slabs have their size after the first
		if _, err := a.UnmarshalFrame(large); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.UnmarshalFrame(small); err != nil {
		t.Fatal(err)
	}
	for i, n := range a.nodes[1:] {
		if !reflect.DeepEqual(tree(&n), tree(&Node{})) {
			t.Fatalf("node %d of the slab is %+v", i+1, n)
		}
	}
	for i, attr := range a.attrs[1:] {
		if attr != (Attr{}) {
			t.Fatalf("attribute %d of the slab is %+v", i+1, attr)
		}
	}
	if _, err := a.UnmarshalFrame(large[:len(large)-1]); !errors.Is(err, ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	for i, n := range a.nodes {
		if n.Tag != "" || n.Attrs != nil || n.Content.Kind() != None {
			t.Fatalf("after an error, node %d of the slab is %+v", i, n)
		}
	}
	if a.Backing() != nil {
		t.Error("after an error there is a backing")
	}
}

// TestArenaBacking: what arrived can be passed on as it was.
func TestArenaBacking(t *testing.T) {
	data, err := Marshal(fanOut(3))
	if err != nil {
		t.Fatal(err)
	}
	var a Arena
	for _, frame := range [][]byte{data, compress(t, data[1:])} {
		n, err := a.UnmarshalFrame(frame)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(Pack(a.Backing()), data) {
			t.Error("the backing is not what arrived")
		}
		kept := n.Clone()
		if !Equal(n, kept) {
			t.Error("the copy differs")
		}
		if _, err := a.UnmarshalFrame(compress(t, bytes.Repeat([]byte{0xf8, 1, 8}, 1000))); !errors.Is(err, ErrLeftoverData) {
			t.Errorf("%v, want ErrLeftoverData", err)
		}
		if want := fanOut(3); !Equal(kept, want) {
			t.Error("the copy changed")
		}
	}
	if n, err := PlainNode(data); err != nil || !bytes.Equal(n, data[1:]) {
		t.Errorf("PlainNode: %v", err)
	}
	for _, c := range []struct {
		frame []byte
		want  error
	}{{nil, ErrEmptyFrame}, {[]byte{0}, ErrEmptyFrame}, {[]byte{2, 1}, ErrFlagByte}, {[]byte{0xf8, 1, 8}, ErrFlagByte}} {
		if _, err := PlainNode(c.frame); !errors.Is(err, c.want) {
			t.Errorf("%x: %v, want %v", c.frame, err, c.want)
		}
	}
}

// TestArenaLimits: hostile nodes do not make an arena keep more than it says.
func TestArenaLimits(t *testing.T) {
	data := append(unhex("f80219f9ffff"), bytes.Repeat(unhex("f80119"), 65535)...)
	var a Arena
	for range 3 {
		n, err := a.Unmarshal(data)
		if err != nil || len(n.Content.Nodes()) != 65535 {
			t.Fatal(err)
		}
		if kept := len(a.nodes)*nodeSize + len(a.attrs)*attrSize + len(a.text); kept > 3*keepLen {
			t.Fatalf("%d bytes are kept", kept)
		}
	}
	a.Reset()
	if a.nodes != nil || a.Backing() != nil {
		t.Error("Reset keeps something")
	}
}

// TestClone: a copy does not change with what it was made of.
func TestClone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		n := randomNode(r, 3)
		data, err := Marshal(&n)
		if err != nil {
			continue
		}
		borrowed, err := UnmarshalInPlace(data[1:])
		if err != nil {
			t.Fatal(err)
		}
		kept := borrowed.Clone()
		want, err := Unmarshal(data[1:])
		if err != nil {
			t.Fatal(err)
		}
		clear(data)
		if !reflect.DeepEqual(tree(kept), tree(want)) {
			t.Fatalf("%v, want %v", kept, want)
		}
	}
	if testvec.Race {
		return
	}
	n := fanOut(32)
	if a := testing.AllocsPerRun(20, func() { n.Clone() }); a > 3 {
		t.Errorf("Clone: %v allocations", a)
	}
}
