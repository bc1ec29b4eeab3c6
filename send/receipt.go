package send

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// RetryRequest asks for a message again that could not be read: the receipt that
// the other side reads as a [RetryReceipt].
type RetryRequest struct {
	// From, Participant and Recipient are the attributes of the message, the last
	// two zero if it has none.
	From, Participant, Recipient binary.JID

	ID   string    // of the message
	Sent time.Time // its attribute t

	// Count is how often the message is asked for, this time included, from 1.
	Count int

	RegistrationID uint32 // of the account

	// Keys is a bundle of the account, for the other side to start a session
	// from. There must be one from a Count of 2; at the first time it is for a
	// receiver that knows that it has lost its session. Its one-time prekey is
	// that of [signal.Account.RetryPreKey].
	Keys *signal.Bundle

	// DeviceIdentity, the encoded ADVSignedDeviceIdentity, goes with the keys of
	// a companion. Nil for none.
	DeviceIdentity []byte
}

// Node returns the receipt. The error is [ErrInvalid].
func (r *RetryRequest) Node() (*binary.Node, error) {
	if r.ID == "" || r.Count < 1 || r.From == (binary.JID{}) {
		return nil, fmt.Errorf("%w: retry receipt without sender, id or count", ErrInvalid)
	}
	if r.Keys == nil && r.Count > 1 {
		return nil, fmt.Errorf("%w: retry receipt %d without keys", ErrInvalid, r.Count)
	}
	attrs := []binary.Attr{attr("id", r.ID), attr("type", "retry"), {Key: "to", Value: r.From.Value()}}
	if r.Recipient != (binary.JID{}) {
		attrs = append(attrs, binary.Attr{Key: "recipient", Value: r.Recipient.Value()})
	}
	if r.Participant != (binary.JID{}) {
		attrs = append(attrs, binary.Attr{Key: "participant", Value: r.Participant.Value()})
	}
	nodes := []binary.Node{
		{Tag: "retry", Attrs: []binary.Attr{
			attr("count", strconv.Itoa(r.Count)),
			attr("id", r.ID),
			attr("t", strconv.FormatInt(r.Sent.Unix(), 10)),
			attr("v", "1"),
		}},
		registrationNode(r.RegistrationID),
	}
	if b := r.Keys; b != nil {
		keys := []binary.Node{bytesNode("type", []byte{keyTypeByte}), bytesNode("identity", b.Identity[:])}
		if b.HasPreKey {
			keys = append(keys, keyNode("key", b.PreKeyID, b.PreKey))
		}
		keys = append(keys, signedKeyNode(b))
		if len(r.DeviceIdentity) > 0 {
			keys = append(keys, bytesNode("device-identity", r.DeviceIdentity))
		}
		nodes = append(nodes, binary.Node{Tag: "keys", Content: binary.NodesContent(keys...)})
	}
	return &binary.Node{Tag: "receipt", Attrs: attrs, Content: binary.NodesContent(nodes...)}, nil
}

// maxMessageID bounds the ids that receipts may name, which are remembered.
const maxMessageID = 255

// ParseRetryReceipt reads a receipt of the type retry. It leaves Listed for the
// caller to set. account, if not nil, returns the identity of the primary device
// of a user where it is known: keys have to prove that they are of a device of
// their account, as in [ParseBundles]. Only a device of self may name another
// recipient than itself, so that nobody asks for messages to others.
//
// The error wraps signal.ErrMalformed, or [ErrDeviceIdentity] for keys that
// prove nothing.
func ParseRetryReceipt(n *binary.Node, self Self, account func(user binary.JID) (signal.PublicKey, bool)) (*RetryReceipt, error) {
	if n == nil || n.Tag != "receipt" || text(n, "type") != "retry" {
		return nil, malformed("not a retry receipt")
	}
	r := new(RetryReceipt)
	if err := r.parseChat(n, &self); err != nil {
		return nil, err
	}
	retry := n.Child("retry")
	if retry == nil {
		return nil, malformed("retry receipt without retry")
	}
	if r.ID = text(retry, "id"); r.ID == "" {
		r.ID = text(n, "id")
	}
	if r.ID == "" || len(r.ID) > maxMessageID {
		return nil, malformed(fmt.Sprintf("retry receipt for an id of %d characters", len(r.ID)))
	}
	count, err := strconv.ParseUint(text(retry, "count"), 10, 16)
	if err != nil || count == 0 {
		return nil, malformed("retry receipt without a count")
	}
	r.Count = int(count)
	// Some peers cut the zeros in front.
	if c := n.Child("registration"); c != nil {
		b := c.Content.Data()
		if len(b) == 0 || len(b) > 4 {
			return nil, malformed(fmt.Sprintf("registration id of %d bytes", len(b)))
		}
		r.RegistrationID = bigEndian(b)
	}
	keys := n.Child("keys")
	if keys == nil {
		return r, nil
	}
	if n.Child("registration") == nil {
		return nil, malformed("keys without a registration id")
	}
	if r.Bundle, err = parseKeys(keys, r.RegistrationID); err != nil {
		return nil, err
	}
	if err := verifyCompanion(keys, r.Device, r.Bundle, account); err != nil {
		return nil, err
	}
	return r, nil
}

// parseChat reads who could not read a message, and of which chat.
func (r *RetryReceipt) parseChat(n *binary.Node, self *Self) error {
	from, ok := jidAttr(n, "from")
	if !ok {
		return malformed("retry receipt without from")
	}
	r.Chat, r.Device = from.NonAD(), from
	many := from.Server == binary.ServerGroup || from.Server == binary.ServerBroadcast
	if many {
		if r.Device, ok = jidAttr(n, "participant"); !ok {
			return malformed("retry receipt of a group without participant")
		}
	}
	if !isDevice(r.Device) {
		return malformed("retry receipt that is not of a device")
	}
	if _, ok := n.Attr("recipient"); !ok || many {
		return nil
	}
	recipient, ok := jidAttr(n, "recipient")
	if !ok || !self.owns(r.Device) {
		return malformed("retry receipt with a recipient")
	}
	r.Chat = recipient.NonAD()
	return nil
}

// text returns an attribute as text, "" if there is none.
func text(n *binary.Node, key string) string {
	v, _ := n.Attr(key)
	return v.String()
}

// jidAttr returns an attribute that is a JID, or the text of one, of a user.
func jidAttr(n *binary.Node, key string) (j binary.JID, ok bool) {
	v, ok := n.Attr(key)
	if !ok {
		return j, false
	}
	if j, ok = v.JID(); !ok {
		var err error
		if j, err = binary.ParseJID(v.String()); err != nil {
			return j, false
		}
	}
	return j, j.User != ""
}
