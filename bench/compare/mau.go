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

// mauPair is two parties with a session that both have used.
type mauPair struct{ alice, bob *session.Cipher }

func newMauPair(ctx context.Context) (*mauPair, error) {
	a, err := newMauStore()
	if err != nil {
		return nil, err
	}
	b, err := newMauStore()
	if err != nil {
		return nil, err
	}
	one, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	spk, err := ecc.GenerateKeyPair()
	if err != nil {
		return nil, err
	}
	sig := ecc.CalculateSignature(b.identity.PrivateKey(), spk.PublicKey().Serialize())
	b.preKeys[7] = record.NewPreKey(7, one, nil)
	b.signed[3] = record.NewSignedPreKey(3, 0, spk, sig, nil)

	toBob, toAlice := protocol.NewSignalAddress("15550000002", 0), protocol.NewSignalAddress("15550000001", 0)
	builder := session.NewBuilderFromSignal(a, toBob, mauForm)
	err = builder.ProcessBundle(ctx, prekey.NewBundle(b.GetLocalRegistrationID(), 0, optional.NewOptionalUint32(7), 3,
		one.PublicKey(), spk.PublicKey(), sig, identity.NewKey(b.identity.PublicKey().PublicKey())))
	if err != nil {
		return nil, err
	}
	p := &mauPair{
		alice: session.NewCipher(builder, toBob),
		bob:   session.NewCipher(session.NewBuilderFromSignal(b, toAlice, mauForm), toAlice),
	}
	first, err := p.alice.Encrypt(ctx, plaintext)
	if err != nil {
		return nil, err
	}
	m, err := protocol.NewPreKeySignalMessageFromBytes(first.Serialize(), mauForm.PreKeySignalMessage, mauForm.SignalMessage)
	if err != nil {
		return nil, err
	}
	if _, err := p.bob.DecryptMessage(ctx, m); err != nil {
		return nil, err
	}
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
