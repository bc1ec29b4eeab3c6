package main

import (
	"context"

	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/state/record"
)

func init() {
	ctx := context.Background()
	contend("session_initiate", "mau", func() (subject, error) {
		r, err := newMauResponder()
		n := uint32(0)
		return copies(
			func() (*session.Builder, error) {
				n++
				return session.NewBuilderFromSignal(r.caller, mauAddress(n), mauForm), nil
			},
			func(b *session.Builder) error { return b.ProcessBundle(ctx, r.bundle(7)) },
		), err
	})
	contend("session_respond", "mau", func() (subject, error) {
		r, err := newMauResponder()
		n := uint32(0)
		type call struct {
			n    uint32
			body []byte
		}
		return copies(
			func() (call, error) {
				n++
				_, body, err := r.first(ctx, n)
				return call{n, body}, err
			},
			func(c call) error {
				_, err := r.respond(ctx, c.n, c.body)
				return err
			},
		), err
	})
	contend("dm_decrypt_ratchet", "mau", func() (subject, error) {
		p, err := newMauPair(ctx)
		if err != nil {
			return subject{}, err
		}
		back, err := mauEncrypt(ctx, p.bob)
		if err != nil {
			return subject{}, err
		}
		if err := mauDecrypt(ctx, p.alice, back); err != nil {
			return subject{}, err
		}
		body, err := mauEncrypt(ctx, p.alice)
		if err != nil {
			return subject{}, err
		}
		// Live objects, made from the stored form: there is no other copy.
		stored := p.bobStore.sessions[mauAddress(7).String()].Serialize()
		n := uint32(7)
		return copies(
			func() (*session.Cipher, error) {
				n++
				live, err := record.NewSessionFromBytes(stored, mauForm.Session, mauForm.State)
				if err != nil {
					return nil, err
				}
				from := mauAddress(n)
				p.bobStore.sessions[from.String()] = live
				return session.NewCipher(session.NewBuilderFromSignal(p.bobStore, from, mauForm), from), nil
			},
			func(c *session.Cipher) error { return mauDecrypt(ctx, c, body) },
		), nil
	})
	contend("skdm_process", "mau", func() (subject, error) {
		sender, err := newMauStore()
		if err != nil {
			return subject{}, err
		}
		receiver, err := newMauStore()
		if err != nil {
			return subject{}, err
		}
		name := protocol.NewSenderKeyName("120363000000000001@g.us", mauAddress(0))
		skdm, err := groups.NewGroupSessionBuilder(sender, mauForm).Create(ctx, name)
		if err != nil {
			return subject{}, err
		}
		body := skdm.Serialize()
		in := groups.NewGroupSessionBuilder(receiver, mauForm)
		return subject{run: func(n int) error {
			for range n {
				delete(receiver.senderKeys, mauName(name)) // the first of this sender
				m, err := protocol.NewSenderKeyDistributionMessageFromBytes(body, mauForm.SenderKeyDistributionMessage)
				if err != nil {
					return err
				}
				if err := in.Process(ctx, name, m); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	})
}
