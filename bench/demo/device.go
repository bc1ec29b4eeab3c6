package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// device is one device of a person, with its account.
type device struct {
	jid     binary.JID
	account *signal.Account
}

// deviceIdentity has the shape of an ADVSignedDeviceIdentity. Pairing, which
// would sign it, is not part of the demo; nobody here looks inside.
var deviceIdentity = encodeFields(
	field{1, repeated(0xad, 32)}, field{2, repeated(0xac, 32)}, field{3, repeated(0x51, 64)}, field{4, repeated(0xd5, 64)})

func repeated(b byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}

func (d *device) self() send.Self {
	return send.Self{PN: d.jid, DeviceIdentity: deviceIdentity}
}

// register makes the account of a device with its prekeys, and publishes them
// at the server.
func register(ctx context.Context, b store.Backend, s *server, jid binary.JID, preKeys int) (*device, error) {
	a, err := signal.CreateAccount(ctx, b, jid.String(), signal.AccountOptions{})
	if err != nil {
		return nil, err
	}
	spk, err := a.GenerateSignedPreKey(ctx, 1, uint64(time.Now().Unix()))
	if err != nil {
		return nil, err
	}
	keys, err := a.GeneratePreKeys(ctx, preKeys)
	if err != nil {
		return nil, err
	}
	s.publish(jid, &signal.Bundle{
		RegistrationID: a.RegistrationID(), Identity: a.Identity().PublicKey(),
		SignedPreKeyID: spk.ID, SignedPreKey: spk.Public, Signature: spk.Signature,
	}, keys)
	return &device{jid, a}, nil
}

// reopen returns the device with its account opened from b.
func (d *device) reopen(ctx context.Context, b store.Backend) (*device, error) {
	a, err := signal.OpenAccount(ctx, b, d.jid.String(), signal.OpenOptions{})
	return &device{d.jid, a}, err
}

// connect sets up sessions with those of the devices that have none: the
// bundles come from the server, and all are processed together.
func (d *device) connect(ctx context.Context, s *server, to []binary.JID) (set int, err error) {
	addrs := make([]signal.Address, 0, len(to))
	devices := make([]binary.JID, 0, len(to))
	for _, j := range to {
		if j != d.jid {
			addrs, devices = append(addrs, send.SignalAddress(j)), append(devices, j)
		}
	}
	has, err := d.account.HasSessions(ctx, addrs)
	if err != nil {
		return 0, err
	}
	var items []signal.AddressedBundle
	for i, there := range has {
		if there {
			continue
		}
		bundle, err := s.bundle(devices[i])
		if err != nil {
			return 0, err
		}
		items = append(items, signal.AddressedBundle{Addr: addrs[i], Bundle: bundle})
	}
	results, err := d.account.ProcessBundles(ctx, items)
	if err != nil {
		return 0, err
	}
	for _, r := range results {
		if r.Err != nil {
			return 0, fmt.Errorf("session: %w", r.Err)
		}
	}
	return len(items), nil
}
