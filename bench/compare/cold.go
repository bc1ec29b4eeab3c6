package main

import (
	"context"
	"errors"
	"fmt"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/util/optional"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
)

// This file has the first message to a group of 1,000 devices, none of which
// there is a session with: bundles are checked, sessions set up, the sender key
// encrypted to each, the stanza built and marshalled. Nothing is stored. All
// libraries encrypt for the same stanza.

const coldDevices = 1000

var errColdSend = errors.New("the stanza does not have a first message for each device")

// coldJIDs are the devices, three of each user.
func coldJIDs() []binary.JID {
	out := make([]binary.JID, coldDevices)
	for i := range out {
		out[i] = binary.JID{User: fmt.Sprintf("1000000000%05d", i/3), Server: binary.ServerLID, Device: uint16(i % 3)}
	}
	return out
}

// coldSend is a subject that sends the message again and again, each time with
// an account that knows nobody.
func coldSend(devices []binary.JID, account func() (send.Account, error)) subject {
	ctx := context.Background()
	m := &send.GroupMessage{
		Self: send.Self{
			LID:            binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 7},
			DeviceIdentity: make([]byte, 180),
		},
		To: binary.JID{User: "120363000000000001", Server: binary.ServerGroup},
		ID: "3EB0A1B2C3D4E5F60718", Type: "text", ByLID: true,
		Message:    append([]byte{0x0a, 0x26}, "Hello, this is a benchmark message...."...),
		Distribute: devices,
	}
	var frame []byte
	return copies(account, func(a send.Account) error {
		s, err := send.Group(ctx, a, m)
		if err != nil {
			return err
		}
		if len(s.Distributed) != len(devices) || s.Node.Child("device-identity") == nil {
			return errColdSend
		}
		frame, err = binary.AppendMarshal(frame[:0], s.Node)
		return err
	})
}

// coldAccount is an account of values: sessions and a sender key without a
// store.
type coldAccount struct {
	send.Account // what a group does not need
	local        signal.Local
	bundles      map[signal.Address]*signal.Bundle
}

func (a *coldAccount) SendGroup(_ context.Context, g *signal.GroupSend) (*signal.GroupResult, error) {
	started := make([]signal.Initiation, len(g.Distribute))
	for i, addr := range g.Distribute {
		started[i] = signal.Initiation{Session: new(signal.Session), Bundle: a.bundles[addr]}
	}
	signal.InitiateMany(a.local, started)
	var k signal.SenderKey
	if err := k.Create(); err != nil {
		return nil, err
	}
	skdm, err := k.AppendDistribution(nil)
	if err != nil {
		return nil, err
	}
	plaintext, err := g.Wrap(skdm)
	if err != nil {
		return nil, err
	}
	messages := make([]signal.Encryption, len(started))
	for i := range started {
		if started[i].Err != nil {
			return nil, started[i].Err
		}
		messages[i] = signal.Encryption{Session: started[i].Session, Plaintext: plaintext}
	}
	signal.EncryptMany(nil, messages)
	out := &signal.GroupResult{Recipients: make([]signal.EncryptResult, len(messages))}
	for i := range messages {
		out.Recipients[i].Type, out.Recipients[i].Body, out.Recipients[i].Err = messages[i].Type, messages[i].Body, messages[i].Err
	}
	out.Body, err = k.Encrypt(nil, g.Plaintext)
	return out, err
}

// mauColdAccount is the same over go.mau.fi/libsignal.
type mauColdAccount struct {
	send.Account
	store   *mauStore
	bundles map[signal.Address]*prekey.Bundle
}

func (a *mauColdAccount) SendGroup(ctx context.Context, g *signal.GroupSend) (*signal.GroupResult, error) {
	name := protocol.NewSenderKeyName(g.Name.Group, protocol.NewSignalAddress(g.Name.Sender.Name, 0))
	builder := groups.NewGroupSessionBuilder(a.store, mauForm)
	skdm, err := builder.Create(ctx, name)
	if err != nil {
		return nil, err
	}
	plaintext, err := g.Wrap(skdm.Serialize())
	if err != nil {
		return nil, err
	}
	out := &signal.GroupResult{Recipients: make([]signal.EncryptResult, len(g.Distribute))}
	for i, addr := range g.Distribute {
		to := protocol.NewSignalAddress(addr.Name, addr.Device)
		b := session.NewBuilderFromSignal(a.store, to, mauForm)
		if err := b.ProcessBundle(ctx, a.bundles[addr]); err != nil {
			return nil, err
		}
		m, err := session.NewCipher(b, to).Encrypt(ctx, plaintext)
		if err != nil {
			return nil, err
		}
		if m.Type() == protocol.PREKEY_TYPE {
			out.Recipients[i].Type = signal.TypePreKey
		}
		out.Recipients[i].Body = m.Serialize()
	}
	m, err := groups.NewGroupCipher(builder, name, a.store).Encrypt(ctx, g.Plaintext)
	if err != nil {
		return nil, err
	}
	out.Body = m.SignedSerialize()
	return out, nil
}

func init() {
	const op = "cold_1000"
	contend(op, "sigcore", func() (subject, error) {
		a := coldAccount{bundles: make(map[signal.Address]*signal.Bundle, coldDevices)}
		devices := coldJIDs()
		for i, d := range devices {
			r, err := newResponder()
			if err != nil {
				return subject{}, err
			}
			if i == 0 {
				a.local = r.caller
			}
			a.bundles[send.SignalAddress(d)] = r.bundle
		}
		return coldSend(devices, func() (send.Account, error) { return &a, nil }), nil
	})
	contend(op, "mau", func() (subject, error) {
		bundles := make(map[signal.Address]*prekey.Bundle, coldDevices)
		devices := coldJIDs()
		for _, d := range devices {
			b, err := newMauBundle()
			if err != nil {
				return subject{}, err
			}
			bundles[send.SignalAddress(d)] = b
		}
		return coldSend(devices, func() (send.Account, error) {
			s, err := newMauStore()
			return &mauColdAccount{store: s, bundles: bundles}, err
		}), nil
	})
}

// newMauBundle returns the bundle of a fresh device.
func newMauBundle() (*prekey.Bundle, error) {
	var pairs [3]*ecc.ECKeyPair // identity, signed prekey, one-time prekey
	for i := range pairs {
		var err error
		if pairs[i], err = ecc.GenerateKeyPair(); err != nil {
			return nil, err
		}
	}
	signature := ecc.CalculateSignature(pairs[0].PrivateKey(), pairs[1].PublicKey().Serialize())
	return prekey.NewBundle(4711, 0, optional.NewOptionalUint32(7), 3,
		pairs[2].PublicKey(), pairs[1].PublicKey(), signature, identity.NewKey(pairs[0].PublicKey())), nil
}
