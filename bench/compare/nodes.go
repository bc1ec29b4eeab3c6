package main

import (
	"bytes"
	"fmt"

	wabinary "go.mau.fi/whatsmeow/binary"

	"github.com/sigcore/sigcore/bench/wanode"
	"github.com/sigcore/sigcore/binary"
)

// fanOutWidths are the numbers of recipients of the fan-out operations.
var fanOutWidths = []int{8, 32, 128, 512}

// smallNode is a direct message as it arrives: seven attributes, two of them
// JIDs, and a payload of 150 bytes.
func smallNode() binary.Node {
	return binary.Node{
		Tag: "message",
		Attrs: []binary.Attr{
			{Key: "from", Value: binary.JID{User: "15550000001", Server: binary.ServerUser, Device: 7}.Value()},
			{Key: "recipient", Value: binary.JID{User: "15550000002", Server: binary.ServerUser}.Value()},
			{Key: "id", Value: binary.Text("3EB0A1B2C3D4E5F60718")},
			{Key: "type", Value: binary.Text("text")},
			{Key: "t", Value: binary.Text("1717171717")},
			{Key: "notify", Value: binary.Text("Someone")},
			{Key: "offline", Value: binary.Text("2")},
		},
		Content: binary.NodesContent(binary.Node{
			Tag:     "enc",
			Attrs:   []binary.Attr{{Key: "v", Value: binary.Text("2")}, {Key: "type", Value: binary.Text("msg")}},
			Content: binary.BytesContent(bytes.Repeat([]byte{7}, 150)),
		}),
	}
}

// stanzaNode is about the smallest message there is.
func stanzaNode() binary.Node {
	return binary.Node{Tag: "message", Attrs: []binary.Attr{
		{Key: "to", Value: binary.JID{User: "15550000001", Server: binary.ServerUser}.Value()},
		{Key: "id", Value: binary.Text("12345")},
		{Key: "type", Value: binary.Text("text")},
	}}
}

// fanOutNode is a group message to so many devices, four a user: payloads of
// 128 bytes of an established session, or of 320 of a first message.
func fanOutNode(width int, first bool) binary.Node {
	kind, size := "msg", 128
	if first {
		kind, size = "pkmsg", 320
	}
	to := make([]binary.Node, width)
	for i := range to {
		to[i] = binary.Node{
			Tag: "to",
			Attrs: []binary.Attr{{Key: "jid", Value: binary.JID{
				User: fmt.Sprint(15550000000 + int64(i/4)), Server: binary.ServerUser, Device: uint16(i % 4),
			}.Value()}},
			Content: binary.NodesContent(binary.Node{
				Tag:     "enc",
				Attrs:   []binary.Attr{{Key: "v", Value: binary.Text("2")}, {Key: "type", Value: binary.Text(kind)}},
				Content: binary.BytesContent(bytes.Repeat([]byte{byte(i)}, size)),
			}),
		}
	}
	return binary.Node{
		Tag: "message",
		Attrs: []binary.Attr{
			{Key: "to", Value: binary.JID{User: "120363000000000001", Server: binary.ServerGroup}.Value()},
			{Key: "id", Value: binary.Text("3EB0A1B2C3D4E5F60718")},
			{Key: "type", Value: binary.Text("text")},
		},
		Content: binary.NodesContent(binary.Node{Tag: "participants", Content: binary.NodesContent(to...)}),
	}
}

// exchanged returns the encoding of n without the flag byte, after both libraries
// have written and read it.
func exchanged(n *binary.Node) ([]byte, error) {
	theirs, err := wanode.To(n)
	if err != nil {
		return nil, err
	}
	data, err := binary.Marshal(n)
	if err != nil {
		return nil, err
	}
	written, err := wabinary.Marshal(theirs)
	if err != nil {
		return nil, err
	}
	if len(written) != len(data) {
		return nil, fmt.Errorf("%d bytes, by whatsmeow %d", len(data), len(written))
	}
	back, err := binary.Unmarshal(data[1:])
	if err != nil {
		return nil, err
	}
	if !binary.Equal(n, back) {
		return nil, fmt.Errorf("the node does not come back")
	}
	_, err = wabinary.Unmarshal(data[1:])
	return data[1:], err
}

// repeated is a subject that calls f n times.
func repeated(f func() error) subject {
	return subject{run: func(n int) error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}}
}

func contendMarshal(op string, make func() binary.Node) {
	contend(op, "sigcore", func() (subject, error) {
		n := make()
		_, err := exchanged(&n)
		return repeated(func() error {
			_, err := binary.Marshal(&n)
			return err
		}), err
	})
	contend(op, "whatsmeow", func() (subject, error) {
		ours := make()
		n, err := wanode.To(&ours)
		return repeated(func() error {
			_, err := wabinary.Marshal(n)
			return err
		}), err
	})
}

// contendAppend is contendMarshal with a buffer that is used again, which only
// sigcore can write to.
func contendAppend(op string, make func() binary.Node) {
	contend(op, "sigcore", func() (subject, error) {
		n := make()
		var buf []byte
		_, err := exchanged(&n)
		return repeated(func() (err error) {
			buf, err = binary.AppendMarshal(buf[:0], &n)
			return err
		}), err
	})
	contend(op, "whatsmeow", func() (subject, error) {
		ours := make()
		n, err := wanode.To(&ours)
		return repeated(func() error {
			_, err := wabinary.Marshal(n)
			return err
		}), err
	})
}

func contendUnmarshal(op string, make func() binary.Node, ours func() func([]byte) (*binary.Node, error)) {
	contend(op, "sigcore", func() (subject, error) {
		n := make()
		data, err := exchanged(&n)
		unmarshal := ours()
		return repeated(func() error {
			_, err := unmarshal(data)
			return err
		}), err
	})
	contend(op, "whatsmeow", func() (subject, error) {
		n := make()
		data, err := exchanged(&n)
		return repeated(func() error {
			_, err := wabinary.Unmarshal(data)
			return err
		}), err
	})
}

func init() {
	// In place and in the memory of the node before, as a loop that receives.
	borrowed := func() func([]byte) (*binary.Node, error) { return new(binary.Arena).Unmarshal }
	owned := func() func([]byte) (*binary.Node, error) { return binary.Unmarshal }
	contendMarshal("marshal_small", smallNode)
	contendUnmarshal("unmarshal_small", smallNode, borrowed)
	contendUnmarshal("unmarshal_small_owned", smallNode, owned)
	contendAppend("marshal_small_append", smallNode)
	contendAppend("marshal_fanout512_append", func() binary.Node { return fanOutNode(512, false) })
	contendMarshal("marshal_stanza", stanzaNode)
	contendUnmarshal("unmarshal_stanza", stanzaNode, borrowed)
	for _, width := range fanOutWidths {
		msg := func() binary.Node { return fanOutNode(width, false) }
		contendMarshal(fmt.Sprintf("marshal_fanout%d", width), msg)
		contendMarshal(fmt.Sprintf("marshal_fanout_pkmsg%d", width), func() binary.Node { return fanOutNode(width, true) })
		contendUnmarshal(fmt.Sprintf("unmarshal_fanout%d", width), msg, borrowed)
	}
	contendUnmarshal("unmarshal_fanout512_owned", func() binary.Node { return fanOutNode(512, false) }, owned)
}
