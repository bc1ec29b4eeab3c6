package send

import (
	"context"
	"fmt"
	"strconv"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// RetryMessage is a message that is sent again, to the one device that has asked
// for it. [Tracker.Retry] comes before.
type RetryMessage struct {
	Self Self

	// To is what the message was addressed to: a person, without device, a group
	// or a broadcast list.
	To binary.JID
	// Device has asked for it. It may be another device of the sender.
	Device binary.JID

	ID    string // of the message, which stays
	Type  string
	Edit  string // "" for none
	Count int    // of the receipt, 1 to MaxRetries
	ByLID bool   // the group addresses its members by LID

	// Message and Context are those of the message, as in [DirectMessage].
	Message []byte
	Context []byte

	Enc
	Address Addressing
}

// Retry prepares the stanza that sends a message again. It draws one byte for
// the padding. Without a device identity it refuses with
// [ErrNoDeviceIdentity], before it encrypts, if the message would be a pkmsg,
// as [Peer] does.
func Retry(ctx context.Context, a Account, m *RetryMessage) (*Stanza, error) {
	if m.ID == "" || m.Type == "" || m.To.User == "" || m.Count < 1 || m.Count > MaxRetries || !isDevice(m.Device) {
		return nil, fmt.Errorf("%w: retry without id, type, chat, device or a count from 1 to %d", ErrInvalid, MaxRetries)
	}
	if m.ByLID && m.To.Server != binary.ServerGroup {
		return nil, fmt.Errorf("%w: addressing mode of a retry that is not to a group", ErrInvalid)
	}
	msg, err := parse(m.Message, m.Context)
	if err != nil {
		return nil, err
	}
	addr := m.Address.of(m.Device)
	if err := m.Self.preflight(ctx, a, addr); err != nil {
		return nil, err
	}
	var plaintext []byte
	if m.toOwn() {
		plaintext, err = msg.ownPlaintext(m.To.String())
	} else {
		plaintext, err = msg.plaintext()
	}
	if err != nil {
		return nil, err
	}
	results, err := a.EncryptMany(ctx, []signal.Outgoing{{To: addr, Plaintext: plaintext}})
	if err == nil {
		err = results[0].Err
	}
	if err != nil {
		return nil, fmt.Errorf("send: encrypt again: %w", err)
	}
	c := results[0].Ciphertext
	if c.Type == signal.TypePreKey && len(m.Self.DeviceIdentity) == 0 {
		return nil, ErrNoDeviceIdentity
	}
	return &Stanza{Node: m.node(c)}, nil
}

// isDevice reports whether j can be a device that messages are encrypted for.
func isDevice(j binary.JID) bool {
	switch j.Server {
	case binary.ServerUser, binary.ServerLID, binary.ServerHosted, binary.ServerHostedLID, binary.ServerBot:
		return j.User != ""
	}
	return false
}

// toMany reports whether the message went to a group or a broadcast list.
func (m *RetryMessage) toMany() bool {
	return m.To.Server == binary.ServerGroup || m.To.Server == binary.ServerBroadcast
}

// toOwn reports whether it is the copy of a direct message for another device of
// the sender, which says where the message went.
func (m *RetryMessage) toOwn() bool { return !m.toMany() && m.Self.owns(m.Device) }

// preflight returns ErrNoDeviceIdentity if there is no identity and a message
// would need one.
func (s *Self) preflight(ctx context.Context, a Account, addr signal.Address) error {
	if len(s.DeviceIdentity) > 0 {
		return nil
	}
	info, err := a.SessionInfo(ctx, addr)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNoDeviceIdentity, err)
	case !info.Exists || info.Pending:
		return ErrNoDeviceIdentity
	}
	return nil
}

// node builds the stanza. The order of attributes and children is fixed.
func (m *RetryMessage) node(c signal.Ciphertext) *binary.Node {
	attrs := make([]binary.Attr, 0, 6)
	if m.toMany() {
		attrs = append(attrs, binary.Attr{Key: "to", Value: m.To.Value()}, binary.Attr{Key: "participant", Value: m.Device.Value()})
		if m.To.Server == binary.ServerGroup {
			mode := "pn"
			if m.ByLID {
				mode = "lid"
			}
			attrs = append(attrs, attr("addressing_mode", mode))
		}
	} else {
		attrs = append(attrs, binary.Attr{Key: "to", Value: m.Device.Value()})
		if m.toOwn() {
			attrs = append(attrs, binary.Attr{Key: "recipient", Value: m.To.Value()})
		}
	}
	attrs = append(attrs, attr("id", m.ID), attr("type", m.Type))
	if m.Edit != "" {
		attrs = append(attrs, attr("edit", m.Edit))
	}
	enc := m.appendAttrs(make([]binary.Attr, 0, 5), c.Type)
	// The count stands behind version and type.
	enc = append(enc[:2:2], append([]binary.Attr{attr("count", strconv.Itoa(m.Count))}, enc[2:]...)...)
	nodes := []binary.Node{{Tag: "enc", Attrs: enc, Content: binary.BytesContent(c.Body)}}
	nodes = m.Self.appendIdentity(nodes, []sealed{{m.Device, c}})
	return &binary.Node{Tag: "message", Attrs: attrs, Content: binary.NodesContent(nodes...)}
}
