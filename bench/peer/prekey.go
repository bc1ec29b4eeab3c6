package main

import (
	"fmt"

	"github.com/sigcore/sigcore/signal"
)

func init() {
	register("set_spk", func(p *peer, r *struct {
		member
		KeyID     *uint32 `json:"key_id"`
		Priv, Sig hexBytes
		Timestamp uint64
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.KeyID == nil {
			return nil, missing("key_id")
		}
		key, err := signal.NewPrivateKey(r.Priv)
		if err != nil {
			return nil, err
		}
		var k *signal.SignedPreKey
		switch len(r.Sig) {
		case 0:
			if k, err = signal.NewSignedPreKey(*r.KeyID, key, a.Identity(), r.Timestamp); err != nil {
				return nil, err
			}
		case signal.SignatureSize:
			k = &signal.SignedPreKey{
				ID: *r.KeyID, Public: signal.NewPreKey(*r.KeyID, key).Public, Private: key,
				Signature: [signal.SignatureSize]byte(r.Sig), Timestamp: r.Timestamp,
			}
		default:
			return nil, fmt.Errorf("%w: signature of %d bytes", errBadRequest, len(r.Sig))
		}
		if err := a.SetSignedPreKey(ctx, k); err != nil {
			return nil, err
		}
		return answer{"key_id": k.ID, "pub": taggedKey(k.Public), "sig": hexBytes(k.Signature[:])}, nil
	})
	register("set_opk", func(p *peer, r *struct {
		member
		KeyID *uint32 `json:"key_id"`
		Priv  hexBytes
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.KeyID == nil {
			return nil, missing("key_id")
		}
		key, err := signal.NewPrivateKey(r.Priv)
		if err != nil {
			return nil, err
		}
		k := signal.NewPreKey(*r.KeyID, key)
		if err := a.SetPreKeys(ctx, k); err != nil {
			return nil, err
		}
		return answer{"key_id": k.ID, "pub": taggedKey(k.Public)}, nil
	})
	register("opks", func(p *peer, r *member) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		ids, err := a.PreKeyIDs(ctx)
		if err != nil {
			return nil, err
		}
		if ids == nil {
			ids = []uint32{}
		}
		return answer{"ids": ids}, nil
	})
}
