package send

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

func retryMessage(t *testing.T) *RetryMessage {
	return &RetryMessage{
		Self: Self{PN: jid(t, "15550000001:3@s.whatsapp.net"), DeviceIdentity: unhex("cccc")},
		To:   jid(t, "120363000000000001@g.us"), Device: jid(t, "15550000002:4@s.whatsapp.net"),
		ID: messageID, Type: "media", Edit: "1", Count: 2, Message: hello,
		Enc: Enc{MediaType: "image", HideDecryptFail: true},
	}
}

// TestRetryShapes: a message to a group goes to the group and names the
// participant, one to a person goes to the device, and the copy of an own device
// says whom the message was for.
func TestRetryShapes(t *testing.T) {
	enc := func(typ string) binary.Node {
		return binary.Node{Tag: "enc", Attrs: []binary.Attr{
			attr("v", "2"), attr("type", typ), attr("count", "2"), attr("mediatype", "image"), attr("decrypt-fail", "hide"),
		}, Content: binary.BytesContent(unhex("aa"))}
	}
	identity := binary.Node{Tag: "device-identity", Content: binary.BytesContent(unhex("cccc"))}
	to := func(key, j string) binary.Attr { return binary.Attr{Key: key, Value: jid(t, j).Value()} }
	rest := []binary.Attr{attr("id", messageID), attr("type", "media"), attr("edit", "1")}
	for name, c := range map[string]struct {
		change func(*RetryMessage)
		typ    signal.MessageType
		attrs  []binary.Attr
		own    bool
	}{
		"group": {
			func(*RetryMessage) {}, signal.TypePreKey,
			[]binary.Attr{to("to", "120363000000000001@g.us"), to("participant", "15550000002:4@s.whatsapp.net"), attr("addressing_mode", "pn")},
			false,
		},
		"group by LID": {
			func(m *RetryMessage) { m.ByLID, m.Device = true, jid(t, "100000000000002:4@lid") }, signal.TypeSignal,
			[]binary.Attr{to("to", "120363000000000001@g.us"), to("participant", "100000000000002:4@lid"), attr("addressing_mode", "lid")},
			false,
		},
		"own device of a group": {
			func(m *RetryMessage) { m.Device = jid(t, "15550000001@s.whatsapp.net") }, signal.TypeSignal,
			[]binary.Attr{to("to", "120363000000000001@g.us"), to("participant", "15550000001@s.whatsapp.net"), attr("addressing_mode", "pn")},
			false,
		},
		"broadcast": {
			func(m *RetryMessage) { m.To = jid(t, "status@broadcast") }, signal.TypeSignal,
			[]binary.Attr{to("to", "status@broadcast"), to("participant", "15550000002:4@s.whatsapp.net")},
			false,
		},
		"person": {
			func(m *RetryMessage) { m.To = jid(t, "15550000002@s.whatsapp.net") }, signal.TypePreKey,
			[]binary.Attr{to("to", "15550000002:4@s.whatsapp.net")},
			false,
		},
		"own device": {
			func(m *RetryMessage) {
				m.To, m.Device = jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000001@s.whatsapp.net")
			}, signal.TypeSignal,
			[]binary.Attr{to("to", "15550000001@s.whatsapp.net"), to("recipient", "15550000002@s.whatsapp.net")},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := retryMessage(t)
			c.change(m)
			addr := SignalAddress(m.Device).Name
			a := &scripted{results: map[string]signal.EncryptResult{addr: ciphertext(c.typ, "aa")}}
			s, err := Retry(t.Context(), a, m)
			if err != nil {
				t.Fatal(err)
			}
			want := &binary.Node{Tag: "message", Attrs: append(c.attrs, rest...), Content: binary.NodesContent(enc("msg"))}
			if c.typ == signal.TypePreKey {
				want.Content = binary.NodesContent(enc("pkmsg"), identity)
			}
			if !binary.Equal(s.Node, want) {
				t.Errorf("stanza %+v, want %+v", s.Node, want)
			}
			if got := bytes.HasPrefix(a.sent[addr], unhex("fa01")); got != c.own {
				t.Errorf("plaintext %x", a.sent[addr])
			}
			if !c.own && !bytes.HasPrefix(a.sent[addr], hello) {
				t.Errorf("plaintext %x", a.sent[addr])
			}
		})
	}
}

