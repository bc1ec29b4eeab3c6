package send

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// PeerMessage is a message to one of the sender's own devices, for requests
// between them.
type PeerMessage struct {
	Self Self
	To   binary.JID // the device
	ID   string

	// Message is the encoded Message. It is sent as it is.
	Message []byte

	// HighForce asks for the push priority high_force instead of high, and
	// PrivacySensitive marks the push. What is asked for decides: a history
	// sync on demand has both; a link preview, the resending of a placeholder
	// message and the fetch of a companion nonce have the first.
	HighForce, PrivacySensitive bool

	Address Addressing
}

// Peer prepares a stanza to one of the sender's own devices. It draws one byte
// for the padding. Without a device identity it refuses with
// [ErrNoDeviceIdentity], before it encrypts, if the message would be a pkmsg:
// if there is no session, or one that the device has not answered, or one that
// cannot be read.
func Peer(ctx context.Context, a Account, m *PeerMessage) (*Stanza, error) {
	if m.ID == "" || m.To.User == "" {
		return nil, fmt.Errorf("%w: peer message without id or recipient", ErrInvalid)
	}
	addr := m.Address.of(m.To)
	if err := m.Self.preflight(ctx, a, addr); err != nil {
		return nil, err
	}
	plaintext, err := AppendPadding(append(make([]byte, 0, len(m.Message)+MaxPadding), m.Message...))
	if err != nil {
		return nil, err
	}
	results, err := a.EncryptMany(ctx, []signal.Outgoing{{To: addr, Plaintext: plaintext}})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("send: encrypt for an own device: %w", err)
	}
	c := results[0].Ciphertext
	// The session may have changed since it was looked at.
	if c.Type == signal.TypePreKey && len(m.Self.DeviceIdentity) == 0 {
		return nil, ErrNoDeviceIdentity
	}
	return &Stanza{Node: m.node(c)}, nil
}

// node builds the stanza. The order of attributes and children is fixed.
func (m *PeerMessage) node(c signal.Ciphertext) *binary.Node {
	priority := "high"
	if m.HighForce {
		priority = "high_force"
	}
	attrs := []binary.Attr{
		{Key: "to", Value: m.To.Value()},
		attr("id", m.ID),
		attr("type", "text"),
		attr("category", "peer"),
		attr("push_priority", priority),
	}
	if m.PrivacySensitive {
		attrs = append(attrs, attr("privacy_sensitive", "1"))
	}
	nodes := []binary.Node{
		{Tag: "meta", Attrs: []binary.Attr{attr("appdata", "default")}},
		new(Enc).node(c),
	}
	nodes = m.Self.appendIdentity(nodes, []sealed{{m.To, c}})
	return &binary.Node{Tag: "message", Attrs: attrs, Content: binary.NodesContent(nodes...)}
}
