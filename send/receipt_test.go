package send

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// TestRetryRequest: the children and their order, and what is refused.
func TestRetryRequest(t *testing.T) {
	b := freshBundle(t)
	b.RegistrationID = 0x00010203
	r := RetryRequest{
		From: jid(t, "120363000000000001@g.us"), Participant: jid(t, "15550000002:3@s.whatsapp.net"),
		ID: messageID, Sent: time.Unix(1700000000, 0), Count: 2, RegistrationID: b.RegistrationID, Keys: b, DeviceIdentity: unhex("cccc"),
	}
	n, err := r.Node()
	if err != nil {
		t.Fatal(err)
	}
	children := func(tag string, nodes ...binary.Node) binary.Node {
		return binary.Node{Tag: tag, Content: binary.NodesContent(nodes...)}
	}
	id := func(n uint32) binary.Node { return bytesNode("id", []byte{byte(n >> 16), byte(n >> 8), byte(n)}) }
	want := binary.Node{
		Tag: "receipt",
		Attrs: []binary.Attr{
			attr("id", messageID), attr("type", "retry"), {Key: "to", Value: r.From.Value()}, {Key: "participant", Value: r.Participant.Value()},
		},
		Content: binary.NodesContent(
			binary.Node{Tag: "retry", Attrs: []binary.Attr{attr("count", "2"), attr("id", messageID), attr("t", "1700000000"), attr("v", "1")}},
			bytesNode("registration", []byte{0, 1, 2, 3}),
			children("keys",
				bytesNode("type", []byte{5}),
				bytesNode("identity", b.Identity[:]),
				children("key", id(b.PreKeyID), bytesNode("value", b.PreKey[:])),
				children("skey", id(b.SignedPreKeyID), bytesNode("value", b.SignedPreKey[:]), bytesNode("signature", b.Signature[:])),
				bytesNode("device-identity", unhex("cccc")),
			),
		),
	}
	if !binary.Equal(n, &want) {
		t.Errorf("%+v, want %+v", n, &want)
	}
	// At first without keys, and to an own device with whom the message was for.
	first := RetryRequest{From: r.Participant, Recipient: jid(t, "15550000009@s.whatsapp.net"), ID: messageID, Sent: r.Sent, Count: 1, RegistrationID: 7}
	if n, err = first.Node(); err != nil || n.Child("keys") != nil || text(n, "recipient") != "15550000009@s.whatsapp.net" {
		t.Errorf("%+v, %v", n, err)
	}
	for name, change := range map[string]func(*RetryRequest){
		"no id":              func(r *RetryRequest) { r.ID = "" },
		"no sender":          func(r *RetryRequest) { r.From = binary.JID{} },
		"no count":           func(r *RetryRequest) { r.Count = 0 },
		"the second, no key": func(r *RetryRequest) { r.Keys = nil },
	} {
		bad := r
		change(&bad)
		if _, err := bad.Node(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestParseRetryReceipt: what is asked for reads back, as it arrives at the other
// side, and nobody asks for what was not for him.
func TestParseRetryReceipt(t *testing.T) {
	b := freshBundle(t)
	b.RegistrationID = 0x00010203
	self := Self{PN: jid(t, "15550000001:2@s.whatsapp.net"), LID: jid(t, "100000000000001:2@lid")}
	group, phone, companion := jid(t, "120363000000000001@g.us"), jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000002:3@s.whatsapp.net")
	own, other := jid(t, "100000000000001@lid"), jid(t, "15550000009@s.whatsapp.net")

	// receipt is what arrives for a message to chat that device asks for.
	receipt := func(from, participant, recipient binary.JID, keys bool) *binary.Node {
		r := RetryRequest{
			From: from, Participant: participant, Recipient: recipient, ID: messageID, Sent: time.Unix(1700000000, 0), Count: 1,
			RegistrationID: b.RegistrationID,
		}
		if keys {
			r.Count, r.Keys = 3, b
		}
		n, err := r.Node()
		if err != nil {
			t.Fatal(err)
		}
		for i := range n.Attrs {
			if n.Attrs[i].Key == "to" {
				n.Attrs[i].Key = "from"
			}
		}
		frame, err := binary.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if n, err = binary.UnmarshalFrame(frame); err != nil {
			t.Fatal(err)
		}
		return n
	}
	none := binary.JID{}
	for name, c := range map[string]struct {
		n            *binary.Node
		chat, device binary.JID
	}{
		"of a direct message":         {receipt(companion, none, none, false), phone, companion},
		"with keys":                   {receipt(companion, none, none, true), phone, companion},
		"of a group":                  {receipt(group, companion, none, true), group, companion},
		"of a status":                 {receipt(StatusBroadcast, phone, none, false), StatusBroadcast, phone},
		"of an own device's copy":     {receipt(own, none, other, false), other, own},
		"of an own device, to itself": {receipt(own, none, none, false), own, own},
	} {
		r, err := ParseRetryReceipt(c.n, self, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		count, keys := 1, (*signal.Bundle)(nil)
		if c.n.Child("keys") != nil {
			count, keys = 3, b
		}
		if r.Chat != c.chat || r.Device != c.device || r.ID != messageID || r.Count != count || r.RegistrationID != b.RegistrationID || r.Listed {
			t.Errorf("%s: %+v", name, r)
		}
		if (r.Bundle == nil) != (keys == nil) || keys != nil && *r.Bundle != *keys {
			t.Errorf("%s: bundle %+v, want %+v", name, r.Bundle, keys)
		}
	}

	// set replaces a child, remove takes it away, and with gives an attribute.
	remove := func(tag string) func(*binary.Node) {
		return func(n *binary.Node) {
			n.Content = binary.NodesContent(slices.DeleteFunc(slices.Clone(n.Content.Nodes()), func(c binary.Node) bool { return c.Tag == tag })...)
		}
	}
	set := func(tag string, by binary.Node) func(*binary.Node) {
		return func(n *binary.Node) {
			remove(tag)(n)
			n.Content = binary.NodesContent(append(slices.Clone(n.Content.Nodes()), by)...)
		}
	}
	retry := func(attrs ...binary.Attr) func(*binary.Node) {
		return set("retry", binary.Node{Tag: "retry", Attrs: attrs})
	}
	with := func(key, value string) func(*binary.Node) {
		return func(n *binary.Node) {
			n.Attrs = append(slices.DeleteFunc(slices.Clone(n.Attrs), func(a binary.Attr) bool { return a.Key == key }), attr(key, value))
		}
	}
	keys := func(change func(*binary.Node)) func(*binary.Node) {
		return func(n *binary.Node) {
			k := *n.Child("keys")
			change(&k)
			set("keys", k)(n)
		}
	}
	for name, c := range map[string]struct {
		change       func(*binary.Node)
		registration uint32
		want         error
	}{
		"an id of the receipt alone": {retry(attr("count", "3")), b.RegistrationID, nil},
		"a registration of 3 bytes":  {set("registration", bytesNode("registration", []byte{1, 2, 3})), 0x010203, nil},
		"a registration of 1 byte":   {set("registration", bytesNode("registration", []byte{9})), 9, nil},
		"an empty registration":      {set("registration", bytesNode("registration", nil)), 0, signal.ErrMalformed},
		"a registration of 5 bytes":  {set("registration", bytesNode("registration", make([]byte, 5))), 0, signal.ErrMalformed},
		"keys, no registration":      {remove("registration"), 0, signal.ErrMalformed},
		"no keys":                    {remove("keys"), b.RegistrationID, nil},
		"nothing but the count":      {func(n *binary.Node) { remove("keys")(n); remove("registration")(n) }, 0, nil},
		"another tag":                {func(n *binary.Node) { n.Tag = "message" }, 0, signal.ErrMalformed},
		"another type":               {with("type", "read"), 0, signal.ErrMalformed},
		"no from":                    {with("from", ""), 0, signal.ErrMalformed},
		"from a server":              {with("from", "s.whatsapp.net"), 0, signal.ErrMalformed},
		"from a group":               {with("from", group.String()), 0, signal.ErrMalformed},
		"from a newsletter":          {with("from", "120363000000000001@newsletter"), 0, signal.ErrMalformed},
		"no retry":                   {remove("retry"), 0, signal.ErrMalformed},
		"no count":                   {retry(attr("id", messageID)), 0, signal.ErrMalformed},
		"a count of 0":               {retry(attr("count", "0")), 0, signal.ErrMalformed},
		"a negative count":           {retry(attr("count", "-1")), 0, signal.ErrMalformed},
		"a count that is too large":  {retry(attr("count", "65539")), 0, signal.ErrMalformed},
		"an id that is too long":     {retry(attr("count", "1"), attr("id", string(make([]byte, 256)))), 0, signal.ErrMalformed},
		"no identity":                {keys(remove("identity")), 0, signal.ErrMalformed},
		"no signed prekey":           {keys(remove("skey")), 0, signal.ErrMalformed},
		"no one-time prekey":         {keys(remove("key")), b.RegistrationID, nil},
		"a device identity":          {keys(set("device-identity", bytesNode("device-identity", unhex("0a")))), 0, ErrDeviceIdentity},
		"a recipient":                {with("recipient", other.String()), 0, signal.ErrMalformed},
	} {
		n := receipt(companion, none, none, true)
		c.change(n)
		r, err := ParseRetryReceipt(n, self, nil)
		if !errors.Is(err, c.want) || (r == nil) != (c.want != nil) {
			t.Errorf("%s: %+v, %v; want %v", name, r, err, c.want)
			continue
		}
		if r != nil && (r.RegistrationID != c.registration || r.Bundle != nil && r.Bundle.RegistrationID != c.registration || r.ID != messageID) {
			t.Errorf("%s: %+v, want registration id %d", name, r, c.registration)
		}
	}
	if _, err := ParseRetryReceipt(nil, self, nil); !errors.Is(err, signal.ErrMalformed) {
		t.Error(err)
	}
	// The identity is checked against the account that is known.
	n := receipt(companion, none, none, true)
	keys(set("device-identity", bytesNode("device-identity", unhex("0a0101"))))(n)
	known := func(user binary.JID) (signal.PublicKey, bool) { return b.SignedPreKey, user == phone }
	if _, err := ParseRetryReceipt(n, self, known); !errors.Is(err, ErrDeviceIdentity) {
		t.Errorf("an identity of another account: %v", err)
	}
}

// FuzzAnswers: no frame makes a reader of answers and receipts panic, and what
// they read is within bounds.
func FuzzAnswers(f *testing.F) {
	b := freshBundle(f)
	companion := jid(f, "15550000002:3@s.whatsapp.net")
	n, err := (&RetryRequest{From: companion, ID: messageID, Count: 2, Keys: b, DeviceIdentity: unhex("0a0101")}).Node()
	if err != nil {
		f.Fatal(err)
	}
	n.Attrs[2].Key = "from"
	user := answerFor(b, companion)
	for _, n := range []*binary.Node{n, {Tag: "list", Content: binary.NodesContent(user)}} {
		frame, err := binary.Marshal(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		n, err := binary.UnmarshalFrame(frame)
		if err != nil {
			return
		}
		answers, err := ParseBundles(n, nil)
		if err != nil && !errors.Is(err, signal.ErrMalformed) {
			t.Error(err)
		}
		for _, a := range answers {
			if (a.Bundle == nil) != (a.Err != nil) {
				t.Errorf("%+v", a)
			}
		}
		r, err := ParseRetryReceipt(n, Self{}, nil)
		switch {
		case err != nil:
			if !errors.Is(err, signal.ErrMalformed) && !errors.Is(err, ErrDeviceIdentity) {
				t.Error(err)
			}
		case r.ID == "" || len(r.ID) > maxMessageID || r.Count < 1 || r.Device.User == "" || r.Chat.User == "":
			t.Errorf("%+v", r)
		}
	})
}
