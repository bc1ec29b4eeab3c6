package send

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// DirectMessage is a message to a person.
type DirectMessage struct {
	Self Self

	// To is the person, without device. It and Devices, apart from the sending
	// device, must all be phone numbers or all be LIDs: the server refuses what
	// has both, and so does Direct.
	To binary.JID
	// ToStatus says that it is a reaction to a status of To: the stanza goes to
	// [StatusBroadcast].
	ToStatus bool
	ID       string
	Type     string // of the stanza, such as "text" or "media"
	Edit     string // "" for none

	// Message is the encoded Message. A MessageContextInfo in it is moved to
	// where each receiver expects it, joined with Context.
	Message []byte
	// Context is an encoded MessageContextInfo to attach, nil for none. Its
	// fields replace those in the message.
	Context []byte

	// Devices are the devices of the recipient and of the sender. Repeated
	// ones and the sending device itself are left out.
	Devices []binary.JID

	Enc
	// Extra nodes are appended to the stanza: none that it makes itself, and at
	// most one biz and one bot.
	Extra   []binary.Node
	Address Addressing
}

// Direct prepares a stanza to a person: one copy for each device of the
// recipient, then one for each other device of the sender, which contains
// where the message went. It draws one byte for the padding of either
// plaintext.
//
// The error is [ErrNoRecipient] if Devices has none of the recipient, and a
// *[RecipientError] if none of them could be encrypted for; then the sessions
// of the own devices are untouched.
func Direct(ctx context.Context, a Account, m *DirectMessage) (*Stanza, error) {
	if m.ID == "" || m.To.User == "" || m.Type == "" || m.Self.PN.User == "" && m.Self.LID.User == "" {
		return nil, fmt.Errorf("%w: direct message without id, type, recipient or sender", ErrInvalid)
	}
	if err := checkExtra(m.Extra); err != nil {
		return nil, err
	}
	msg, err := parse(m.Message, m.Context)
	if err != nil {
		return nil, err
	}
	w := new(directWork)
	// Those of the recipient, then the own ones.
	devices := w.devices[:0]
	if len(m.Devices) > cap(devices) {
		devices = make([]binary.JID, 0, len(m.Devices))
	}
	devices = appendUnique(devices, m.Devices, func(d binary.JID) bool { return !m.Self.owns(d) && !m.Self.is(d) })
	recipients := devices
	devices = appendUnique(devices, m.Devices, func(d binary.JID) bool { return m.Self.owns(d) && !m.Self.is(d) })
	own := devices[len(recipients):]
	if mixed(m.To, devices) {
		return nil, fmt.Errorf("%w: direct message with phone numbers and LIDs", ErrInvalid)
	}
	if len(recipients) == 0 && !m.Self.owns(m.To) {
		return nil, ErrNoRecipient
	}

	var plaintext, ownPlaintext []byte
	if len(recipients) > 0 {
		if plaintext, err = msg.appendPlaintext(w.plaintext[:0]); err != nil {
			return nil, err
		}
	}
	if len(own) > 0 {
		if ownPlaintext, err = msg.ownPlaintext(m.To.String()); err != nil {
			return nil, err
		}
	}
	out := &w.out
	out.Phash = ParticipantHash(devices)
	list := w.list[:0]
	if len(recipients) > 0 {
		if list, err = fanOut(ctx, a, m.Address, recipients, plaintext, w.items[:], list, out); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, &RecipientError{out.Failures}
		}
	}
	if len(own) > 0 {
		if list, err = fanOut(ctx, a, m.Address, own, ownPlaintext, w.items[:], list, out); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 && len(devices) > 0 {
		return nil, &RecipientError{out.Failures}
	}
	out.Node = m.node(w, list)
	return out, nil
}

// mixed reports whether there are both phone numbers and LIDs.
func mixed(to binary.JID, devices []binary.JID) bool {
	var pn, lid bool
	see := func(j *binary.JID) {
		switch j.Server {
		case binary.ServerUser, binary.ServerLegacy, binary.ServerHosted:
			pn = true
		case binary.ServerLID, binary.ServerHostedLID:
			lid = true
		}
	}
	see(&to)
	for i := range devices {
		see(&devices[i])
	}
	return pn && lid
}

// A directWork is a stanza in the making. It is one piece of memory, so that a
// message to few devices takes few.
type directWork struct {
	out Stanza

	plaintext [192]byte
	devices   [3]binary.JID
	items     [2]signal.Outgoing
	list      [2]sealed
	node      binary.Node
	attrs     [4]binary.Attr
	nodes     [3]binary.Node
	copies    [2 * 2]binary.Node
	copyAttrs [2 * maxCopyAttrs]binary.Attr
}

// node builds the stanza. The order of attributes and children is fixed.
func (m *DirectMessage) node(w *directWork, list []sealed) *binary.Node {
	to := m.To
	if m.ToStatus {
		to = StatusBroadcast
	}
	attrs := append(w.attrs[:0],
		binary.Attr{Key: "to", Value: to.Value()},
		attr("id", m.ID),
		attr("type", m.Type))
	if m.Edit != "" {
		attrs = append(attrs, attr("edit", m.Edit))
	}
	nodes := w.nodes[:0]
	if len(list) > 0 { // else it goes to oneself, and there is no other device
		nodes = append(nodes, m.participants(list, w.copies[:], w.copyAttrs[:]))
	}
	nodes = m.Self.appendIdentity(nodes, list)
	nodes = append(nodes, m.Extra...)
	w.node = binary.Node{Tag: "message", Attrs: attrs, Content: binary.NodesContent(nodes...)}
	return &w.node
}
