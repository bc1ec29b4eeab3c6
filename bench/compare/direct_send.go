package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// This file has direct messages as a client sends and receives them, over a
// leased account in memory. All sessions are acknowledged.

var (
	directSelf = binary.JID{User: "5511999000001", Server: binary.ServerUser}
	directPeer = binary.JID{User: "5511999000002", Server: binary.ServerUser}
	companion  = binary.JID{User: "5511999000001", Server: binary.ServerUser, Device: 42}
)

// sending is a subject that prepares and marshals a stanza again and again.
func sending(prepare func() (*send.Stanza, error)) (subject, error) {
	var frame []byte
	one := func() error {
		s, err := prepare()
		if err != nil {
			return err
		}
		if len(s.Failures) > 0 || s.Node.Child("device-identity") != nil {
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

func peerSend() (subject, error) {
	ctx := context.Background()
	f, err := newFleet(ctx)
	if err != nil {
		return subject{}, err
	}
	if err := f.meet(ctx, companion, true); err != nil {
		return subject{}, err
	}
	m := &send.PeerMessage{
		Self: send.Self{PN: directSelf, DeviceIdentity: bytes.Repeat([]byte{0xad}, 192)},
		To:   companion, ID: "3EB0A1B2C3D4E5F60718", Message: groupMessage,
	}
	return sending(func() (*send.Stanza, error) { return send.Peer(ctx, f.account, m) })
}

// receive decrypts a message of addr, as far as its text.
func (f *fleet) receive(ctx context.Context, addr signal.Address, body []byte) error {
	m, err := f.account.Decrypt(ctx, addr, signal.TypeSignal, body)
	if err != nil {
		return err
	}
	got, err := send.Unpad(m.Plaintext, 2)
	if err == nil && !bytes.Equal(got, groupMessage) {
		err = errPlaintext
	}
	return err
}

// inbox is an account in which bob's messages are to be read: the record of the
// session and bob's end of it.
func inbox(b store.Backend) (f *fleet, rec []byte, bob *signal.Session, err error) {
	if f, err = newFleetOver(context.Background(), b); err != nil {
		return nil, nil, nil, err
	}
	alice, bob, err := sessions()
	if err != nil {
		return nil, nil, nil, err
	}
	rec, err = alice.AppendBinary(nil)
	return f, rec, bob, err
}

func paddedMessage(s *signal.Session) ([]byte, error) {
	padded, err := send.AppendPadding(bytes.Clone(groupMessage))
	if err != nil {
		return nil, err
	}
	_, body, err := s.Encrypt(nil, padded)
	return body, err
}

func init() {
	contend("peer_send", "sigcore", peerSend)
	// The first message of a new chain: the session is there under as many names
	// as there are messages.
	contend("dm_recv", "sigcore", func() (subject, error) {
		ctx := context.Background()
		f, rec, bob, err := inbox(store.NewMemory())
		if err != nil {
			return subject{}, err
		}
		body, err := paddedMessage(bob)
		k := 0
		return copies(
			func() (signal.Address, error) {
				k++
				addr := signal.Address{Name: fmt.Sprintf("1555%07d@c.us", k)}
				return addr, f.account.ImportSession(ctx, addr, signal.FormatSigcore, rec)
			},
			func(addr signal.Address) error { return f.receive(ctx, addr, body) },
		), err
	})
}
