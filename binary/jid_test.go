package binary

import (
	"errors"
	"testing"
)

func TestParseJID(t *testing.T) {
	for _, c := range []struct {
		in   string
		want JID
		text string // the display form, if it is not in
	}{
		{"15550000001@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, ""},
		{"15550000001:5@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser, Device: 5}, ""},
		{"15550000001:65535@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser, Device: 65535}, ""},
		{"15550000001:65536@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, "15550000001@s.whatsapp.net"},
		{"15550000001:x@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, "15550000001@s.whatsapp.net"},
		{"15550000001:+5@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser, Device: 5}, "15550000001:5@s.whatsapp.net"},
		{"15550000001:05@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser, Device: 5}, "15550000001:5@s.whatsapp.net"},
		{"15550000001: 5@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, "15550000001@s.whatsapp.net"},
		{"15550000001:5_0@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, "15550000001@s.whatsapp.net"},
		{"15550000001:@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser}, "15550000001@s.whatsapp.net"},
		{"15550000001.2@s.whatsapp.net", JID{User: "15550000001", Server: ServerUser, Device: 2}, "15550000001:2@s.whatsapp.net"},
		{"15550000001.2:3@s.whatsapp.net", JID{User: "15550000001.2", Server: ServerUser, Device: 3}, ""},
		{"15550000001.x@s.whatsapp.net", JID{User: "15550000001.x", Server: ServerUser}, ""},
		{"123456789.4:17@interop", JID{User: "123456789", Server: ServerInterop, Agent: 4, Device: 17}, ""},
		{"123.999@interop", JID{User: "123.999", Server: ServerInterop}, ""},
		{"12345.678:9@lid", JID{User: "12345.678", Server: ServerLID, Device: 9}, ""},
		{"12345.6@hosted.lid", JID{User: "12345", Server: ServerHostedLID, Agent: 6}, "12345@hosted.lid"},
		{"12345.6@c.us", JID{User: "12345", Server: ServerLegacy, Agent: 6}, ""},
		{"a:1.5:2@bot", JID{User: "a:1", Server: ServerBot, Agent: 5, Device: 2}, ""},
		{"1234567890.2:15@hosted", JID{User: "1234567890", Server: ServerHosted, Agent: 2, Device: 15}, "1234567890:15@hosted"},
		{"120363000000000001@g.us", JID{User: "120363000000000001", Server: ServerGroup}, ""},
		{"s.whatsapp.net", JID{Server: ServerUser}, ""},
		{"@s.whatsapp.net", JID{Server: ServerUser}, "s.whatsapp.net"},
	} {
		got, err := ParseJID(c.in)
		if err != nil || got != c.want {
			t.Errorf("ParseJID(%q) = %+v, %v; want %+v", c.in, got, err, c.want)
		}
		if c.text == "" {
			c.text = c.in
		}
		if s := got.String(); s != c.text {
			t.Errorf("%q displays as %q, want %q", c.in, s, c.text)
		}
	}
	for _, s := range []string{"", "@", "x", "x@", "x@example.com", "x@lid@lid", "x@s.whatsapp.net "} {
		if j, err := ParseJID(s); !errors.Is(err, ErrInvalidJID) {
			t.Errorf("ParseJID(%q) = %+v, %v; want ErrInvalidJID", s, j, err)
		}
	}
}

func TestJIDForms(t *testing.T) {
	j := JID{User: "15550000001", Server: ServerUser, Agent: 3, Device: 7, Integrator: 2}
	if got := string(j.AppendPhash(nil)); got != "15550000001.0:7@s.whatsapp.net" {
		t.Errorf("phash form %q", got)
	}
	if got := string(JID{Server: ServerGroup}.AppendPhash(nil)); got != "g.us" {
		t.Errorf("phash form without user %q", got)
	}
	if got := j.NonAD(); got != (JID{User: "15550000001", Server: ServerUser, Integrator: 2}) {
		t.Errorf("NonAD = %+v", got)
	}
	if k := j.Key(); k.Agent != 0 || k.Device != 7 {
		t.Errorf("Key = %+v; the agent is not shown on this server", k)
	}
	bot := JID{User: "15550000001", Server: ServerBot, Agent: 3}
	if bot.Key() != bot {
		t.Errorf("Key = %+v; the agent is shown on this server", bot.Key())
	}
	for j, want := range map[JID]bool{
		{User: "1", Server: ServerUser, Device: 99}: true,
		{User: "1", Server: ServerHosted}:           true,
		{User: "1", Server: ServerHostedLID}:        true,
		{User: "1", Server: ServerLID, Device: 98}:  false,
	} {
		if j.IsHosted() != want {
			t.Errorf("IsHosted of %v is not %v", j, want)
		}
	}
}

func FuzzParseJID(f *testing.F) {
	for _, s := range []string{"15550000001:5@s.whatsapp.net", "a:1.5:2@bot", "@lid", "1-98765:2@interop", "x@y", "12.3@msgr", "::0:@bot"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		j, err := ParseJID(s)
		if err != nil {
			return
		}
		if !j.KnownServer() {
			t.Fatalf("%+v has an unknown server", j)
		}
		// The display form is a JID again. Another one only if something was
		// left out, such as a device that is no number: then it is shorter.
		for shown := j.String(); ; {
			k, err := ParseJID(shown)
			if err != nil {
				t.Fatalf("%q displays as %q: %v", s, shown, err)
			}
			again := k.String()
			if again == shown {
				break
			}
			if len(again) > len(shown) {
				t.Fatalf("%q displays as %q, which displays as %q", s, shown, again)
			}
			shown = again
		}
	})
}
