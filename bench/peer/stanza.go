package main

import (
	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
)

func init() {
	features = append(features, "phash", "pad")
	register("phash", func(_ *peer, r *struct{ Participants *[]jidOrText }) (answer, error) {
		if r.Participants == nil {
			return nil, missing("participants")
		}
		devices := make([]binary.JID, len(*r.Participants))
		for i, j := range *r.Participants {
			devices[i] = j.JID
		}
		return answer{"phash": send.ParticipantHash(devices)}, nil
	})
	register("pad", func(_ *peer, r *struct{ Plaintext *hexBytes }) (answer, error) {
		if r.Plaintext == nil {
			return nil, missing("plaintext")
		}
		padded, err := send.AppendPadding(*r.Plaintext)
		return answer{"padded": hexBytes(padded)}, err
	})
	register("unpad", func(_ *peer, r *struct {
		Padded *hexBytes
		V      int
	},
	) (answer, error) {
		if r.Padded == nil {
			return nil, missing("padded")
		}
		plaintext, err := send.Unpad(*r.Padded, r.V)
		return answer{"plaintext": hexBytes(plaintext)}, err
	})
}
