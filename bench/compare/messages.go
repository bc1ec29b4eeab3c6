package main

import (
	"bytes"
	"errors"

	"github.com/sigcore/sigcore/signal"
)

// plaintext is what every message of the comparison carries.
var plaintext = bytes.Repeat([]byte("sigcore "), 16)

var (
	errPlaintext     = errors.New("plaintext differs")
	errPreKeyMessage = errors.New("the session is not acknowledged")
)

// sessions is two live sessions that both sides have used.
func sessions() (alice, bob *signal.Session, err error) {
	r, err := newResponder()
	if err != nil {
		return nil, nil, err
	}
	alice, first, err := r.first()
	if err != nil {
		return nil, nil, err
	}
	if bob, err = r.respond(first); err != nil {
		return nil, nil, err
	}
	for _, way := range [][2]*signal.Session{{bob, alice}, {alice, bob}} {
		body, err := message(nil, way[0])
		if err != nil {
			return nil, nil, err
		}
		if _, _, err := way[1].Decrypt(nil, body, nil); err != nil {
			return nil, nil, err
		}
	}
	return alice, bob, nil
}

// message appends the next message of an acknowledged session.
func message(dst []byte, s *signal.Session) ([]byte, error) {
	typ, body, err := s.Encrypt(dst, plaintext)
	if err == nil && typ != signal.TypeSignal {
		err = errPreKeyMessage
	}
	return body, err
}

// senderKeys is a sender and a receiver that has its key.
func senderKeys() (sender, receiver *signal.SenderKey, err error) {
	sender, receiver = new(signal.SenderKey), new(signal.SenderKey)
	if err := sender.Create(); err != nil {
		return nil, nil, err
	}
	skdm, err := sender.AppendDistribution(nil)
	if err != nil {
		return nil, nil, err
	}
	_, err = receiver.Process(skdm)
	return sender, receiver, err
}

// writing is a subject that appends messages to a buffer that it keeps.
func writing(appendTo func(dst []byte) ([]byte, error)) subject {
	var buf []byte
	return subject{run: func(n int) error {
		for range n {
			b, err := appendTo(buf[:0])
			if err != nil {
				return err
			}
			buf = b
		}
		return nil
	}}
}

// reading is a subject that writes its messages in prepare and reads them in run.
func reading(write func() ([]byte, error), read func(body []byte) error) subject {
	var bodies [][]byte
	return subject{
		prepare: func(n int) error {
			bodies = bodies[:0]
			for range n {
				b, err := write()
				if err != nil {
					return err
				}
				bodies = append(bodies, b)
			}
			return nil
		},
		run: func(n int) error {
			for _, b := range bodies[:n] {
				if err := read(b); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func init() {
	contend("dm_encrypt", "sigcore", func() (subject, error) {
		alice, _, err := sessions()
		return writing(func(dst []byte) ([]byte, error) { return message(dst, alice) }), err
	})
	contend("dm_decrypt", "sigcore", func() (subject, error) {
		alice, bob, err := sessions()
		var buf []byte
		return reading(
			func() ([]byte, error) { return message(nil, alice) },
			func(body []byte) error {
				got, _, err := bob.Decrypt(buf[:0], body, nil)
				if err == nil && !bytes.Equal(got, plaintext) {
					err = errPlaintext
				}
				buf = got
				return err
			},
		), err
	})
	contend("group_encrypt", "sigcore", func() (subject, error) {
		sender, _, err := senderKeys()
		return writing(func(dst []byte) ([]byte, error) { return sender.Encrypt(dst, plaintext) }), err
	})
	contend("group_decrypt", "sigcore", func() (subject, error) {
		sender, receiver, err := senderKeys()
		var buf []byte
		return reading(
			func() ([]byte, error) { return sender.Encrypt(nil, plaintext) },
			func(body []byte) error {
				got, err := receiver.Decrypt(buf[:0], body)
				if err == nil && !bytes.Equal(got, plaintext) {
					err = errPlaintext
				}
				buf = got
				return err
			},
		), err
	})
}
