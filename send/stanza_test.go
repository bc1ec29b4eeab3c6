package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// scripted is an account whose ciphertexts, or errors, are given by address. It
// records what it was asked to encrypt.
type scripted struct {
	results map[string]signal.EncryptResult // by the name of the address
	info    signal.SessionInfo
	err     error // of everything

	sent   map[string][]byte
	groups []*signal.GroupSend
	calls  int
}

func (s *scripted) EncryptMany(_ context.Context, items []signal.Outgoing) ([]signal.EncryptResult, error) {
	s.calls++
	if s.err != nil {
		return nil, s.err
	}
	out := make([]signal.EncryptResult, len(items))
	for i, item := range items {
		if s.sent == nil {
			s.sent = make(map[string][]byte)
		}
		name := item.To.Name
		if item.To.Device != 0 || s.sent[name] != nil {
			return nil, fmt.Errorf("item %d is not expected", i)
		}
		s.sent[name] = item.Plaintext
		r, ok := s.results[name]
		if !ok {
			r.Err = signal.ErrNoSession
		}
		out[i] = r
	}
	return out, nil
}

func (s *scripted) SendGroup(ctx context.Context, g *signal.GroupSend) (*signal.GroupResult, error) {
	s.groups = append(s.groups, g)
	if s.err != nil {
		return nil, s.err
	}
	out := &signal.GroupResult{Body: unhex("bbbbbbbb")}
	if len(g.Distribute) == 0 {
		return out, nil
	}
	out.Distribution = []byte("skdm")
	plaintext, err := g.Wrap(out.Distribution)
	if err != nil {
		return nil, err
	}
	items := make([]signal.Outgoing, len(g.Distribute))
	for i, addr := range g.Distribute {
		items[i] = signal.Outgoing{To: addr, Plaintext: plaintext}
	}
	out.Recipients, err = s.EncryptMany(ctx, items)
	return out, err
}

func (s *scripted) SessionInfo(context.Context, signal.Address) (signal.SessionInfo, error) {
	return s.info, s.err
}

func ciphertext(t signal.MessageType, body string) signal.EncryptResult {
	return signal.EncryptResult{Ciphertext: signal.Ciphertext{Type: t, Body: unhex(body)}}
}

