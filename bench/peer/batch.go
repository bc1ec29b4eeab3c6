package main

import (
	"encoding/json"
	"fmt"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/internal/random"
)

// batches are the kinds of the operation batch. Each answers all items at once,
// through the functions over slices; an item that is not in order has an answer of
// its own.
var batches = map[string]func(items []json.RawMessage) ([]answer, error){
	"pub":    batchPub,
	"dh":     batchDH,
	"sign":   batchSign,
	"verify": batchVerify,
}

func init() {
	features = append(features, "batch")
	register("batch", func(_ *peer, r *struct {
		Kind  string
		Items []json.RawMessage
	},
	) (answer, error) {
		f := batches[r.Kind]
		if f == nil {
			return nil, fmt.Errorf("%w: batch of kind %q", errBadRequest, r.Kind)
		}
		results, err := f(r.Items)
		if err != nil {
			return nil, err
		}
		return answer{"results": results}, nil
	})
}

// each decodes every item into an R and calls f; the items with an error have it in
// results.
func each[R any](items []json.RawMessage, f func(i int, r *R) error) (results []answer) {
	results = make([]answer, len(items))
	for i, item := range items {
		var r R
		err := json.Unmarshal(item, &r)
		if err != nil {
			err = fmt.Errorf("%w: %w", errBadRequest, err)
		} else {
			err = f(i, &r)
		}
		if err != nil {
			results[i] = outcome(nil, err)
		}
	}
	return results
}

func batchPub(items []json.RawMessage) ([]answer, error) {
	private, at := make([][32]byte, 0, len(items)), make([]int, 0, len(items))
	results := each(items, func(i int, r *struct{ Priv hexBytes }) error {
		k, err := r.Priv.array32()
		if err == nil {
			private, at = append(private, *k), append(at, i)
		}
		return err
	})
	public := make([][32]byte, len(private))
	curve.PublicKeys(public, private)
	for j, i := range at {
		results[i] = outcome(answer{"pub": tagged(&public[j])}, nil)
	}
	return results, nil
}

func batchDH(items []json.RawMessage) ([]answer, error) {
	private, public, at := make([][32]byte, 0, len(items)), make([][32]byte, 0, len(items)), make([]int, 0, len(items))
	var strict []int
	results := each(items, func(i int, r *struct {
		Priv, Pub hexBytes
		Strict    bool
	},
	) error {
		k, err := r.Priv.array32()
		if err != nil {
			return err
		}
		u, err := r.Pub.point()
		if err != nil {
			return err
		}
		if r.Strict { // no function over slices is strict
			strict = append(strict, i)
			return nil
		}
		private, public, at = append(private, *k), append(public, *u), append(at, i)
		return nil
	})
	for _, i := range strict {
		results[i] = outcome(operations["dh"](nil, items[i]))
	}
	shared := make([][32]byte, len(private))
	curve.X25519Batch(shared, private, public)
	for j, i := range at {
		results[i] = outcome(answer{"shared": hexBytes(shared[j][:])}, nil)
	}
	return results, nil
}

// batchSign signs the items of one key, if they stand together, together.
func batchSign(items []json.RawMessage) ([]answer, error) {
	private, msgs := make([][32]byte, 0, len(items)), make([][]byte, 0, len(items))
	z, at := make([][64]byte, 0, len(items)), make([]int, 0, len(items))
	results := each(items, func(i int, r *struct{ Priv, Msg, Random hexBytes }) error {
		k, err := r.Priv.array32()
		if err != nil {
			return err
		}
		var draw [64]byte
		if r.Random == nil {
			if err := random.Read(draw[:]); err != nil {
				return err
			}
		} else if copy(draw[:], r.Random) != len(draw) || len(r.Random) != len(draw) {
			return fmt.Errorf("%w: random of %d bytes", errBadRequest, len(r.Random))
		}
		private, msgs, z, at = append(private, *k), append(msgs, r.Msg), append(z, draw), append(at, i)
		return nil
	})
	for begin := 0; begin < len(at); {
		end := begin + 1
		for end < len(at) && private[end] == private[begin] {
			end++
		}
		k, err := curve.NewPrivateKey(private[begin][:])
		if err != nil {
			return nil, err
		}
		sigs := make([][64]byte, end-begin)
		k.SignBatchWithRandom(sigs, z[begin:end], msgs[begin:end])
		for j := range sigs {
			results[at[begin+j]] = outcome(answer{"sig": hexBytes(sigs[j][:])}, nil)
		}
		begin = end
	}
	return results, nil
}

func batchVerify(items []json.RawMessage) ([]answer, error) {
	signed, at := make([]curve.SignedMessage, 0, len(items)), make([]int, 0, len(items))
	results := each(items, func(i int, r *struct{ Pub, Msg, Sig hexBytes }) error {
		if n := len(r.Pub); n != 32 && n != 33 {
			signed, at = append(signed, curve.SignedMessage{Key: new([32]byte)}), append(at, i)
			return nil
		}
		u, err := r.Pub.point()
		if err != nil {
			return err
		}
		signed, at = append(signed, curve.SignedMessage{Key: u, Message: r.Msg, Signature: r.Sig}), append(at, i)
		return nil
	})
	// The prepared keys must say the same as the plain ones.
	prepared := make([]curve.SignedMessage, len(signed))
	for j, s := range signed {
		prepared[j] = curve.SignedMessage{Prepared: curve.NewVerificationKey(s.Key), Message: s.Message, Signature: s.Signature}
	}
	valid, again := make([]bool, len(signed)), make([]bool, len(signed))
	curve.VerifyBatch(valid, signed)
	curve.VerifyBatch(again, prepared)
	for j, i := range at {
		if valid[j] != again[j] {
			return nil, fmt.Errorf("%w: prepared and plain verification disagree", errPanic)
		}
		results[i] = outcome(answer{"valid": valid[j]}, nil)
	}
	return results, nil
}