func TestRetryRefused(t *testing.T) {
	for name, change := range map[string]func(*RetryMessage){
		"no id":                    func(m *RetryMessage) { m.ID = "" },
		"no type":                  func(m *RetryMessage) { m.Type = "" },
		"no chat":                  func(m *RetryMessage) { m.To = binary.JID{} },
		"count of 0":               func(m *RetryMessage) { m.Count = 0 },
		"count of 5":               func(m *RetryMessage) { m.Count = 5 },
		"a group":                  func(m *RetryMessage) { m.Device = m.To },
		"no device":                func(m *RetryMessage) { m.Device.User = "" },
		"mode of a broadcast":      func(m *RetryMessage) { m.To, m.ByLID = jid(t, "status@broadcast"), true },
		"mode of a direct message": func(m *RetryMessage) { m.To, m.ByLID = jid(t, "15550000002@s.whatsapp.net"), true },
	} {
		m, a := retryMessage(t), &scripted{}
		change(m)
		if _, err := Retry(t.Context(), a, m); !errors.Is(err, ErrInvalid) || a.calls != 0 {
			t.Errorf("%s: %v after %d encryptions", name, err, a.calls)
		}
	}
	m := retryMessage(t)
	m.Message = hello[:3]
	if _, err := Retry(t.Context(), &scripted{}, m); !errors.Is(err, ErrMalformed) {
		t.Errorf("malformed: %v", err)
	}
	m = retryMessage(t)
	if _, err := Retry(t.Context(), &scripted{}, m); !errors.Is(err, signal.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}

	// Without a device identity nothing is encrypted that would need one.
	m.Self.DeviceIdentity = nil
	locked := errors.New("database is locked")
	for name, a := range map[string]*scripted{
		"no session":         {},
		"unanswered session": {info: signal.SessionInfo{Exists: true, Pending: true}},
		"failing store":      {info: signal.SessionInfo{Exists: true}, err: locked},
	} {
		if _, err := Retry(t.Context(), a, m); !errors.Is(err, ErrNoDeviceIdentity) || a.calls != 0 || a.err != nil && !errors.Is(err, a.err) {
			t.Errorf("%s: %v after %d encryptions", name, err, a.calls)
		}
	}
	a := &scripted{
		info:    signal.SessionInfo{Exists: true},
		results: map[string]signal.EncryptResult{SignalAddress(m.Device).Name: ciphertext(signal.TypePreKey, "aa")},
	}
	if _, err := Retry(t.Context(), a, m); !errors.Is(err, ErrNoDeviceIdentity) {
		t.Errorf("a session that changed: %v", err)
	}
}

// TestStaleUsers: the users that are named, or all if the server names none.
func TestStaleUsers(t *testing.T) {
	one, two, three := jid(t, "100000000000001:3@lid"), jid(t, "100000000000002@lid"), jid(t, "15550000003:1@s.whatsapp.net")
	unregistered := &RejectedError{Code: 406}
	whole := fmt.Errorf("iq: %w", ErrUnregistered)
	number := func(lid binary.JID) (binary.JID, bool) {
		return jid(t, "15550000001@s.whatsapp.net"), lid.User == one.User
	}
	for name, c := range map[string]struct {
		failures []Failure
		want     []string
	}{
		"none":        {nil, nil},
		"other codes": {[]Failure{{one, &RejectedError{Code: 404}}, {two, signal.ErrNoSession}}, nil},
		"one is named": {
			[]Failure{{two, &RejectedError{Code: 404}}, {one, unregistered}, {three, ErrNoBundle}},
			[]string{"100000000000001@lid", "15550000001@s.whatsapp.net"},
		},
		"none is named": {
			[]Failure{{two, whole}, {three, whole}, {three.NonAD(), whole}},
			[]string{"100000000000002@lid", "15550000003@s.whatsapp.net"},
		},
	} {
		got := (&Stanza{Failures: c.failures}).StaleUsers(number)
		if fmt.Sprint(texts(got)) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for _, got := range [][]binary.JID{
			(&RecipientError{c.failures}).StaleUsers(number), (&DistributionError{9, c.failures}).StaleUsers(number),
		} {
			if fmt.Sprint(texts(got)) != fmt.Sprint(c.want) {
				t.Errorf("%s, of an error: %v, want %v", name, got, c.want)
			}
		}
	}
	if !errors.Is(unregistered, ErrNoBundle) || !errors.Is(unregistered, ErrUnregistered) || errors.Is(&RejectedError{Code: 404}, ErrUnregistered) {
		t.Error("chains of a RejectedError")
	}
	if got := (&Stanza{Failures: []Failure{{one, unregistered}}}).StaleUsers(nil); len(got) != 1 {
		t.Errorf("without numbers: %v", got)
	}

	// A request that is refused as a whole costs the devices that were asked for.
	b := newBand(t, TrackerOptions{})
	x, y := b.player(1, 0), b.player(2, 4)
	if _, err := b.ProcessBundle(t.Context(), SignalAddress(x), b.bundles[x]); err != nil {
		t.Fatal(err)
	}
	sessions := Sessions{Source: BundleFunc(func(context.Context, []binary.JID) ([]BundleAnswer, error) { return nil, whole })}
	p, err := sessions.For(t.Context(), b.Account, []binary.JID{x, y})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Direct(t.Context(), p, &DirectMessage{
		Self: bandSelf, To: x.NonAD(), ID: messageID, Type: "text", Message: hello, Devices: []binary.JID{x, y}, Address: p.Address,
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.StaleUsers(nil); len(got) != 1 || got[0] != y.NonAD() {
		t.Errorf("stale users %v", got)
	}
}
