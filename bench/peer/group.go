package main

import (
	"errors"

	"github.com/sigcore/sigcore/signal"
)

// groupTalk is the part of a request that names a party and a sender key.
type groupTalk struct {
	member
	Group  *string
	Sender *address
}

func (g *groupTalk) of(p *peer) (*party, signal.SenderKeyName, error) {
	a, err := g.member.of(p)
	if err != nil {
		return nil, signal.SenderKeyName{}, err
	}
	if g.Group == nil {
		return nil, signal.SenderKeyName{}, missing("group")
	}
	sender, err := g.Sender.signal()
	return a, signal.SenderKeyName{Group: *g.Group, Sender: sender}, err
}

func init() {
	features = append(features, "group")
	register("gk_create", func(p *peer, r *struct {
		groupTalk
		Rotate bool
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		create := a.CreateSenderKey
		if r.Rotate {
			create = a.RotateSenderKey
		}
		skdm, err := create(ctx, name)
		return answer{"skdm": hexBytes(skdm)}, err
	})
	register("gk_process", func(p *peer, r *struct {
		groupTalk
		SKDM *hexBytes
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.SKDM == nil {
			return nil, missing("skdm")
		}
		d, err := a.ProcessSenderKey(ctx, name, *r.SKDM)
		if err != nil {
			return nil, err
		}
		// Neither is a failure: the answer says what happened.
		return answer{
			"already_known": errors.Is(d.Err(), signal.ErrAlreadyKnown),
			"conflict":      errors.Is(d.Err(), signal.ErrConflict),
		}, nil
	})
	register("gk_encrypt", func(p *peer, r *struct {
		groupTalk
		Plaintext *hexBytes
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.Plaintext == nil {
			return nil, missing("plaintext")
		}
		body, err := a.EncryptGroup(ctx, name, *r.Plaintext)
		return answer{"body": hexBytes(body)}, err
	})
	register("gk_decrypt", func(p *peer, r *struct {
		groupTalk
		Body *hexBytes
	},
	) (answer, error) {
		a, name, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.Body == nil {
			return nil, missing("body")
		}
		plaintext, err := a.DecryptGroup(ctx, name, *r.Body)
		return answer{"plaintext": hexBytes(plaintext)}, err
	})
}
