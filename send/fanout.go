package send

import (
	"context"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// Account is what stanzas are encrypted with; *[signal.Account] is one.
type Account interface {
	// EncryptMany encrypts each item for its device. The results are in the
	// order of the items.
	EncryptMany(ctx context.Context, items []signal.Outgoing) ([]signal.EncryptResult, error)

	// SendGroup encrypts a message with our sender key and distributes the key.
	SendGroup(ctx context.Context, g *signal.GroupSend) (*signal.GroupResult, error)

	// SessionInfo describes the session with a device.
	SessionInfo(ctx context.Context, addr signal.Address) (signal.SessionInfo, error)
}

var _ Account = (*signal.Account)(nil)

// Enc says what the enc nodes of a message carry besides the ciphertext.
type Enc struct {
	MediaType string // "" for none

	// HideDecryptFail asks receivers not to show that they could not decrypt.
	HideDecryptFail bool
}

// Stanza is a stanza that is ready to be marshalled.
type Stanza struct {
	Node *binary.Node

	// Phash is the participant hash: what the stanza of a group carries, what
	// the acknowledgement of a direct message is compared with. "" for none.
	Phash string

	// Failures are the devices that were not encrypted for, in the order in
	// which they were given.
	Failures []Failure
}

// PrimaryFailed reports whether a primary device, one with the number 0, is
// among the failures.
func (s *Stanza) PrimaryFailed() bool {
	for i := range s.Failures {
		if s.Failures[i].Device.Device == 0 {
			return true
		}
	}
	return false
}

// sealed is a message encrypted for one device.
type sealed struct {
	device binary.JID
	signal.Ciphertext
}

// fanOut encrypts a plaintext for devices. It appends the copies to list and the
// failures to those of out. The items are made in the room of items.
func fanOut(ctx context.Context, a Account, address Addressing, devices []binary.JID, plaintext []byte, items []signal.Outgoing, list []sealed, out *Stanza) ([]sealed, error) {
	items = slices.Grow(items[:0], len(devices))
	for _, d := range devices {
		items = append(items, signal.Outgoing{To: address.of(d), Plaintext: plaintext})
	}
	results, err := a.EncryptMany(ctx, items)
	if err != nil {
		return nil, fmt.Errorf("send: encrypt for %d devices: %w", len(devices), err)
	}
	list, out.Failures = collect(devices, results, list, out.Failures)
	return list, nil
}

// collect tells the devices that were encrypted for from those that were not,
// and appends them to the one list and the other.
func collect(devices []binary.JID, results []signal.EncryptResult, list []sealed, failures []Failure) ([]sealed, []Failure) {
	list = slices.Grow(list, len(devices))
	for i, d := range devices {
		if err := results[i].Err; err != nil {
			failures = append(failures, Failure{d, err})
			continue
		}
		list = append(list, sealed{d, results[i].Ciphertext})
	}
	return list, failures
}

func typeName(t signal.MessageType) string {
	switch t {
	case signal.TypePreKey:
		return "pkmsg"
	case signal.TypeSenderKey:
		return "skmsg"
	}
	return "msg"
}

// appendAttrs appends the attributes of an enc node.
func (e *Enc) appendAttrs(attrs []binary.Attr, t signal.MessageType) []binary.Attr {
	attrs = append(attrs,
		binary.Attr{Key: "v", Value: binary.Text("2")},
		binary.Attr{Key: "type", Value: binary.Text(typeName(t))})
	if e.MediaType != "" {
		attrs = append(attrs, binary.Attr{Key: "mediatype", Value: binary.Text(e.MediaType)})
	}
	if e.HideDecryptFail {
		attrs = append(attrs, binary.Attr{Key: "decrypt-fail", Value: binary.Text("hide")})
	}
	return attrs
}

func (e *Enc) node(c signal.Ciphertext) binary.Node {
	return binary.Node{Tag: "enc", Attrs: e.appendAttrs(nil, c.Type), Content: binary.BytesContent(c.Body)}
}

// maxCopyAttrs is how many attributes a copy for a device has at most.
const maxCopyAttrs = 1 + 4

// participants returns the node with a copy for each device, made in the room
// of to and attrs if that is enough.
func (e *Enc) participants(list []sealed, to []binary.Node, attrs []binary.Attr) binary.Node {
	// Few allocations, however many devices: nodes and attributes are cut from
	// one slice each.
	to = slices.Grow(to[:0], 2*len(list))[:2*len(list)]
	to, encs := to[:len(list):len(list)], to[len(list):]
	attrs = slices.Grow(attrs[:0], maxCopyAttrs*len(list))
	for i := range list {
		start := len(attrs)
		attrs = append(attrs, binary.Attr{Key: "jid", Value: list[i].device.Value()})
		to[i].Tag, to[i].Attrs = "to", attrs[start:len(attrs):len(attrs)]
		start = len(attrs)
		attrs = e.appendAttrs(attrs, list[i].Type)
		encs[i] = binary.Node{Tag: "enc", Attrs: attrs[start:len(attrs):len(attrs)], Content: binary.BytesContent(list[i].Body)}
		to[i].Content = binary.NodesContent(encs[i : i+1 : i+1]...)
	}
	return binary.Node{Tag: "participants", Content: binary.NodesContent(to...)}
}

// appendIdentity appends the device identity if one of the copies is a pkmsg.
// Without an identity the stanza goes out without it.
func (s *Self) appendIdentity(nodes []binary.Node, list []sealed) []binary.Node {
	if len(s.DeviceIdentity) == 0 || !anyPreKey(list) {
		return nodes
	}
	return append(nodes, binary.Node{Tag: "device-identity", Content: binary.BytesContent(s.DeviceIdentity)})
}

func anyPreKey(list []sealed) bool {
	for i := range list {
		if list[i].Type == signal.TypePreKey {
			return true
		}
	}
	return false
}

// attr is a shorthand for the attributes of stanzas.
func attr(key, value string) binary.Attr {
	return binary.Attr{Key: key, Value: binary.Text(value)}
}
