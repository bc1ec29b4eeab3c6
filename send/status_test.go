package send

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// shapeOf returns the users or devices that a status names, those with a copy
// marked, and the tags of its children.
func shapeOf(n *binary.Node) (named, tags []string) {
	for _, c := range n.Content.Nodes() {
		tags = append(tags, c.Tag)
		for _, to := range c.Content.Nodes() {
			if c.Tag != "participants" {
				continue
			}
			v, _ := to.Attr("jid")
			name := v.String()
			if to.Child("enc") != nil {
				name += " enc"
			}
			named = append(named, name)
		}
	}
	return named, tags
}

func statusMessage(t *testing.T) *StatusMessage {
	return &StatusMessage{
		GroupMessage: GroupMessage{
			Self: Self{PN: jid(t, "15550000001:3@s.whatsapp.net"), LID: jid(t, "100000000000001:3@lid"), DeviceIdentity: unhex("cc")},
			ID:   messageID, Type: "media", Message: hello, Enc: Enc{MediaType: "image"}, Phash: "2:AAAAAAAA",
		},
		Audience: []binary.JID{
			jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000003:4@s.whatsapp.net"), jid(t, "15550000002@s.whatsapp.net"),
			jid(t, "100000000000004@lid"),
		},
		Setting: "contacts",
	}
}

// TestStatus: a status names its audience, has neither hash nor addressing mode,
// and the setting of a post.
func TestStatus(t *testing.T) {
	m := statusMessage(t)
	m.Distribute = []binary.JID{jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000002:5@s.whatsapp.net"), jid(t, "15550000003@s.whatsapp.net")}
	a := &scripted{results: map[string]signal.EncryptResult{
		"15550000002@c.us": ciphertext(signal.TypePreKey, "aa"), "15550000002:5@c.us": ciphertext(signal.TypeSignal, "ab"),
	}}
	s, err := Status(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"to": "status@broadcast", "id": messageID, "type": "media", "phash": "", "addressing_mode": ""} {
		if v, ok := s.Node.Attr(key); v.String() != want || ok != (want != "") {
			t.Errorf("%s is %v", key, v)
		}
	}
	named, tags := shapeOf(s.Node)
	if want := []string{
		"15550000002@s.whatsapp.net enc", "15550000002:5@s.whatsapp.net enc", "15550000003@s.whatsapp.net", "100000000000004@lid", "100000000000001@lid",
	}; !slices.Equal(named, want) {
		t.Errorf("named %v, want %v", named, want)
	}
	if !slices.Equal(tags, []string{"participants", "device-identity", "enc", "meta"}) {
		t.Errorf("children %v", tags)
	}
	if v, _ := s.Node.Child("meta").Attr("status_setting"); v.String() != "contacts" {
		t.Errorf("setting %v", v)
	}
	if len(s.Failures) != 1 || s.Phash != "" || a.groups[0].Name.Group != "status@broadcast" {
		t.Errorf("%+v", s)
	}

	// All have the key, and it is a revocation.
	m.Distribute, m.Setting, m.Edit = nil, "", "7"
	if s, err = Status(t.Context(), a, m); err != nil {
		t.Fatal(err)
	}
	named, tags = shapeOf(s.Node)
	if len(named) != 4 || !slices.Equal(tags, []string{"participants", "enc"}) {
		t.Errorf("named %v, children %v", named, tags)
	}
	m.Audience = nil
	if _, err := Status(t.Context(), a, m); !errors.Is(err, ErrNoRecipient) {
		t.Errorf("no audience: %v", err)
	}
}

// TestStatusReaction goes to the author alone.
func TestStatusReaction(t *testing.T) {
	a := &scripted{results: map[string]signal.EncryptResult{"5511888776655@c.us": ciphertext(signal.TypeSignal, "aa")}}
	m := directMessage(t)
	m.Devices, m.ToStatus = []binary.JID{jid(t, "5511888776655@s.whatsapp.net")}, true
	s, err := Direct(t.Context(), a, m)
	if err != nil {
		t.Fatal(err)
	}
	named, _ := shapeOf(s.Node)
	if v, _ := s.Node.Attr("to"); v.String() != "status@broadcast" || !slices.Equal(named, []string{"5511888776655@s.whatsapp.net enc"}) {
		t.Errorf("to %v, named %v", v, named)
	}
}

// TestTrackedStatus: the sender key of status messages is tracked as that of a
// group, and replaced when somebody may not see them any more.
func TestTrackedStatus(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y := b.player(1, 0), b.player(2, 0)
	post := func(audience ...binary.JID) []string {
		t.Helper()
		m := &StatusMessage{GroupMessage: *b.message(), Audience: audience, Setting: "contacts"}
		var named []string
		s, err := b.Status(t.Context(), NewRoster(audience), m, func(_ context.Context, s *GroupStanza) error {
			named, _ = shapeOf(s.Node)
			return nil
		})
		if err != nil || s.Phash != "" {
			t.Fatal(err, s)
		}
		return named
	}
	for i, c := range []struct {
		audience []binary.JID
		want     []string
	}{
		{[]binary.JID{x, y}, []string{x.String() + " enc", y.String() + " enc"}},
		{[]binary.JID{x, y}, []string{x.String(), y.String()}},
		{[]binary.JID{x}, []string{x.String() + " enc"}},
		{[]binary.JID{x, y}, []string{y.String() + " enc", x.String()}},
	} {
		if got := post(c.audience...); !slices.Equal(got, c.want) {
			t.Errorf("post %d names %v, want %v", i, got, c.want)
		}
	}
	if err := b.Reset(t.Context(), StatusBroadcast); err != nil {
		t.Fatal(err)
	}
	if got := post(x, y); !slices.Equal(got, []string{x.String() + " enc", y.String() + " enc"}) {
		t.Errorf("after a reset: %v", got)
	}
	if _, err := b.Status(t.Context(), NewRoster(nil), &StatusMessage{GroupMessage: *b.message()}, nil); !errors.Is(err, ErrNoRecipient) {
		t.Errorf("no audience: %v", err)
	}
}
