package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// This file has messages to groups as a client sends them: the stanza and its
// frame, over a leased account in memory. Accounts, sessions, the sender key and the
// hash of the participants are made before.

var (
	errShape     = errors.New("the stanza is not of the shape that is measured")
	groupSelf    = binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 9}
	groupJID     = binary.JID{User: "120363000000000001", Server: binary.ServerGroup}
	groupMessage = append([]byte{0x0a, 0x25}, "Hello, this is a benchmark message..."...)
)

// A fleet is an account with sessions with devices.
type fleet struct {
	account *signal.Account
	local   signal.Local
}

func newFleet(ctx context.Context) (*fleet, error) { return newFleetOver(ctx, store.NewMemory()) }

func newFleetOver(ctx context.Context, b store.Backend) (*fleet, error) {
	identity, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		return nil, err
	}
	f := &fleet{local: signal.Local{Identity: identity, RegistrationID: 4712}}
	f.account, err = signal.CreateAccount(ctx, b, "a", signal.AccountOptions{
		Identity: identity, RegistrationID: f.local.RegistrationID, OpenOptions: signal.OpenOptions{Durability: signal.Leased},
	})
	return f, err
}

// meet gives the account a session with a device, which has answered if it is
// acknowledged.
func (f *fleet) meet(ctx context.Context, j binary.JID, acknowledged bool) error {
	r, err := newResponder()
	if err != nil {
		return err
	}
	r.caller = f.local
	s, first, err := r.first()
	if err != nil {
		return err
	}
	if acknowledged {
		peer, err := r.respond(first)
		if err != nil {
			return err
		}
		answer, err := message(nil, peer)
		if err != nil {
			return err
		}
		if _, _, err := s.Decrypt(nil, answer, nil); err != nil {
			return err
		}
	}
	rec, err := s.AppendBinary(nil)
	if err != nil {
		return err
	}
	return f.account.ImportSession(ctx, send.SignalAddress(j), signal.FormatSigcore, rec)
}

// A groupShape is what a message to a group looks like.
type groupShape struct {
	members    int
	companions int  // own devices, which get the key
	distribute bool // the members get the key too
	first      bool // their sessions are not acknowledged
}

func (g groupShape) setup() (subject, error) {
	ctx := context.Background()
	f, err := newFleet(ctx)
	if err != nil {
		return subject{}, err
	}
	// The addressing mode is that of numbers although the users are LIDs, as in
	// the reference's fixture.
	m := &send.GroupMessage{
		Self: send.Self{PN: groupSelf, DeviceIdentity: bytes.Repeat([]byte{0xad}, 192)},
		To:   groupJID, ID: "3EB0A1B2C3D4E5F60718", Type: "text", Message: groupMessage,
	}
	devices := []binary.JID{groupSelf}
	for i := range g.members {
		devices = append(devices, binary.JID{User: fmt.Sprint(100000000000100 + int64(i)), Server: binary.ServerLID})
	}
	if g.distribute {
		m.Distribute = devices[1:]
		m.PhashDevices = devices
	} else {
		m.Phash = send.NewRoster(devices).Phash(groupSelf)
	}
	for i := range g.companions {
		j := groupSelf
		j.Device = uint16(i)
		m.Distribute = append(m.Distribute, j)
	}
	for _, j := range m.Distribute {
		if err := f.meet(ctx, j, !g.first); err != nil {
			return subject{}, err
		}
	}
	name := signal.SenderKeyName{Group: groupJID.String(), Sender: send.SignalAddress(groupSelf)}
	if _, err := f.account.CreateSenderKey(ctx, name); err != nil {
		return subject{}, err
	}
	var frame []byte
	one := func() error {
		s, err := send.Group(ctx, f.account, m)
		if err != nil {
			return err
		}
		if len(s.Distributed) != len(m.Distribute) || (s.Node.Child("device-identity") != nil) != g.first {
			return errShape
		}
		frame, err = binary.AppendMarshal(frame[:0], s.Node)
		return err
	}
	return subject{run: func(n int) error {
		for range n {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}}, one()
}

// received is the message to a group, from the frame to its text.
func received() (subject, error) {
	ctx := context.Background()
	sender, receiver, err := senderKeys()
	if err != nil {
		return subject{}, err
	}
	rec, err := receiver.AppendBinary(nil)
	if err != nil {
		return subject{}, err
	}
	f, err := newFleet(ctx)
	if err != nil {
		return subject{}, err
	}
	name := signal.SenderKeyName{Group: groupJID.String(), Sender: send.SignalAddress(groupSelf)}
	if err := f.account.ImportSenderKey(ctx, name, signal.FormatSigcore, rec); err != nil {
		return subject{}, err
	}
	padded, err := send.AppendPadding(bytes.Clone(groupMessage))
	if err != nil {
		return subject{}, err
	}
	return reading(
		func() ([]byte, error) { return sender.Encrypt(nil, padded) },
		func(body []byte) error {
			got, err := f.account.DecryptGroup(ctx, name, body)
			if err != nil {
				return err
			}
			if got, err = send.Unpad(got, 2); err == nil && !bytes.Equal(got, groupMessage) {
				err = errPlaintext
			}
			return err
		},
	), nil
}

func init() {
	for _, n := range []int{8, 10, 32, 50, 128, 256, 512} {
		contend(fmt.Sprint("group_send_", n), "sigcore", groupShape{members: n}.setup)
	}
	for _, n := range []int{8, 512} {
		contend(fmt.Sprint("group_send_companions2_", n), "sigcore", groupShape{members: n, companions: 2}.setup)
	}
	for _, n := range []int{10, 50, 256} {
		contend(fmt.Sprint("group_send_skdm_", n), "sigcore", groupShape{members: n, distribute: true}.setup)
		contend(fmt.Sprint("group_send_first_", n), "sigcore", groupShape{members: n, distribute: true, first: true}.setup)
	}
	contend("group_recv", "sigcore", received)
}