func jid(t testing.TB, s string) binary.JID {
	t.Helper()
	j, err := binary.ParseJID(s)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func reporting(token string) binary.Node {
	return binary.Node{Tag: "reporting", Content: binary.NodesContent(binary.Node{
		Tag:     "reporting_token",
		Attrs:   []binary.Attr{attr("v", "2")},
		Content: binary.BytesContent(unhex(token)),
	})}
}

func checkStanza(t *testing.T, n *binary.Node, want string) {
	t.Helper()
	got, err := binary.Marshal(n)
	if err != nil || !bytes.Equal(got, unhex(want)) {
		t.Errorf("stanza %x, %v; want %s", got, err, want)
	}
}

const messageID = "3EB0E0E5F2D4F618589C0B"

func directMessage(t testing.TB) *DirectMessage {
	return &DirectMessage{
		Self:    Self{PN: jid(t, "5511999887766:3@s.whatsapp.net"), LID: jid(t, "100000000000009:3@lid"), DeviceIdentity: unhex("cccccccc")},
		To:      jid(t, "5511888776655@s.whatsapp.net"),
		ID:      messageID,
		Type:    "text",
		Message: hello,
		Context: helloContext,
		Devices: []binary.JID{
			jid(t, "5511999887766:42@s.whatsapp.net"),
			jid(t, "5511888776655@s.whatsapp.net"),
			jid(t, "5511999887766:3@s.whatsapp.net"), // the sending device
			jid(t, "100000000000009:3@lid"),          // the sending device again
			jid(t, "5511888776655@s.whatsapp.net"),
		},
		Extra: []binary.Node{reporting("18dc527fb2ede90ba74c932e5e5ced09")},
	}
}

func TestWorkedDirect(t *testing.T) {
	a := &scripted{results: map[string]signal.EncryptResult{
		"5511888776655@c.us":    ciphertext(signal.TypeSignal, "aaaaaaaa"),
		"5511999887766:42@c.us": ciphertext(signal.TypePreKey, "bbbbbbbb"),
	}}
	m := directMessage(t)
	queue(t, []byte{0}, []byte{0x31})
	s, err := Direct(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	checkStanza(t, s.Node, "00f8081311faff875511888776655f0308fb0b3eb0e0e5f2d4f618589c0b0438f803f8026bf802f804110cfaff875511888776655f03f801f8061d5145044dfc04aaaaaaaaf804110cf7002aff875511999887766ff801f8061d51450453fc04bbbbbbbbf802e6fc04ccccccccf802fc097265706f7274696e67f801f804fc0f7265706f7274696e675f746f6b656e5145fc1018dc527fb2ede90ba74c932e5e5ced09")
	if len(s.Failures) != 0 || s.PrimaryFailed() {
		t.Errorf("failures %v", s.Failures)
	}
	if want := ParticipantHash([]binary.JID{jid(t, "5511999887766:42@s.whatsapp.net"), m.To}); s.Phash != want {
		t.Errorf("phash %s, want %s", s.Phash, want)
	}
	// Each plaintext has a padding of its own.
	if got, want := a.sent["5511888776655@c.us"], unhex("0a0548656c6c6f"+worked+"01"); !bytes.Equal(got, want) {
		t.Errorf("recipient gets %x, want %x", got, want)
	}
	own := "fa01270a1c3535313138383837373636353540732e77686174736170702e6e657412070a0548656c6c6f" + worked + "0202"
	if got := a.sent["5511999887766:42@c.us"]; !bytes.Equal(got, unhex(own)) {
		t.Errorf("own device gets %x, want %s", got, own)
	}
}

func TestWorkedGroup(t *testing.T) {
	a := &scripted{results: map[string]signal.EncryptResult{"100000000000009@lid": ciphertext(signal.TypeSignal, "aaaaaaaa")}}
	m := &GroupMessage{
		Self:       Self{PN: jid(t, "5511999887766:3@s.whatsapp.net"), LID: jid(t, "5511988887777:14@lid")},
		To:         jid(t, "120363000000000001@g.us"),
		ID:         messageID,
		Type:       "text",
		ByLID:      true,
		Message:    hello,
		Distribute: []binary.JID{jid(t, "100000000000009@lid")},
		PhashDevices: []binary.JID{
			jid(t, "7469250125917:21@lid"), jid(t, "5511988887777:14@lid"), jid(t, "7469250125917:21@lid"),
			jid(t, "15550000001:99@hosted.lid"),
		},
		Extra: []binary.Node{reporting("16bfbcc09805152b248f1ef8416482e4")},
	}
	queue(t, []byte{0}, []byte{0})
	s, err := Group(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	const want = "00f80c1311faff091203630000000000011c08fb0b3eb0e0e5f2d4f618589c0b0438fc0f61646472657373696e675f6d6f646576ec5ffc0a323a7856454c536d4e4ff803f8026bf801f804110cfaff88100000000000009f76f801f8061d5145044dfc04aaaaaaaaf8061d51450432fc04bbbbbbbbf802fc097265706f7274696e67f801f804fc0f7265706f7274696e675f746f6b656e5145fc1016bfbcc09805152b248f1ef8416482e4"
	checkStanza(t, s.Node, want)
	if s.Phash != "2:xVELSmNO" || !slices.Equal(s.Distributed, m.Distribute) {
		t.Errorf("phash %s, distributed to %v", s.Phash, s.Distributed)
	}
	g := a.groups[0]
	if g.Name.Group != "120363000000000001@g.us" || g.Name.Sender.String() != "5511988887777:14@lid.0" || g.Rotate {
		t.Errorf("sender key %v, rotate %v", g.Name, g.Rotate)
	}
	if !bytes.Equal(g.Plaintext, append(bytes.Clone(hello), 1)) {
		t.Errorf("plaintext %x", g.Plaintext)
	}
	wrapped := append(unhex("121f"+"0a17"), m.To.String()...)
	wrapped = append(append(wrapped, 0x12, 4), "skdm\x01"...)
	if got := a.sent["100000000000009@lid"]; !bytes.Equal(got, wrapped) {
		t.Errorf("distribution plaintext %x, want %x", got, wrapped)
	}
}

func TestWorkedPeer(t *testing.T) {
	own := jid(t, "5511999887766@s.whatsapp.net")
	a := &scripted{
		results: map[string]signal.EncryptResult{"5511999887766@c.us": ciphertext(signal.TypeSignal, "aaaaaaaa")},
		info:    signal.SessionInfo{Exists: true},
	}
	m := &PeerMessage{Self: Self{PN: own}, To: own, ID: messageID, Message: hello}
	queue(t, []byte{0}, []byte{0}, []byte{0})
	s, err := Peer(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	checkStanza(t, s.Node, "00f80c1311faff875511999887766f0308fb0b3eb0e0e5f2d4f618589c0b043881ee78fc0d707573685f7072696f72697479ed1ff802f803ed7d80ecdaf8061d5145044dfc04aaaaaaaa")
	if got := a.sent["5511999887766@c.us"]; !bytes.Equal(got, append(bytes.Clone(hello), 1)) {
		t.Errorf("plaintext %x", got)
	}

	m.HighForce, m.PrivacySensitive = true, true
	m.Self.DeviceIdentity = unhex("cccccccc")
	a.results["5511999887766@c.us"] = ciphertext(signal.TypePreKey, "aaaaaaaa")
	a.sent = nil
	s, err = Peer(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	want := &binary.Node{Tag: "message", Attrs: []binary.Attr{
		{Key: "to", Value: own.Value()},
		attr("id", messageID), attr("type", "text"), attr("category", "peer"),
		attr("push_priority", "high_force"), attr("privacy_sensitive", "1"),
	}, Content: binary.NodesContent(
		binary.Node{Tag: "meta", Attrs: []binary.Attr{attr("appdata", "default")}},
		binary.Node{Tag: "enc", Attrs: []binary.Attr{attr("v", "2"), attr("type", "pkmsg")}, Content: binary.BytesContent(unhex("aaaaaaaa"))},
		binary.Node{Tag: "device-identity", Content: binary.BytesContent(unhex("cccccccc"))},
	)}
	if !binary.Equal(s.Node, want) {
		t.Errorf("stanza %+v, want %+v", s.Node, want)
	}

	// A session that was answered when looked at, and is not when encrypting.
	m.Self.DeviceIdentity, a.sent = nil, nil
	if _, err := Peer(t.Context(), a, m); !errors.Is(err, ErrNoDeviceIdentity) {
		t.Errorf("pkmsg without identity: %v", err)
	}
}

// TestPeerPreflight: without a device identity nothing is encrypted that would
// need one.
func TestPeerPreflight(t *testing.T) {
	own := jid(t, "15550000001@s.whatsapp.net")
	locked := errors.New("database is locked")
	for name, a := range map[string]*scripted{
		"no session":         {},
		"unanswered session": {info: signal.SessionInfo{Exists: true, Pending: true}},
		"failing store":      {info: signal.SessionInfo{Exists: true}, err: locked},
	} {
		_, err := Peer(t.Context(), a, &PeerMessage{Self: Self{PN: own}, To: own, ID: messageID, Message: hello})
		if !errors.Is(err, ErrNoDeviceIdentity) || a.calls != 0 {
			t.Errorf("%s: %v after %d encryptions", name, err, a.calls)
		}
		if !errors.Is(err, a.err) && a.err != nil {
			t.Errorf("%s: %v does not wrap the cause", name, err)
		}
	}
	a := &scripted{err: locked}
	m := &PeerMessage{Self: Self{PN: own, DeviceIdentity: []byte{1}}, To: own, ID: messageID, Message: hello}
	if _, err := Peer(t.Context(), a, m); !errors.Is(err, locked) {
		t.Errorf("failing store: %v", err)
	}
	a.err = nil
	if _, err := Peer(t.Context(), a, m); !errors.Is(err, signal.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
}

func TestDirectFailures(t *testing.T) {
	m := directMessage(t)
	m.Devices = append(m.Devices, jid(t, "5511888776655:7@s.whatsapp.net"), jid(t, "5511999887766@s.whatsapp.net"))
	untrusted := &signal.UntrustedIdentityError{}
	a := &scripted{results: map[string]signal.EncryptResult{
		"5511888776655:7@c.us": ciphertext(signal.TypeSignal, "aaaaaaaa"),
		"5511888776655@c.us":   {Err: untrusted},
	}}
	s, err := Direct(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []Failure{
		{jid(t, "5511888776655@s.whatsapp.net"), untrusted},
		{jid(t, "5511999887766:42@s.whatsapp.net"), signal.ErrNoSession},
		{jid(t, "5511999887766@s.whatsapp.net"), signal.ErrNoSession},
	}
	if !slices.Equal(s.Failures, want) || !s.PrimaryFailed() {
		t.Errorf("failures %v, want %v", s.Failures, want)
	}
	if got := s.Node.Child("participants").Content.Nodes(); len(got) != 1 {
		t.Errorf("%d participants, want 1", len(got))
	}
	// No pkmsg inside, so no device identity.
	if s.Node.Child("device-identity") != nil {
		t.Error("device identity without a pkmsg")
	}

	// Without any recipient the own devices are not touched.
	a = &scripted{results: map[string]signal.EncryptResult{"5511999887766@c.us": ciphertext(signal.TypeSignal, "bb")}}
	_, err = Direct(t.Context(), a, m)
	var none *RecipientError
	if !errors.As(err, &none) || len(none.Failures) != 2 || !errors.Is(err, signal.ErrNoSession) {
		t.Errorf("%v, want a *RecipientError for 2 devices", err)
	}
	if a.calls != 1 {
		t.Errorf("%d encryptions, want only that for the recipient", a.calls)
	}

	m.Devices = []binary.JID{jid(t, "5511999887766@s.whatsapp.net"), m.Self.PN}
	if _, err := Direct(t.Context(), a, m); !errors.Is(err, ErrNoRecipient) {
		t.Errorf("no device of the recipient: %v", err)
	}
	a = &scripted{err: errors.New("database is locked")}
	if _, err := Direct(t.Context(), a, directMessage(t)); !errors.Is(err, a.err) {
		t.Errorf("failing store: %v", err)
	}
}

// TestSelfChat: a message to oneself goes to the own other devices.
func TestSelfChat(t *testing.T) {
	m := directMessage(t)
	m.To = m.Self.PN.NonAD()
	m.Devices = []binary.JID{m.Self.PN, jid(t, "5511999887766@s.whatsapp.net"), jid(t, "5511999887766:99@hosted")}
	a := &scripted{results: map[string]signal.EncryptResult{
		"5511999887766@c.us":      ciphertext(signal.TypeSignal, "aa"),
		"5511999887766:99@hosted": ciphertext(signal.TypeSignal, "bb"),
	}}
	s, err := Direct(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.sent) != 2 || a.calls != 1 || len(s.Node.Child("participants").Content.Nodes()) != 2 {
		t.Errorf("%d copies in %d calls", len(a.sent), a.calls)
	}
	for name, plaintext := range a.sent {
		if !bytes.HasPrefix(plaintext, unhex("fa01")) {
			t.Errorf("%s gets %x, not what own devices get", name, plaintext)
		}
	}
	var none *RecipientError
	if _, err := Direct(t.Context(), &scripted{}, m); !errors.As(err, &none) || len(none.Failures) != 2 {
		t.Errorf("no session at all: %v", err)
	}
	m.Devices = m.Devices[:1]
	s, err = Direct(t.Context(), &scripted{}, m)
	if err != nil || s.Node.Child("participants") != nil {
		t.Errorf("no other device: %+v, %v", s, err)
	}
}

func groupMessage(t testing.TB) *GroupMessage {
	return &GroupMessage{
		Self: Self{PN: jid(t, "15550000001:3@s.whatsapp.net"), LID: jid(t, "100000000000001:3@lid")},
		To:   jid(t, "120363000000000001@g.us"), ID: messageID, Type: "media", Edit: "1", Message: hello,
		Enc: Enc{MediaType: "image", HideDecryptFail: true},
		Distribute: []binary.JID{
			jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000002:9@s.whatsapp.net"), jid(t, "15550000001@s.whatsapp.net"),
			jid(t, "15550000001:3@s.whatsapp.net"), jid(t, "100000000000001:3@lid"), jid(t, "15550000003:99@s.whatsapp.net"),
			jid(t, "15550000003:99@hosted"), jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000004@s.whatsapp.net"),
		},
	}
}

func TestGroupFailures(t *testing.T) {
	m := groupMessage(t)
	a := &scripted{results: map[string]signal.EncryptResult{
		"15550000002:9@c.us": ciphertext(signal.TypePreKey, "aa"),
		"15550000001@c.us":   ciphertext(signal.TypeSignal, "ab"),
		"15550000004@c.us":   {Err: signal.ErrCorruptRecord},
	}}
	s, err := Group(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	want := []Failure{
		{jid(t, "15550000002@s.whatsapp.net"), signal.ErrNoSession},
		{jid(t, "15550000004@s.whatsapp.net"), signal.ErrCorruptRecord},
	}
	if !slices.Equal(s.Failures, want) || !s.PrimaryFailed() {
		t.Errorf("failures %v, want %v", s.Failures, want)
	}
	distributed := []binary.JID{jid(t, "15550000002:9@s.whatsapp.net"), jid(t, "15550000001@s.whatsapp.net")}
	if !slices.Equal(s.Distributed, distributed) {
		t.Errorf("distributed to %v, want %v", s.Distributed, distributed)
	}
	if a.groups[0].Name.Sender.Name != "15550000001:3@c.us" {
		t.Errorf("sends as %v", a.groups[0].Name.Sender)
	}
	// The whole stanza: the media type on the message only, the hiding on
	// both, no device identity because there is none.
	hidden := func(typ string) []binary.Attr {
		return []binary.Attr{attr("v", "2"), attr("type", typ), attr("decrypt-fail", "hide")}
	}
	to := func(device binary.JID, typ, body string) binary.Node {
		return binary.Node{Tag: "to", Attrs: []binary.Attr{{Key: "jid", Value: device.Value()}}, Content: binary.NodesContent(
			binary.Node{Tag: "enc", Attrs: hidden(typ), Content: binary.BytesContent(unhex(body))},
		)}
	}
	phash := ParticipantHash([]binary.JID{
		jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000002:9@s.whatsapp.net"), jid(t, "15550000001@s.whatsapp.net"),
		jid(t, "15550000001:3@s.whatsapp.net"), jid(t, "100000000000001:3@lid"), jid(t, "15550000004@s.whatsapp.net"),
	})
	node := &binary.Node{
		Tag: "message",
		Attrs: []binary.Attr{
			{Key: "to", Value: m.To.Value()},
			attr("id", messageID), attr("type", "media"), attr("addressing_mode", "pn"), attr("edit", "1"), attr("phash", phash),
		},
		Content: binary.NodesContent(
			binary.Node{Tag: "participants", Content: binary.NodesContent(
				to(distributed[0], "pkmsg", "aa"), to(distributed[1], "msg", "ab"),
			)},
			binary.Node{
				Tag:     "enc",
				Attrs:   []binary.Attr{attr("v", "2"), attr("type", "skmsg"), attr("mediatype", "image"), attr("decrypt-fail", "hide")},
				Content: binary.BytesContent(unhex("bbbbbbbb")),
			},
		),
	}
	if !binary.Equal(s.Node, node) {
		t.Errorf("stanza %+v, want %+v", s.Node, node)
	}

	m.Self.DeviceIdentity, a.sent = unhex("cc"), nil
	if s, err = Group(t.Context(), a, m); err != nil || s.Node.Content.Nodes()[1].Tag != "device-identity" {
		t.Errorf("no device identity behind the participants: %+v, %v", s, err)
	}
}

func TestGroupRequired(t *testing.T) {
	m := groupMessage(t)
	m.Required = true
	a := &scripted{results: map[string]signal.EncryptResult{"15550000001@c.us": ciphertext(signal.TypeSignal, "ab")}}
	var missed *DistributionError
	_, err := Group(t.Context(), a, m)
	if !errors.As(err, &missed) || missed.Targets != 4 || len(missed.Failures) != 3 || !errors.Is(err, signal.ErrNoSession) {
		t.Errorf("%v, want a *DistributionError for 3 of 4", err)
	}
	m.Distribute = []binary.JID{jid(t, "15550000001@s.whatsapp.net")}
	a.sent = nil
	if _, err := Group(t.Context(), a, m); err != nil {
		t.Errorf("all reached: %v", err)
	}
	a.results["15550000001@c.us"] = ciphertext(signal.TypePreKey, "ab")
	a.sent = nil
	if _, err := Group(t.Context(), a, m); !errors.Is(err, ErrNoDeviceIdentity) {
		t.Errorf("pkmsg without identity: %v", err)
	}
	m.Distribute = []binary.JID{m.Self.PN}
	if _, err := Group(t.Context(), a, m); !errors.Is(err, ErrInvalid) {
		t.Errorf("nobody to distribute to: %v", err)
	}
}

// TestGroupWarm: with nobody to distribute to, the stanza is the message
// alone, and the hash that the caller has is used.
func TestGroupWarm(t *testing.T) {
	m := groupMessage(t)
	m.Distribute, m.Phash, m.Rotate = nil, "2:AbCdEfGh", true
	a := &scripted{}
	s, err := Group(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	nodes := s.Node.Content.Nodes()
	if v, _ := s.Node.Attr("phash"); len(nodes) != 1 || nodes[0].Tag != "enc" || v.String() != m.Phash || s.Phash != m.Phash {
		t.Errorf("stanza %+v", s.Node)
	}
	if a.calls != 0 || !a.groups[0].Rotate || len(s.Distributed) != 0 {
		t.Errorf("%d encryptions, request %+v", a.calls, a.groups[0])
	}
	m.Phash = ""
	if s, err = Group(t.Context(), a, m); err != nil {
		t.Fatal(err)
	}
	if v, ok := s.Node.Attr("phash"); ok || s.Phash != "" {
		t.Errorf("phash %v although no device is known", v)
	}
	m.Distribute = []binary.JID{}
	if s, err = Group(t.Context(), a, m); err != nil || s.Phash != "" {
		t.Errorf("phash %v of a distribution to nobody, %v", s.Phash, err)
	}
	// With the list of the group, the sending device is counted once.
	m.PhashDevices = []binary.JID{m.Self.PN, jid(t, "15550000002@s.whatsapp.net")}
	if s, err = Group(t.Context(), a, m); err != nil || s.Phash != ParticipantHash(m.PhashDevices) {
		t.Errorf("phash %s, %v", s.Phash, err)
	}
	a.err = errors.New("database is locked")
	if _, err := Group(t.Context(), a, m); !errors.Is(err, a.err) {
		t.Errorf("failing store: %v", err)
	}
}

func TestInvalidRequests(t *testing.T) {
	a := &scripted{}
	for name, change := range map[string]func(*DirectMessage){
		"no id":        func(m *DirectMessage) { m.ID = "" },
		"no type":      func(m *DirectMessage) { m.Type = "" },
		"no recipient": func(m *DirectMessage) { m.To.User = "" },
		"no sender":    func(m *DirectMessage) { m.Self = Self{} },
		"a LID of the recipient": func(m *DirectMessage) {
			m.Devices = append(m.Devices, jid(t, "100000000000002@lid"))
		},
		"a hosted LID of the recipient": func(m *DirectMessage) {
			m.Devices = append(m.Devices, jid(t, "100000000000002:99@hosted.lid"))
		},
		"a LID of the sender's": func(m *DirectMessage) {
			m.Devices = append(m.Devices, jid(t, "100000000000009:42@lid"))
		},
		"to a LID, devices by number": func(m *DirectMessage) { m.To = jid(t, "100000000000002@lid") },
	} {
		m := directMessage(t)
		change(m)
		if _, err := Direct(t.Context(), a, m); !errors.Is(err, ErrInvalid) {
			t.Errorf("direct, %s: %v", name, err)
		}
	}
	for name, change := range map[string]func(*GroupMessage){
		"no id":       func(m *GroupMessage) { m.ID = "" },
		"no type":     func(m *GroupMessage) { m.Type = "" },
		"not a group": func(m *GroupMessage) { m.To = m.Self.PN },
		"no LID":      func(m *GroupMessage) { m.ByLID, m.Self.LID = true, binary.JID{} },
	} {
		m := groupMessage(t)
		change(m)
		if _, err := Group(t.Context(), a, m); !errors.Is(err, ErrInvalid) {
			t.Errorf("group, %s: %v", name, err)
		}
	}
	d, g := directMessage(t), groupMessage(t)
	d.Message, g.Message = hello[:3], hello[:3]
	if _, err := Direct(t.Context(), a, d); !errors.Is(err, ErrMalformed) {
		t.Errorf("direct, malformed message: %v", err)
	}
	if _, err := Group(t.Context(), a, g); !errors.Is(err, ErrMalformed) {
		t.Errorf("group, malformed message: %v", err)
	}
	if _, err := Peer(t.Context(), a, &PeerMessage{To: d.To}); !errors.Is(err, ErrInvalid) {
		t.Errorf("peer, no id: %v", err)
	}
	if a.calls != 0 || len(a.groups) != 0 {
		t.Error("something was encrypted")
	}
}

func TestSignalAddress(t *testing.T) {
	for in, want := range map[string]string{
		"15550000001@s.whatsapp.net":   "15550000001@c.us.0",
		"15550000001:5@s.whatsapp.net": "15550000001:5@c.us.0",
		"100000000000001:5@lid":        "100000000000001:5@lid.0",
		"15550000001:99@hosted":        "15550000001:99@hosted.0",
	} {
		if got := SignalAddress(jid(t, in)).String(); got != want {
			t.Errorf("SignalAddress(%s) = %s, want %s", in, got, want)
		}
	}
	lid := jid(t, "100000000000002@lid")
	a := &scripted{results: map[string]signal.EncryptResult{"100000000000002@lid": ciphertext(signal.TypeSignal, "aa")}}
	m := directMessage(t)
	m.Devices = []binary.JID{m.To}
	m.Address = func(binary.JID) signal.Address { return SignalAddress(lid) }
	s, err := Direct(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := s.Node.Child("participants").Content.Nodes()[0].Attr("jid"); v != m.To.Value() {
		t.Errorf("the stanza names %v, not the device", v)
	}
}
