package main

import (
	"errors"
	"fmt"
	"sync"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// server is what stands between the devices: it keeps published prekeys and
// turns the stanza of a sender into one for each device. It sees ciphertexts
// only.
type server struct {
	mu      sync.Mutex
	bundles map[binary.JID]*signal.Bundle
	preKeys map[binary.JID][]signal.PublicPreKey
	bytes   int // in frames, both ways
}

func newServer() *server {
	return &server{
		bundles: make(map[binary.JID]*signal.Bundle),
		preKeys: make(map[binary.JID][]signal.PublicPreKey),
	}
}

func (s *server) publish(jid binary.JID, b *signal.Bundle, keys []signal.PublicPreKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundles[jid], s.preKeys[jid] = b, keys
}

// bundle hands out a bundle, with a one-time prekey that nobody else gets.
func (s *server) bundle(jid binary.JID) (*signal.Bundle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	published := s.bundles[jid]
	if published == nil {
		return nil, errors.New("the server has no bundle of a device")
	}
	b := *published
	if keys := s.preKeys[jid]; len(keys) > 0 {
		b.HasPreKey, b.PreKeyID, b.PreKey = true, keys[0].ID, keys[0].Public
		s.preKeys[jid] = keys[1:]
	}
	return &b, nil
}

// delivery is a frame for one device.
type delivery struct {
	to    binary.JID
	frame []byte
}

// route takes a frame from a sender apart. members are the devices that a
// message to a group is for.
func (s *server) route(from binary.JID, frame []byte, members []binary.JID) ([]delivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes += len(frame)
	node, err := binary.UnmarshalFrame(frame)
	if err != nil {
		return nil, err
	}
	id, _ := node.Attr("id")
	kind, _ := node.Attr("type")
	to, _ := node.Attr("to")
	chat, ok := to.JID()
	if !ok {
		return nil, errors.New("stanza to nobody")
	}
	copies, err := copiesOf(node)
	if err != nil {
		return nil, err
	}
	attrs := []binary.Attr{{Key: "from", Value: from.Value()}, {Key: "id", Value: id}, {Key: "type", Value: kind}}
	common := node.Child("enc") // the message of a group, for everybody
	if common == nil {
		members = nil
		for jid := range copies {
			members = append(members, jid)
		}
	} else {
		attrs[0].Value = chat.Value()
		attrs = append(attrs, binary.Attr{Key: "participant", Value: from.Value()})
	}
	var out []delivery
	for _, jid := range members {
		if jid == from {
			continue
		}
		var encs []binary.Node
		if enc := copies[jid]; enc != nil {
			encs = append(encs, *enc)
		}
		if common != nil {
			encs = append(encs, *common)
		}
		frame, err := binary.Marshal(&binary.Node{Tag: "message", Attrs: attrs, Content: binary.NodesContent(encs...)})
		if err != nil {
			return nil, fmt.Errorf("stanza for a device: %w", err)
		}
		s.bytes += len(frame)
		out = append(out, delivery{jid, frame})
	}
	return out, nil
}

// copiesOf returns the enc node of each device in the participants.
func copiesOf(node *binary.Node) (map[binary.JID]*binary.Node, error) {
	copies := make(map[binary.JID]*binary.Node)
	participants := node.Child("participants")
	if participants == nil {
		return copies, nil
	}
	list := participants.Content.Nodes()
	for i := range list {
		attr, _ := list[i].Attr("jid")
		jid, ok := attr.JID()
		enc := list[i].Child("enc")
		if !ok || enc == nil {
			return nil, errors.New("participant without device or message")
		}
		copies[jid] = enc
	}
	return copies, nil
}
