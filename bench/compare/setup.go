package main

import (
	"bytes"

	"github.com/sigcore/sigcore/signal"
)

// A responder is a device with its prekeys, and a device that talks to it.
type responder struct {
	caller signal.Local
	local  signal.Local
	spk    *signal.SignedPreKey
	opk    *signal.PreKey
	bundle *signal.Bundle
}

func newResponder() (*responder, error) {
	ours, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		return nil, err
	}
	theirs, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		return nil, err
	}
	spk, err := signal.GenerateSignedPreKey(3, theirs, 0)
	if err != nil {
		return nil, err
	}
	opk, err := signal.GeneratePreKey(7)
	if err != nil {
		return nil, err
	}
	local := signal.Local{Identity: theirs, RegistrationID: 4711}
	return &responder{
		caller: signal.Local{Identity: ours, RegistrationID: 4712},
		local:  local, spk: spk, opk: opk,
		bundle: &signal.Bundle{
			RegistrationID: local.RegistrationID, Identity: theirs.PublicKey(),
			SignedPreKeyID: spk.ID, SignedPreKey: spk.Public, Signature: spk.Signature,
			HasPreKey: true, PreKeyID: opk.ID, PreKey: opk.Public,
		},
	}, nil
}

// initiate returns a fresh session of the caller.
func (r *responder) initiate() (*signal.Session, error) {
	s := new(signal.Session)
	return s, s.Initiate(r.caller, r.bundle)
}

// respond reads the first message of a session.
func (r *responder) respond(first []byte) (*signal.Session, error) {
	m, err := signal.ParsePreKeySignalMessage(first)
	if err != nil {
		return nil, err
	}
	s := new(signal.Session)
	got, _, err := s.DecryptPreKey(nil, &m, &signal.Responder{Local: r.local, SignedPreKey: r.spk, PreKey: r.opk})
	if err == nil && !bytes.Equal(got, plaintext) {
		err = errPlaintext
	}
	return s, err
}

// first returns a fresh session of the caller with its first message.
func (r *responder) first() (*signal.Session, []byte, error) {
	s, err := r.initiate()
	if err != nil {
		return nil, nil, err
	}
	_, body, err := s.Encrypt(nil, plaintext)
	return s, body, err
}

// copies is a subject that makes n copies in prepare and uses each up in run.
func copies[T any](one func() (T, error), use func(T) error) subject {
	var all []T
	return subject{
		prepare: func(n int) error {
			all = all[:0]
			for range n {
				c, err := one()
				if err != nil {
					return err
				}
				all = append(all, c)
			}
			return nil
		},
		run: func(n int) error {
			for _, c := range all[:n] {
				if err := use(c); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func init() {
	contend("session_initiate", "sigcore", func() (subject, error) {
		r, err := newResponder()
		return subject{run: func(n int) error {
			for range n {
				if _, err := r.initiate(); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
	contend("session_respond", "sigcore", func() (subject, error) {
		r, err := newResponder()
		return copies(
			func() ([]byte, error) {
				_, body, err := r.first()
				return body, err
			},
			func(body []byte) error {
				_, err := r.respond(body)
				return err
			},
		), err
	})
	// Alice has answered with a new ratchet key, which bob sees first.
	contend("dm_decrypt_ratchet", "sigcore", func() (subject, error) {
		alice, bob, err := sessions()
		if err != nil {
			return subject{}, err
		}
		back, err := message(nil, bob)
		if err != nil {
			return subject{}, err
		}
		if _, _, err := alice.Decrypt(nil, back, nil); err != nil {
			return subject{}, err
		}
		body, err := message(nil, alice)
		var buf []byte
		return copies(
			func() (*signal.Session, error) { return bob.Clone(), nil },
			func(s *signal.Session) error {
				got, r, err := s.Decrypt(buf[:0], body, nil)
				if err == nil && (!r.Ratcheted || !bytes.Equal(got, plaintext)) {
					err = errPlaintext
				}
				buf = got
				return err
			},
		), err
	})
	contend("skdm_process", "sigcore", func() (subject, error) {
		sender, _, err := senderKeys()
		if err != nil {
			return subject{}, err
		}
		skdm, err := sender.AppendDistribution(nil)
		return subject{run: func(n int) error {
			for range n {
				if _, err := new(signal.SenderKey).Process(skdm); err != nil {
					return err
				}
			}
			return nil
		}}, err
	})
}
