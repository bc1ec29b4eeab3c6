package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// GroupSend is one message to a group, with the devices that need our sender
// key before they can read it.
type GroupSend struct {
	Name      SenderKeyName
	Plaintext []byte

	// Rotate replaces our sender key by a fresh one first. Distribute must then
	// name all devices.
	Rotate bool

	// Known, if not nil, is the id of the sender key that the devices outside
	// Distribute are known to have: with another one, or none, or one that has
	// reached RotationThreshold, the error is ErrNoSenderKey and nothing is
	// changed. Without it a key is made if there is none.
	Known *uint32

	// Distribute names the devices that the sender key is sent to, over their
	// sessions.
	Distribute []Address

	// Track, if not nil, has the name under which each device of Distribute is
	// remembered as one that was sent the key, in the same write as the key; see
	// SenderKeyDevices. That it holds it is for MarkSenderKeyDevices to say, once
	// the message was delivered. The zero Address stands for a device that need
	// not be remembered.
	Track []Address

	// Start says how sessions come about with devices of Distribute that have
	// none.
	Start *Start

	// Wrap returns the plaintext that carries a distribution message to a
	// device. It is called once if Distribute is not empty.
	Wrap func(skdm []byte) ([]byte, error)
}

// GroupResult is an encrypted group message.
type GroupResult struct {
	Body []byte // the SenderKeyMessage

	// Distribution is the distribution message at the state before Body, from
	// which whoever gets it can read Body. It is nil if Distribute was empty.
	Distribution []byte

	// Recipients holds the distribution message for each device of Distribute,
	// in order, or the reason why the device did not get it.
	Recipients []EncryptResult

	// Started is what came of each bundle of Start, in order.
	Started []BundleResult

	// KeyID and Iteration are those of the message.
	KeyID, Iteration uint32
}

// SendGroup encrypts a group message with our own sender key, after making
// the key if there is none, and encrypts the key to the devices that need it:
// one read, one write, and the locks of all the sessions and of the key from
// the one to the other, so that no other message of the group comes between.
//
// It draws the keys of each session that is started, as ProcessBundle does, then
// the sender key if one is made, as CreateSenderKey does, then what Wrap draws,
// then 64 bytes. An error of the whole means that nothing was
// encrypted.
func (a *Account) SendGroup(ctx context.Context, g *GroupSend) (*GroupResult, error) {
	var few [2][2]store.Key // for a message that nobody needs the key for
	locked, rows := few[0][:0], few[1][:0]
	if n := len(g.Distribute); n > 0 {
		locked, rows = make([]store.Key, 0, n+1), make([]store.Key, 0, 2*n+2)
	}
	for _, addr := range g.Distribute {
		locked = append(locked, store.Session(addr.String()))
		rows = peerKeys(rows, addr)
	}
	keyRow := g.Name.key()
	locked, rows = append(locked, keyRow), append(rows, keyRow)
	if g.Track != nil {
		rows = append(rows, g.Name.devicesKey()) // guarded by the lock of the key
	}
	var out *GroupResult
	err := a.run(ctx, "group", locked, rows, func(t *txn) (err error) {
		out, err = a.sendGroup(t, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (a *Account) sendGroup(t *txn, g *GroupSend) (*GroupResult, error) {
	peers := newPeers(g.Distribute, t.asked, nil)
	r := t.asked[2*len(peers)]
	if r.err != nil {
		return nil, r.err
	}
	k := r.senderKey
	switch {
	case k == nil:
		k = new(SenderKey)
	case g.Rotate:
		k = k.Clone() // what fails after the rotation must not leave it behind
	}
	if g.Known != nil {
		if id, ok := k.KeyID(); !ok || id != *g.Known || k.NeedsRotation() {
			return nil, ErrNoSenderKey
		}
	}
	var out GroupResult
	out.Started = a.startMissing(peers, g.Start, t)
	var err error
	if g.Rotate {
		err = k.Rotate()
	} else {
		err = k.Create()
	}
	if err != nil {
		return nil, err
	}
	out.KeyID, _ = k.KeyID()
	out.Iteration = k.Iteration()
	if len(peers) > 0 {
		if out.Distribution, err = k.AppendDistribution(nil); err != nil {
			return nil, err
		}
		plaintext, err := g.Wrap(out.Distribution)
		if err != nil {
			return nil, fmt.Errorf("signal: wrap distribution message: %w", err)
		}
		items := make([]Outgoing, len(peers))
		for i, addr := range g.Distribute {
			items[i] = Outgoing{addr, plaintext}
		}
		out.Recipients = a.encryptTo(peers, items, g.Start.workers(), t, nil)
	}
	if g.Track != nil {
		if err := g.track(&out, t.asked[len(t.asked)-1].record(), t); err != nil {
			return nil, err
		}
	}
	// The last thing that can fail: then the key is as it was.
	if out.Body, err = k.Encrypt(nil, g.Plaintext); err != nil {
		return nil, err
	}
	r.setSenderKey(k)
	r.sent = true
	return &out, nil
}

// track stores which devices are sent the key, given the device row.
func (g *GroupSend) track(out *GroupResult, row store.Record, t *txn) error {
	d := SenderKeyDevices{KeyID: out.KeyID}
	if row.Found && !g.Rotate {
		old, err := parseDeviceRow(row.Value)
		if err != nil {
			return err
		}
		if old.KeyID == out.KeyID {
			d = old
		}
	}
	sent := make([]Address, 0, len(g.Track))
	for i, addr := range g.Track {
		if addr != (Address{}) && out.Recipients[i].Err == nil {
			sent = append(sent, addr)
		}
	}
	before := len(d.Sent)
	if d.send(sent); len(d.Sent) != before {
		t.Put(g.Name.devicesKey(), d.append(nil))
		t.sync = true // before the key leaves
	}
	return nil
}
