package send

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// liveAccount is an account without a store: a sender key and sessions that
// stay in memory.
type liveAccount struct {
	Account
	key      signal.SenderKey
	sessions map[signal.Address]*signal.Session
	items    []signal.Encryption
}

func (a *liveAccount) SendGroup(_ context.Context, g *signal.GroupSend) (*signal.GroupResult, error) {
	if err := a.key.Create(); err != nil {
		return nil, err
	}
	out := new(signal.GroupResult)
	if len(g.Distribute) > 0 {
		skdm, err := a.key.AppendDistribution(nil)
		if err != nil {
			return nil, err
		}
		plaintext, err := g.Wrap(skdm)
		if err != nil {
			return nil, err
		}
		items := make([]signal.Encryption, len(g.Distribute))
		for i, addr := range g.Distribute {
			items[i] = signal.Encryption{Session: a.sessions[addr], Plaintext: plaintext}
		}
		signal.EncryptMany(nil, items)
		out.Recipients = make([]signal.EncryptResult, len(items))
		for i := range items {
			out.Recipients[i].Type, out.Recipients[i].Body, out.Recipients[i].Err = items[i].Type, items[i].Body, items[i].Err
		}
	}
	var err error
	out.Body, err = a.key.Encrypt(nil, g.Plaintext)
	return out, err
}

// acknowledged returns a session that its peer has answered.
func acknowledged(t testing.TB) *signal.Session {
	t.Helper()
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var locals [2]signal.Local
	for i := range locals {
		identity, err := signal.GenerateIdentityKeyPair()
		check(err)
		locals[i] = signal.Local{Identity: identity, RegistrationID: uint32(1 + i)}
	}
	signed, err := signal.GenerateSignedPreKey(3, locals[1].Identity, 0)
	check(err)
	alice, bob := new(signal.Session), new(signal.Session)
	check(alice.Initiate(locals[0], &signal.Bundle{
		RegistrationID: 2, Identity: locals[1].Identity.PublicKey(),
		SignedPreKeyID: 3, SignedPreKey: signed.Public, Signature: signed.Signature,
	}))
	_, first, err := alice.Encrypt(nil, hello)
	check(err)
	m, err := signal.ParsePreKeySignalMessage(first)
	check(err)
	_, _, err = bob.DecryptPreKey(nil, &m, &signal.Responder{Local: locals[1], SignedPreKey: signed})
	check(err)
	_, answer, err := bob.Encrypt(nil, hello)
	check(err)
	_, _, err = alice.Decrypt(nil, answer, nil)
	check(err)
	return alice
}

// warmGroup returns an account with acknowledged sessions with companions, and a
// message to a group of so many members who have the key.
func warmGroup(t testing.TB, members, companions int) (*liveAccount, *GroupMessage) {
	t.Helper()
	a := &liveAccount{sessions: map[signal.Address]*signal.Session{}}
	m := &GroupMessage{
		Self: Self{
			LID:            binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 9},
			DeviceIdentity: []byte("identity"),
		},
		To: jid(t, "120363000000000001@g.us"), ID: messageID, Type: "text", ByLID: true, Message: hello,
	}
	devices := []binary.JID{m.Self.LID}
	for i := range members {
		devices = append(devices, binary.JID{User: fmt.Sprint(100000000000100 + int64(i)), Server: binary.ServerLID})
	}
	for i := range companions {
		j := m.Self.LID
		j.Device = uint16(i)
		a.sessions[SignalAddress(j)] = acknowledged(t)
		devices, m.Distribute = append(devices, j), append(m.Distribute, j)
	}
	m.Phash = NewRoster(devices).Phash(m.Self.LID)
	return a, m
}

// normalized returns a node without what differs from message to message: the
// ciphertexts, whose length the padding decides, and the participant hash.
func normalized(n *binary.Node) binary.Node {
	out := binary.Node{Tag: n.Tag, Attrs: slices.Clone(n.Attrs)}
	for i := range out.Attrs {
		if out.Attrs[i].Key == "phash" {
			out.Attrs[i].Value = binary.Text("2:AAAAAAAA")
		}
	}
	if list := n.Content.Nodes(); list != nil {
		children := make([]binary.Node, len(list))
		for i := range list {
			children[i] = normalized(&list[i])
		}
		out.Content = binary.NodesContent(children...)
	} else if n.Content.Bytes() != nil {
		out.Content = binary.BytesContent([]byte("payload"))
	}
	return out
}

// TestWarmShape: a message that nobody needs the key for looks the same in a
// group of 8 and of 512; it has a copy of the key for each other device of the
// sender, and names nobody else.
func TestWarmShape(t *testing.T) {
	for _, companions := range []int{0, 2} {
		var nodes []binary.Node
		var sizes []int
		for _, members := range []int{8, 512} {
			a, m := warmGroup(t, members, companions)
			s, err := Group(t.Context(), a, m)
			if err != nil || len(s.Failures) > 0 {
				t.Fatal(err, s.Failures)
			}
			if !slices.Equal(s.Distributed, m.Distribute) {
				t.Errorf("%d members: the key goes to %v", members, s.Distributed)
			}
			var named []binary.JID
			if list := s.Node.Child("participants"); list != nil {
				for _, to := range list.Content.Nodes() {
					v, _ := to.Attr("jid")
					j, _ := v.JID()
					named = append(named, j)
					if v, _ := to.Child("enc").Attr("type"); v.String() != "msg" {
						t.Errorf("a copy of type %v", v)
					}
				}
			}
			if !slices.Equal(named, m.Distribute) {
				t.Errorf("%d members: copies for %v, want %v", members, named, m.Distribute)
			}
			n := normalized(s.Node)
			frame, err := binary.Marshal(&n)
			if err != nil {
				t.Fatal(err)
			}
			nodes, sizes = append(nodes, n), append(sizes, len(frame))
		}
		if !binary.Equal(&nodes[0], &nodes[1]) || sizes[0] != sizes[1] {
			t.Errorf("%d companions: %d bytes in a group of 8, %d in one of 512:\n%+v\n%+v", companions, sizes[0], sizes[1], nodes[0], nodes[1])
		}
		want := []string{"enc"}
		if companions > 0 {
			want = []string{"participants", "enc"} // and no device identity
		}
		var tags []string
		for _, c := range nodes[0].Content.Nodes() {
			tags = append(tags, c.Tag)
		}
		if !slices.Equal(tags, want) {
			t.Errorf("%d companions: children %v, want %v", companions, tags, want)
		}
	}
}

// TestWarmAllocations: the stanza and its frame take at most eight, however
// large the group is.
func TestWarmAllocations(t *testing.T) {
	if RaceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, members := range []int{8, 512} {
		a, m := warmGroup(t, members, 0)
		got := testing.AllocsPerRun(100, func() {
			s, err := Group(t.Context(), a, m)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := binary.Marshal(s.Node); err != nil {
				t.Fatal(err)
			}
		})
		if got > 8 {
			t.Errorf("%d members: %.0f allocations", members, got)
		}
	}
}
