package send

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// TestExtraNodes: a caller cannot add what the stanza makes itself, nor two of
// what there is one of.
func TestExtraNodes(t *testing.T) {
	node := func(tags ...string) (out []binary.Node) {
		for _, tag := range tags {
			out = append(out, binary.Node{Tag: tag})
		}
		return out
	}
	for _, c := range []struct {
		extra []binary.Node
		ok    bool
	}{
		{node(), true},
		{node("reporting", "meta", "biz", "bot"), true},
		{node("meta", "meta"), true},
		{node("enc"), false},
		{node("meta", "participants"), false},
		{node("device-identity"), false},
		{node("plaintext"), false},
		{node("biz", "bot", "biz"), false},
		{node("bot", "bot"), false},
	} {
		a := &scripted{results: map[string]signal.EncryptResult{"5511888776655@c.us": ciphertext(signal.TypeSignal, "aa")}}
		d, g := directMessage(t), groupMessage(t)
		d.Devices, d.Extra, g.Extra = []binary.JID{jid(t, "5511888776655@s.whatsapp.net")}, c.extra, c.extra
		if _, err := Direct(t.Context(), a, d); c.ok != (err == nil) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("direct, %v: %v", c.extra, err)
		}
		if !c.ok && a.calls != 0 {
			t.Errorf("%v: encrypted all the same", c.extra)
		}
		if _, err := Group(t.Context(), a, g); c.ok != (err == nil) || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("group, %v: %v", c.extra, err)
		}
		if !c.ok && len(a.groups) != 0 {
			t.Errorf("%v: encrypted all the same", c.extra)
		}
	}
}

// TestEncode: a type with the field 1 of a Message.
func TestEncode(t *testing.T) {
	got, err := Encode(wrapperspb.String("Hello"))
	if err != nil || string(got) != "\x0a\x05Hello" {
		t.Errorf("%x, %v", got, err)
	}
	if _, err := Encode(wrapperspb.String("\xff")); err == nil {
		t.Error("a text that is not one")
	}
}
