package send

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
)

// lists is a DeviceLists that was told what it knows, and what it was asked.
type lists struct {
	devices    map[binary.JID][]uint16
	generation uint64
	asked      [][]binary.JID
	err        error
	during     func()
}

func (l *lists) Generation() uint64 { return l.generation }

func (l *lists) Devices(_ context.Context, users []binary.JID) ([]binary.JID, error) {
	l.asked = append(l.asked, users)
	if l.during != nil {
		l.during()
	}
	var out []binary.JID
	for _, u := range users {
		for _, d := range l.devices[u] {
			u.Device = d
			out = append(out, u)
		}
	}
	return out, l.err
}

func texts(jids []binary.JID) []string {
	out := make([]string, len(jids))
	for i, j := range jids {
		out[i] = j.String()
	}
	return out
}

// TestResolve: devices are asked for by phone number where there is one, and
// named as the group names them, each once, the sender's own among them.
func TestResolve(t *testing.T) {
	l := &lists{devices: map[binary.JID][]uint16{
		jid(t, "15550000001@s.whatsapp.net"): {0, 3, 5},
		jid(t, "15550000002@s.whatsapp.net"): {0, 1, 99},
		jid(t, "100000000000003@lid"):        {0, 2},
		jid(t, "15550000003@s.whatsapp.net"): {0, 4},
	}}
	self := Self{PN: jid(t, "15550000001:3@s.whatsapp.net"), LID: jid(t, "100000000000001:3@lid")}
	r := NewResolver(l, self)
	byLID := &GroupInfo{
		JID: jid(t, "120363000000000001@g.us"), ByLID: true,
		Participants: []binary.JID{
			jid(t, "100000000000001@lid"), jid(t, "100000000000002@lid"), jid(t, "100000000000003@lid"),
			jid(t, "15550000002@s.whatsapp.net"), // the second once more
		},
		PhoneNumbers: map[binary.JID]binary.JID{
			jid(t, "100000000000002@lid"): jid(t, "15550000002@s.whatsapp.net"),
			jid(t, "100000000000001@lid"): jid(t, "15550000001@s.whatsapp.net"),
		},
	}
	roster, err := r.Roster(t.Context(), byLID)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(l.asked[0]); !slices.Equal(got, []string{
		"15550000001@s.whatsapp.net", "15550000002@s.whatsapp.net", "100000000000003@lid",
	}) {
		t.Errorf("asked for %v", got)
	}
	if got := texts(roster.Devices()); !slices.Equal(got, []string{
		"100000000000001@lid", "100000000000001:3@lid", "100000000000001:5@lid", "100000000000002@lid",
		"100000000000002:1@lid", "100000000000003@lid", "100000000000003:2@lid",
	}) {
		t.Errorf("roster %v", got)
	}
	if !roster.Has(jid(t, "100000000000003:2@lid")) || roster.Has(jid(t, "15550000002@s.whatsapp.net")) {
		t.Error("Has")
	}

	byNumber := &GroupInfo{
		JID:          jid(t, "120363000000000002@g.us"),
		Participants: []binary.JID{jid(t, "15550000003@s.whatsapp.net"), jid(t, "15550000002@s.whatsapp.net")},
		PhoneNumbers: byLID.PhoneNumbers,
	}
	if roster, err = r.Roster(t.Context(), byNumber); err != nil {
		t.Fatal(err)
	}
	if got := texts(roster.Devices()); !slices.Equal(got, []string{
		"15550000003@s.whatsapp.net", "15550000003:4@s.whatsapp.net", "15550000002@s.whatsapp.net", "15550000002:1@s.whatsapp.net",
		"15550000001@s.whatsapp.net", "15550000001:3@s.whatsapp.net", "15550000001:5@s.whatsapp.net",
	}) {
		t.Errorf("roster %v", got)
	}
	l.err = errors.New("no answer")
	if _, err := r.Roster(t.Context(), &GroupInfo{JID: byLID.JID}); !errors.Is(err, l.err) {
		t.Errorf("no answer: %v", err)
	}
}

// TestResolutionMemo: a roster holds as long as the group and the device lists
// are the ones that it was made from, and is the same object as long as its
// devices are the same.
func TestResolutionMemo(t *testing.T) {
	two := jid(t, "15550000002@s.whatsapp.net")
	l := &lists{devices: map[binary.JID][]uint16{two: {0}}}
	r := NewResolver(l, Self{PN: jid(t, "15550000001:3@s.whatsapp.net")})
	info := &GroupInfo{JID: jid(t, "120363000000000001@g.us"), Participants: []binary.JID{two}}
	resolve := func(what string, g *GroupInfo, asked int, same *Roster) *Roster {
		t.Helper()
		l.asked = nil
		roster, err := r.Roster(t.Context(), g)
		if err != nil || len(l.asked) != asked || same != nil && roster != same {
			t.Fatalf("%s: asked %d times, want %d; the same roster %v; %v", what, len(l.asked), asked, roster == same, err)
		}
		return roster
	}
	first := resolve("at first", info, 1, nil)
	resolve("again", info, 0, first)
	resolve("another group", &GroupInfo{JID: jid(t, "120363000000000002@g.us"), Participants: info.Participants}, 1, nil)
	resolve("still", info, 0, first)
	info = &GroupInfo{JID: info.JID, Participants: info.Participants}
	resolve("an equal group that is another object", info, 1, first)
	resolve("that again", info, 0, first)
	l.generation++
	resolve("other device lists", info, 1, first)
	l.devices[two] = []uint16{0, 1}
	resolve("a change that is not told", info, 0, first)
	l.generation++
	if second := resolve("another device", info, 1, nil); second == first || second.version <= first.version {
		t.Error("the roster of another device list is the one before, or not newer")
	}
	// A change while the lists are asked for.
	l.generation++
	l.during = func() { l.generation++ }
	resolve("meanwhile", info, 1, nil)
	l.during = nil
	resolve("after that", info, 1, nil)
	resolve("at last", info, 0, nil)
}

// TestResolveAtOnce: of two resolutions at once the one that began later is the
// newer roster, whichever ends first.
func TestResolveAtOnce(t *testing.T) {
	two := jid(t, "15550000002@s.whatsapp.net")
	l := &lists{devices: map[binary.JID][]uint16{two: {0}}}
	r := NewResolver(l, Self{PN: jid(t, "15550000001:3@s.whatsapp.net")})
	info := &GroupInfo{JID: jid(t, "120363000000000001@g.us"), Participants: []binary.JID{two}}
	var second *Roster
	l.during = func() {
		l.during = nil
		l.generation++
		l.devices[two] = []uint16{0, 1}
		var err error
		if second, err = r.Roster(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		l.devices[two] = []uint16{0} // what the first one sees
	}
	first, err := r.Roster(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	if first == second || first.version >= second.version {
		t.Errorf("the slow one is of version %d, the other of %d", first.version, second.version)
	}
	if now, err := r.Roster(t.Context(), info); err != nil || now != second {
		t.Errorf("the slow one is kept: %v", err)
	}
}
