package send

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// GroupMessage is a message to a group.
type GroupMessage struct {
	Self Self

	To   binary.JID // the group, on g.us; of a status see [StatusMessage]
	ID   string
	Type string // of the stanza, such as "text" or "media"
	Edit string // "" for none

	// ByLID says that the group addresses its members by LID. It decides under
	// which of its names the sender sends.
	ByLID bool

	// Message is the encoded Message. A MessageContextInfo in it is joined
	// with Context and moved to the end.
	Message []byte
	// Context is an encoded MessageContextInfo to attach, nil for none. Its
	// fields replace those in the message.
	Context []byte

	// Distribute are the devices that need our sender key. Repeated ones, the
	// sending device itself and hosted ones are left out. Empty if all members
	// have it.
	Distribute []binary.JID
	// Rotate replaces our sender key first. Distribute must then be complete.
	Rotate bool
	// Required refuses to send unless every device of Distribute, of which
	// there must be one, gets the key.
	Required bool

	// Phash is the participant hash of the group if the caller has it at hand,
	// so that nothing is done per member. Otherwise it is computed over
	// PhashDevices or, if that is nil, Distribute, without hosted devices and
	// with the sending one. Without any of the three the stanza has none: of a
	// Distribute that is empty nobody is known.
	Phash        string
	PhashDevices []binary.JID

	Enc
	// Extra nodes are appended to the stanza: none that it makes itself, and at
	// most one biz and one bot.
	Extra   []binary.Node
	Address Addressing
}

// GroupStanza is a prepared stanza to a group.
type GroupStanza struct {
	Stanza

	// Distributed are the devices for which the stanza contains our sender
	// key. Once it was accepted, they have the key.
	Distributed []binary.JID
}

// Group prepares a stanza to a group: the message once, under our sender key,
// and the key for each device that needs it. It draws one byte for the padding
// of the message, then what [signal.Account.SendGroup] draws, in which the
// padding of the distribution message takes one byte.
//
// A device that the key could not be encrypted for is a failure of the result,
// unless distribution is required: then it is a *[DistributionError].
func Group(ctx context.Context, a Account, m *GroupMessage) (*GroupStanza, error) {
	sender := m.sender()
	if m.To.User == "" || sender.User == "" {
		return nil, errGroupMessage
	}
	return m.send(ctx, a, signal.SenderKeyName{Group: m.To.String(), Sender: SignalAddress(sender)})
}

var errGroupMessage = fmt.Errorf("%w: group message without id, type, group or sender", ErrInvalid)

// sender returns the sending device under the name that it has in the group.
func (m *GroupMessage) sender() binary.JID {
	if m.ByLID {
		return m.Self.LID
	}
	return m.Self.PN
}

// A groupWork is a stanza in the making. It is one piece of memory, so that a
// message that nobody needs the key for takes few.
type groupWork struct {
	out     GroupStanza
	request signal.GroupSend

	plaintext [256]byte
	node      binary.Node
	attrs     [6]binary.Attr
	encAttrs  [4]binary.Attr
	nodes     [4]binary.Node
}

// send is Group with the name of our sender key.
func (m *GroupMessage) send(ctx context.Context, a Account, name signal.SenderKeyName) (*GroupStanza, error) {
	sender := m.sender()
	if m.ID == "" || m.Type == "" || m.To.User == "" || m.To.Server != binary.ServerGroup && m.To != StatusBroadcast || sender.User == "" {
		return nil, errGroupMessage
	}
	if err := checkExtra(m.Extra); err != nil {
		return nil, err
	}
	msg, err := parse(m.Message, m.Context)
	if err != nil {
		return nil, err
	}
	var targets []binary.JID
	if len(m.Distribute) > 0 {
		targets = unique(m.Distribute, func(d binary.JID) bool { return !m.Self.is(d) && !d.IsHosted() })
	}
	if m.Required && len(targets) == 0 {
		return nil, fmt.Errorf("%w: required distribution without a device", ErrInvalid)
	}
	w := new(groupWork)
	plaintext, err := msg.appendPlaintext(w.plaintext[:0])
	if err != nil {
		return nil, err
	}
	w.request = signal.GroupSend{Name: name, Plaintext: plaintext, Rotate: m.Rotate}
	if len(targets) > 0 {
		w.request.Wrap = func(skdm []byte) ([]byte, error) { return distributionPlaintext(name.Group, skdm) }
		w.request.Distribute = make([]signal.Address, len(targets))
		for i, d := range targets {
			w.request.Distribute[i] = m.Address.of(d)
		}
	}
	result, err := a.SendGroup(ctx, &w.request)
	if err != nil {
		return nil, fmt.Errorf("send: encrypt for a group: %w", err)
	}
	out := &w.out
	list, failures := collect(targets, result.Recipients, nil, nil)
	out.Failures = failures
	if m.Required {
		if len(failures) > 0 {
			return nil, &DistributionError{len(targets), failures}
		}
		if len(m.Self.DeviceIdentity) == 0 && anyPreKey(list) {
			return nil, ErrNoDeviceIdentity
		}
	}
	out.Phash = m.phash(sender)
	out.Distributed = make([]binary.JID, len(list))
	for i := range list {
		out.Distributed[i] = list[i].device
	}
	out.Node = m.node(w, list, signal.Ciphertext{Type: signal.TypeSenderKey, Body: result.Body}, out.Phash)
	return out, nil
}

// phash returns the participant hash of the stanza, "" for none.
func (m *GroupMessage) phash(sender binary.JID) string {
	devices := m.PhashDevices
	switch {
	case m.To.Server != binary.ServerGroup:
		return "" // a status has none
	case m.Phash != "":
		return m.Phash
	case devices == nil && len(m.Distribute) == 0:
		return ""
	case devices == nil:
		devices = m.Distribute
	}
	all := make([]binary.JID, 0, len(devices)+1)
	all = append(append(all, devices...), sender)
	return ParticipantHash(unique(all, func(d binary.JID) bool { return d == sender || !d.IsHosted() }))
}

// node builds the stanza. The order of attributes and children is fixed.
func (m *GroupMessage) node(w *groupWork, list []sealed, message signal.Ciphertext, phash string) *binary.Node {
	mode := "pn"
	if m.ByLID {
		mode = "lid"
	}
	attrs := append(w.attrs[:0],
		binary.Attr{Key: "to", Value: m.To.Value()},
		attr("id", m.ID),
		attr("type", m.Type))
	if m.To.Server == binary.ServerGroup {
		attrs = append(attrs, attr("addressing_mode", mode))
	}
	if m.Edit != "" {
		attrs = append(attrs, attr("edit", m.Edit))
	}
	if phash != "" {
		attrs = append(attrs, attr("phash", phash))
	}
	nodes := w.nodes[:0]
	if len(list) > 0 {
		// The media type is that of the message, not of the key. Whether
		// failures are hidden must be the same in both.
		key := Enc{HideDecryptFail: m.HideDecryptFail}
		nodes = append(nodes, key.participants(list, nil, nil))
		nodes = m.Self.appendIdentity(nodes, list)
	}
	nodes = append(nodes, binary.Node{
		Tag: "enc", Attrs: m.appendAttrs(w.encAttrs[:0], message.Type), Content: binary.BytesContent(message.Body),
	})
	nodes = append(nodes, m.Extra...)
	w.node = binary.Node{Tag: "message", Attrs: attrs, Content: binary.NodesContent(nodes...)}
	return &w.node
}
