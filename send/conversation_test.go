package send_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// device is an account with its address.
type device struct {
	*signal.Account
	jid binary.JID
}

func newDevice(t *testing.T, backend store.Backend, jid string) *device {
	t.Helper()
	j, err := binary.ParseJID(jid)
	if err != nil {
		t.Fatal(err)
	}
	a, err := signal.CreateAccount(t.Context(), backend, jid, signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.GenerateSignedPreKey(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	return &device{a, j}
}

// meet starts a session of d with each of the others.
func (d *device) meet(t *testing.T, others ...*device) {
	t.Helper()
	for _, o := range others {
		keys, err := o.GeneratePreKeys(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		b, err := o.Bundle(t.Context(), keys[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.ProcessBundle(t.Context(), send.SignalAddress(o.jid), b); err != nil {
			t.Fatal(err)
		}
	}
}

// carry marshals a stanza and reads it as a receiver does.
func carry(t *testing.T, n *binary.Node) *binary.Node {
	t.Helper()
	frame, err := binary.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	got, err := binary.UnmarshalFrame(frame)
	if err != nil {
		t.Fatal(err)
	}
	if !binary.Equal(got, n) {
		t.Fatalf("%+v arrives as %+v", n, got)
	}
	return got
}

// receive decrypts the copy of d in a stanza of from, and unpads it. ok is
// false if there is none.
func (d *device) receive(ctx context.Context, n *binary.Node, from *device) (plaintext []byte, ok bool, err error) {
	list := n.Child("participants")
	if list == nil {
		return nil, false, nil
	}
	to := list.Content.Nodes()
	for i := range to {
		v, _ := to[i].Attr("jid")
		if j, _ := v.JID(); j.Key() != d.jid.Key() {
			continue
		}
		enc := to[i].Child("enc")
		typ, _ := enc.Attr("type")
		kind, known := signal.MessageTypeOf(typ.String())
		if !known {
			return nil, true, fmt.Errorf("enc of type %q", typ)
		}
		m, err := d.Decrypt(ctx, send.SignalAddress(from.jid), kind, enc.Content.Bytes())
		if err != nil {
			return nil, true, err
		}
		plaintext, err = send.Unpad(m.Plaintext, 2)
		return plaintext, true, err
	}
	return nil, false, nil
}

func TestConversation(t *testing.T) {
	ctx := t.Context()
	backend := store.NewMemory()
	alice := newDevice(t, backend, "15550000001:2@s.whatsapp.net")
	phone := newDevice(t, backend, "15550000001@s.whatsapp.net")
	bob := newDevice(t, backend, "15550000002@s.whatsapp.net")
	laptop := newDevice(t, backend, "15550000002:7@s.whatsapp.net")
	stranger, err := binary.ParseJID("15550000002:9@s.whatsapp.net")
	if err != nil {
		t.Fatal(err)
	}
	alice.meet(t, phone, bob, laptop)

	hello := []byte("\x0a\x05Hello")
	self := send.Self{PN: alice.jid, DeviceIdentity: []byte("identity")}
	for round := range 3 {
		id, err := send.MessageID(time.Now(), alice.jid)
		if err != nil {
			t.Fatal(err)
		}
		s, err := send.Direct(ctx, alice, &send.DirectMessage{
			Self: self, To: bob.jid, ID: id, Type: "text", Message: hello, Context: []byte("\x1a\x01s"),
			Devices: []binary.JID{bob.jid, laptop.jid, stranger, phone.jid, alice.jid},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Failures) != 1 || s.Failures[0].Device != stranger || !errors.Is(s.Failures[0].Err, signal.ErrNoSession) || s.PrimaryFailed() {
			t.Errorf("failures %v", s.Failures)
		}
		n := carry(t, s.Node)
		// The peers have not answered before the second round.
		if pkmsg := n.Child("device-identity") != nil; pkmsg != (round < 2) {
			t.Errorf("round %d: device identity %v", round, pkmsg)
		}
		for d, want := range map[*device]string{
			bob:    "\x0a\x05Hello\x9a\x02\x03\x1a\x01s",
			laptop: "\x0a\x05Hello\x9a\x02\x03\x1a\x01s",
			phone:  "\xfa\x01\x25\x0a\x1a15550000002@s.whatsapp.net\x12\x07\x0a\x05Hello\x9a\x02\x03\x1a\x01s",
		} {
			got, ok, err := d.receive(ctx, n, alice)
			if err != nil || !ok || string(got) != want {
				t.Errorf("round %d: %v reads %q, %v; want %q", round, d.jid, got, err, want)
			}
		}
		if _, ok, _ := alice.receive(ctx, n, alice); ok {
			t.Error("a copy for the sending device")
		}
		if round == 1 {
			for _, d := range []*device{bob, laptop, phone} {
				c, err := d.Encrypt(ctx, send.SignalAddress(alice.jid), []byte("answer"))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := alice.Decrypt(ctx, send.SignalAddress(d.jid), c.Type, c.Body); err != nil {
					t.Fatal(err)
				}
			}
		}
	}

	s, err := send.Peer(ctx, alice, &send.PeerMessage{Self: send.Self{PN: alice.jid}, To: phone.jid, ID: "3EB0", Message: hello})
	if err != nil {
		t.Fatal(err)
	}
	enc := carry(t, s.Node).Child("enc")
	if m, err := phone.Decrypt(ctx, send.SignalAddress(alice.jid), signal.TypeSignal, enc.Content.Bytes()); err != nil {
		t.Error(err)
	} else if got, err := send.Unpad(m.Plaintext, 2); err != nil || !bytes.Equal(got, hello) {
		t.Errorf("peer message reads %q, %v", got, err)
	}
}

func TestGroupConversation(t *testing.T) {
	ctx := t.Context()
	backend := store.NewMemory()
	alice := newDevice(t, backend, "100000000000001:2@lid")
	var members []*device
	var devices []binary.JID
	for i := range 6 {
		members = append(members, newDevice(t, backend, fmt.Sprintf("10000000000010%d:%d@lid", i/2, i%2)))
		devices = append(devices, members[i].jid)
	}
	alice.meet(t, members[:5]...)
	group, err := binary.ParseJID("120363000000000001@g.us")
	if err != nil {
		t.Fatal(err)
	}
	name := signal.SenderKeyName{Group: group.String(), Sender: send.SignalAddress(alice.jid)}
	m := &send.GroupMessage{
		Self: send.Self{LID: alice.jid, DeviceIdentity: []byte("identity")}, To: group, ID: "3EB0", Type: "text", ByLID: true,
		Message: []byte("\x0a\x05Hello"), Distribute: devices, PhashDevices: devices,
	}
	for round := range 4 {
		m.Rotate = round == 2
		s, err := send.Group(ctx, alice, m)
		if err != nil {
			t.Fatal(err)
		}
		n := carry(t, s.Node)
		if len(m.Distribute) > 0 && (len(s.Failures) != 1 || s.Failures[0].Device != devices[5] || len(s.Distributed) != 5) {
			t.Errorf("round %d: failures %v, distributed to %d", round, s.Failures, len(s.Distributed))
		}
		for _, d := range members[:5] {
			skdm, ok, err := d.receive(ctx, n, alice)
			if err != nil || ok != (len(m.Distribute) > 0) {
				t.Fatalf("round %d: %v: %v, %v", round, d.jid, ok, err)
			}
			if ok {
				if _, skdm, ok = bytes.Cut(skdm, []byte("\x0a\x17"+group.String()+"\x12")); !ok {
					t.Fatal("no distribution message for the group")
				}
				inner, l := protowire.ConsumeBytes(skdm)
				if l != len(skdm) {
					t.Fatalf("distribution message of %d bytes in %d", l, len(skdm))
				}
				if _, err := d.ProcessSenderKey(ctx, name, inner); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.DecryptGroup(ctx, name, n.Child("enc").Content.Bytes())
			if err == nil {
				got, err = send.Unpad(got, 2)
			}
			if err != nil || !bytes.Equal(got, m.Message) {
				t.Errorf("round %d: %v reads %q, %v", round, d.jid, got, err)
			}
		}
		if _, err := members[5].DecryptGroup(ctx, name, n.Child("enc").Content.Bytes()); !errors.Is(err, signal.ErrNoSenderKey) {
			t.Errorf("round %d: a device without the key: %v", round, err)
		}
		m.Distribute = nil
		if round == 1 {
			m.Distribute = devices
		}
	}
}
