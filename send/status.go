package send

import (
	"context"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/binary"
)

// StatusBroadcast is what status messages are addressed to.
var StatusBroadcast = binary.JID{User: "status", Server: binary.ServerBroadcast}

// StatusMessage is a status: a message to those who may see it. A reaction to
// somebody's status is a [DirectMessage] with ToStatus.
type StatusMessage struct {
	// GroupMessage is the message. To is set to [StatusBroadcast]. ByLID decides
	// under which of its names the sender sends. Of the participant hash and the
	// addressing mode there are none.
	GroupMessage

	// Audience are the users who may see it, without device; repeated ones are
	// left out. The stanza names each of them, whether the sender key goes to
	// them or not, and the sender's LID.
	Audience []binary.JID

	// Setting is the privacy setting of a post, such as "contacts"; "" for a
	// revocation, which has none.
	Setting string
}

// Status prepares the stanza of a status, as [Group] does that of a message to a
// group. The error is [ErrNoRecipient] without an audience.
func Status(ctx context.Context, a Account, m *StatusMessage) (*GroupStanza, error) {
	audience, err := m.audience()
	if err != nil {
		return nil, err
	}
	g := m.GroupMessage
	g.To = StatusBroadcast
	s, err := Group(ctx, a, &g)
	if err != nil {
		return nil, err
	}
	return m.complete(s, audience), nil
}

// audience returns who the stanza names.
func (m *StatusMessage) audience() ([]binary.JID, error) {
	if len(m.Audience) == 0 {
		return nil, fmt.Errorf("%w of a status", ErrNoRecipient)
	}
	all := make([]binary.JID, 0, len(m.Audience)+1)
	for _, u := range m.Audience {
		all = append(all, u.NonAD())
	}
	if m.Self.LID.User != "" {
		all = append(all, m.Self.LID.NonAD())
	}
	return unique(all, func(binary.JID) bool { return true }), nil
}

// complete adds the users that the stanza has no copy for, and the setting.
func (m *StatusMessage) complete(s *GroupStanza, audience []binary.JID) *GroupStanza {
	nodes := slices.Clone(s.Node.Content.Nodes())
	if len(nodes) == 0 || nodes[0].Tag != "participants" {
		nodes = slices.Insert(nodes, 0, binary.Node{Tag: "participants"})
	}
	to := slices.Clone(nodes[0].Content.Nodes())
	there := make(map[binary.JID]bool, len(to))
	for i := range to {
		v, _ := to[i].Attr("jid")
		j, _ := v.JID()
		there[j.NonAD()] = true
	}
	for _, u := range audience {
		if !there[u] {
			to = append(to, binary.Node{Tag: "to", Attrs: []binary.Attr{{Key: "jid", Value: u.Value()}}})
		}
	}
	nodes[0].Content = binary.NodesContent(to...)
	if m.Setting != "" {
		nodes = append(nodes, binary.Node{Tag: "meta", Attrs: []binary.Attr{attr("status_setting", m.Setting)}})
	}
	s.Node.Content = binary.NodesContent(nodes...)
	return s
}

// Status prepares a status, delivers it, and records who holds our sender key, as
// [Tracker.Group] does. The roster has the devices of the audience and of the
// sender.
func (t *Tracker) Status(ctx context.Context, r *Roster, m *StatusMessage, deliver Deliver) (*GroupStanza, error) {
	status := *m
	status.Self, status.To = t.self, StatusBroadcast
	audience, err := status.audience()
	if err != nil {
		return nil, err
	}
	return t.Group(ctx, r, &status.GroupMessage, func(ctx context.Context, s *GroupStanza) error {
		return deliver(ctx, status.complete(s, audience))
	})
}
