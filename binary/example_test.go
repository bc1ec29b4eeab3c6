package binary_test

import (
	"fmt"

	"github.com/sigcore/sigcore/binary"
)

// A node is built, sent as a frame, and read again.
func Example() {
	to := binary.JID{User: "15550000001", Server: binary.ServerUser, Device: 7}
	ack := binary.Build("ack").Attr("id", "3EB0E0E5F2D4F618589C0B").Attr("class", "receipt").JID("to", to).Int("t", 1717171717).Node()
	frame, err := binary.Marshal(&ack)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, err := binary.UnmarshalFrame(frame)
	if err != nil {
		fmt.Println(err)
		return
	}
	attrs := n.Read()
	class, device, at := attrs.Text("class"), attrs.JID("to").Device, attrs.Time("t")
	if err := attrs.Err(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(frame), class, device, at.UTC().Format("2006-01-02"))
	// Output: 40 receipt 7 2024-05-31
}

// A loop that receives frames reads them in one Arena and copies what it keeps.
func ExampleArena() {
	frame, err := binary.Marshal(&binary.Node{Tag: "presence", Attrs: []binary.Attr{{Key: "type", Value: binary.Text("unavailable")}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var arena binary.Arena
	var kept []*binary.Node
	for range 3 {
		n, err := arena.UnmarshalFrame(frame)
		if err != nil {
			fmt.Println(err)
			return
		}
		if attrs := n.Read(); attrs.Text("type") == "unavailable" {
			kept = append(kept, n.Clone())
		}
	}
	fmt.Println(len(kept), kept[0])
	// Output: 3 <presence type="unavailable"/>
}
