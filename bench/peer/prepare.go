package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
)

// prepareRequest has what all stanzas that are prepared have.
type prepareRequest struct {
	member
	OwnJID     *jidOrText `json:"own_jid"`
	OwnLID     *jidOrText `json:"own_lid"`
	Account    hexBytes   // the encoded ADVSignedDeviceIdentity
	To         *jidOrText
	Message    *hexBytes
	ID         json.RawMessage // of the message, and echoed, unless message_id is given
	MessageID  string          `json:"message_id"`
	Edit       string
	ExtraNodes []nodeJSON `json:"extra_nodes"`
	NoToken    bool       `json:"no_reporting"`
}

// check returns the party and who sends.
func (r *prepareRequest) check(p *peer) (*party, send.Self, error) {
	a, err := r.of(p)
	if err != nil {
		return nil, send.Self{}, err
	}
	if r.MessageID == "" && json.Unmarshal(r.ID, &r.MessageID) != nil {
		return nil, send.Self{}, missing("id")
	}
	if r.To == nil || r.Message == nil || r.MessageID == "" {
		return nil, send.Self{}, missing("to, message or id")
	}
	self := send.Self{DeviceIdentity: r.Account}
	if r.OwnJID != nil {
		self.PN = r.OwnJID.JID
	}
	if r.OwnLID != nil {
		self.LID = r.OwnLID.JID
	}
	return a, self, nil
}

// reported returns the context and the extra nodes of a message with its
// reporting token.
func (r *prepareRequest) reported(sender, remote binary.JID) (context []byte, extra []binary.Node, err error) {
	if !r.NoToken {
		token, err := send.NewReporting(*r.Message, r.MessageID, sender.String(), remote.String())
		if err != nil {
			return nil, nil, err
		}
		if token != nil {
			context, extra = token.Context, append(extra, token.Node())
		}
	}
	for _, n := range r.ExtraNodes {
		extra = append(extra, n.Node)
	}
	return context, extra, nil
}

// prepared is the answer for a stanza.
func prepared(s *send.Stanza, keyed []binary.JID) (answer, error) {
	frame, err := binary.Marshal(s.Node)
	if err != nil {
		return nil, err
	}
	out := answer{"node": nodeJSON{*s.Node}, "frame": hexBytes(frame)}
	if s.Phash != "" {
		out["phash"] = s.Phash
	}
	failures := []answer{}
	for _, f := range s.Failures {
		failures = append(failures, answer{"jid": f.Device.String(), "class": class(f.Err)})
	}
	out["failures"] = failures
	if keyed != nil {
		names := []string{}
		for _, d := range keyed {
			names = append(names, d.String())
		}
		out["skdm_devices"] = names
	}
	return out, nil
}

func jids(list []jidOrText) []binary.JID {
	if list == nil {
		return nil
	}
	out := make([]binary.JID, len(list))
	for i := range list {
		out[i] = list[i].JID
	}
	return out
}

func init() {
	features = append(features, "send")
	register("prepare_peer", func(p *peer, r *prepareRequest) (answer, error) {
		a, self, err := r.check(p)
		if err != nil {
			return nil, err
		}
		m := &send.PeerMessage{Self: self, To: r.To.JID, ID: r.MessageID, Message: *r.Message}
		if m.HighForce, m.PrivacySensitive, err = send.ClassifyPeer(*r.Message); err != nil {
			return nil, err
		}
		s, err := send.Peer(ctx, a, m)
		if err != nil {
			return nil, err
		}
		return prepared(s, nil)
	})
	register("prepare_dm", func(p *peer, r *struct {
		prepareRequest
		Devices []jidOrText
	},
	) (answer, error) {
		a, self, err := r.check(p)
		if err != nil {
			return nil, err
		}
		sender := self.PN
		if r.To.Server == binary.ServerLID && self.LID.User != "" {
			sender = self.LID
		}
		m := &send.DirectMessage{Self: self, To: r.To.JID, ID: r.MessageID, Message: *r.Message, Devices: jids(r.Devices)}
		c, err := send.Classify(m.Message, r.Edit)
		if err != nil {
			return nil, err
		}
		m.Type, m.Edit, m.Enc = c.Type, c.Edit, c.Enc
		if m.Context, m.Extra, err = r.reported(sender, r.To.JID); err != nil {
			return nil, err
		}
		s, err := send.Direct(ctx, a, m)
		if err != nil {
			return nil, err
		}
		return prepared(s, nil)
	})
	register("prepare_group", func(p *peer, r *struct {
		prepareRequest
		Group struct {
			Participants   []jidOrText
			AddressingMode string `json:"addressing_mode"`
		}
		Force   bool         `json:"force_distribution"`
		Targets *[]jidOrText `json:"distribution_targets"`
		Policy  string
		Phash   []jidOrText `json:"phash_devices"`
	},
	) (answer, error) {
		a, self, err := r.check(p)
		if err != nil {
			return nil, err
		}
		m := &send.GroupMessage{
			Self: self, To: r.To.JID, ID: r.MessageID, Message: *r.Message, PhashDevices: jids(r.Phash),
			ByLID: r.Group.AddressingMode == "lid",
		}
		switch r.Policy {
		case "", "best_effort":
		case "required":
			m.Required = true
		default:
			return nil, fmt.Errorf("%w: policy", errBadRequest)
		}
		switch {
		case r.Targets != nil:
			m.Distribute = jids(*r.Targets)
		case r.Force:
			// There is nobody here to ask for the devices of a user: the
			// participants are devices.
			m.Distribute = jids(r.Group.Participants)
		}
		c, err := send.Classify(m.Message, r.Edit)
		if err != nil {
			return nil, err
		}
		m.Type, m.Edit, m.Enc = c.Type, c.Edit, c.Enc
		if m.Context, m.Extra, err = r.reported(m.To, m.To); err != nil {
			return nil, err
		}
		var s *send.GroupStanza
		if m.To == send.StatusBroadcast {
			s, err = send.Status(ctx, a, &send.StatusMessage{GroupMessage: *m, Audience: jids(r.Group.Participants)})
		} else {
			s, err = send.Group(ctx, a, m)
		}
		if missed := (*send.DistributionError)(nil); errors.As(err, &missed) {
			return nil, missed.Unwrap()
		}
		if err != nil {
			return nil, err
		}
		return prepared(&s.Stanza, append([]binary.JID{}, s.Distributed...))
	})
}
