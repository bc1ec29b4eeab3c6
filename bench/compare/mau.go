package main

import (
	"bytes"
	"context"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"
)

// mauResponder is a device with its prekeys, and a device that talks to it.
type mauResponder struct {
	caller, device *mauStore
	one            *ecc.ECKeyPair
	signed         *ecc.ECKeyPair
	signature      [64]byte
}

func newMauResponder() (*mauResponder, error) {
	r := new(mauResponder)
	var err error
	if r.caller, err = newMauStore(); err != nil {
		return nil, err
	}
	if r.device, err = newMauStore(); err != nil {
		return nil, err
	}
	if r.one, err = ecc.GenerateKeyPair(); err != nil {
		return nil, err
	}
	if r.signed, err = ecc.GenerateKeyPair(); err != nil {
		return nil, err
	}
	r.signature = ecc.CalculateSignature(r.device.identity.PrivateKey(), r.signed.PublicKey().Serialize())
	r.device.signed[3] = record.NewSignedPreKey(3, 0, r.signed, r.signature, nil)
	return r, nil
}

// bundle names a one-time prekey, of whose key there is only one.
func (r *mauResponder) bundle(id uint32) *prekey.Bundle {
	return prekey.NewBundle(r.device.GetLocalRegistrationID(), 0, optional.NewOptionalUint32(id), 3,
		r.one.PublicKey(), r.signed.PublicKey(), r.signature, identity.NewKey(r.device.identity.PublicKey().PublicKey()))
}

func mauAddress(n uint32) *protocol.SignalAddress { return protocol.NewSignalAddress("15550000001", n) }

// first starts the session of the caller with number n, and returns its first
// message.
func (r *mauResponder) first(ctx context.Context, n uint32) (*session.Cipher, []byte, error) {
	to := mauAddress(n)
	builder := session.NewBuilderFromSignal(r.caller, to, mauForm)
	if err := builder.ProcessBundle(ctx, r.bundle(n)); err != nil {
		return nil, nil, err
	}
	c := session.NewCipher(builder, to)
	m, err := c.Encrypt(ctx, plaintext)
	if err != nil {
		return nil, nil, err
	}
	r.device.preKeys[n] = record.NewPreKey(n, r.one, nil)
	return c, m.Serialize(), nil
}

// respond reads the first message of session n.
func (r *mauResponder) respond(ctx context.Context, n uint32, first []byte) (*session.Cipher, error) {
	from := mauAddress(n)
	c := session.NewCipher(session.NewBuilderFromSignal(r.device, from, mauForm), from)
	m, err := protocol.NewPreKeySignalMessageFromBytes(first, mauForm.PreKeySignalMessage, mauForm.SignalMessage)
	if err != nil {
		return nil, err
	}
	got, err := c.DecryptMessage(ctx, m)
	if err == nil && !bytes.Equal(got, plaintext) {
		err = errPlaintext
	}
	return c, err
}

// mauPair is two parties with a session that both have used.
type mauPair struct {
	alice, bob *session.Cipher
	bobStore   *mauStore
}

func newMauPair(ctx context.Context) (*mauPair, error) {
	r, err := newMauResponder()
	if err != nil {
		return nil, err
	}
	alice, first, err := r.first(ctx, 7)
	if err != nil {
		return nil, err
	}
	bob, err := r.respond(ctx, 7, first)
	if err != nil {
		return nil, err
	}
	p := &mauPair{alice, bob, r.device}
	reply, err := mauEncrypt(ctx, p.bob)
	if err != nil {
		return nil, err
	}
	if err := mauDecrypt(ctx, p.alice, reply); err != nil {
		return nil, err
	}
	again, err := mauEncrypt(ctx, p.alice)
	if err != nil {
		return nil, err
	}
	return p, mauDecrypt(ctx, p.bob, again)
}

func mauEncrypt(ctx context.Context, c *session.Cipher) ([]byte, error) {
	m, err := c.Encrypt(ctx, plaintext)
	if err != nil {
		return nil, err
	}
	if m.Type() == protocol.PREKEY_TYPE {
		return nil, errPreKeyMessage
	}
	return m.Serialize(), nil
}

func mauDecrypt(ctx context.Context, c *session.Cipher, body []byte) error {
	m, err := protocol.NewSignalMessageFromBytes(body, mauForm.SignalMessage)
	if err != nil {
		return err
	}
	got, err := c.Decrypt(ctx, m)
	if err == nil && !bytes.Equal(got, plaintext) {
		err = errPlaintext
	}
	return err
}

// mauGroup is a sender and a receiver that has its key.
func mauGroup(ctx context.Context) (sender, receiver *groups.GroupCipher, err error) {
	s, err := newMauStore()
	if err != nil {
		return nil, nil, err
	}
	r, err := newMauStore()
	if err != nil {
		return nil, nil, err
	}
	name := protocol.NewSenderKeyName("120363000000000001@g.us", protocol.NewSignalAddress("15550000001", 0))
	out, in := groups.NewGroupSessionBuilder(s, mauForm), groups.NewGroupSessionBuilder(r, mauForm)
	skdm, err := out.Create(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := protocol.NewSenderKeyDistributionMessageFromBytes(skdm.Serialize(), mauForm.SenderKeyDistributionMessage)
	if err != nil {
		return nil, nil, err
	}
	if err := in.Process(ctx, name, parsed); err != nil {
		return nil, nil, err
	}
	return groups.NewGroupCipher(out, name, s), groups.NewGroupCipher(in, name, r), nil
}

func init() {
	ctx := context.Background()
	contend("dm_encrypt", "mau", func() (subject, error) {
		p, err := newMauPair(ctx)
		return subject{run: func(n int) error {
			for range n {
				if _, err := mauEncrypt(ctx, p.alice); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
	contend("dm_decrypt", "mau", func() (subject, error) {
		p, err := newMauPair(ctx)
		if err != nil {
			return subject{}, err
		}
		return reading(
			func() ([]byte, error) { return mauEncrypt(ctx, p.alice) },
			func(body []byte) error { return mauDecrypt(ctx, p.bob, body) },
		), nil
	})
	contend("group_encrypt", "mau", func() (subject, error) {
		sender, _, err := mauGroup(ctx)
		return subject{run: func(n int) error {
			for range n {
				m, err := sender.Encrypt(ctx, plaintext)
				if err != nil {
					return err
				}
				m.SignedSerialize()
			}
			return nil
		}}, err
	})
	contend("group_decrypt", "mau", func() (subject, error) {
		sender, receiver, err := mauGroup(ctx)
		if err != nil {
			return subject{}, err
		}
		return reading(
			func() ([]byte, error) {
				m, err := sender.Encrypt(ctx, plaintext)
				if err != nil {
					return nil, err
				}
				return m.SignedSerialize(), nil
			},
			func(body []byte) error {
				m, err := protocol.NewSenderKeyMessageFromBytes(body, mauForm.SenderKeyMessage)
				if err != nil {
					return err
				}
				got, err := receiver.Decrypt(ctx, m)
				if err == nil && !bytes.Equal(got, plaintext) {
					err = errPlaintext
				}
				return err
			},
		), nil
	})
}
