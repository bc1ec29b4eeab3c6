package main

import (
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
)

func init() {
	register("gen_opks", func(p *peer, r *struct {
		member
		Count *int
	},
	) (answer, error) {
		a, err := r.of(p)
		if err != nil {
			return nil, err
		}
		if r.Count == nil || *r.Count < 0 {
			return nil, missing("count")
		}
		b, err := a.Bundle(ctx, 0)
		if err != nil {
			return nil, err
		}
		keys, err := a.GeneratePreKeys(ctx, *r.Count)
		if err != nil {
			return nil, err
		}
		ids := make([]uint32, len(keys))
		for i := range keys {
			ids[i] = keys[i].ID
		}
		node, err := binary.Marshal(send.PreKeyUpload("1", b, keys))
		return answer{"ids": ids, "node": hexBytes(node)}, err
	})
	register("adv_verify", func(_ *peer, r *struct {
		Details          *hexBytes
		Account          *hexBytes `json:"account_pub"`
		Device           *hexBytes `json:"device_identity_pub"`
		AccountSignature hexBytes  `json:"account_signature"`
		DeviceSignature  hexBytes  `json:"device_signature"`
	},
	) (answer, error) {
		if r.Details == nil || r.Account == nil || r.Device == nil {
			return nil, missing("details, account_pub or device_identity_pub")
		}
		var keys [2]signal.PublicKey
		for i, b := range [2]hexBytes{*r.Account, *r.Device} {
			if len(b) == signal.PublicKeySize {
				k, err := signal.ParsePublicKey(b)
				if err != nil {
					return nil, err
				}
				keys[i] = k
				continue
			}
			k, err := b.array32()
			if err != nil {
				return nil, err
			}
			keys[i] = *k
		}
		d := send.DeviceIdentity{
			Details: *r.Details, AccountKey: &keys[0], AccountSignature: r.AccountSignature, DeviceSignature: r.DeviceSignature,
		}
		if _, err := d.Verify(keys[1], nil); err != nil {
			return answer{"valid": false, "class": class(fmt.Errorf("%w: %w", signal.ErrBadSignature, err))}, nil
		}
		return answer{"valid": true}, nil
	})
}
