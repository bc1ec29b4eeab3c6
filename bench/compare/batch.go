package main

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	voi "github.com/oasisprotocol/curve25519-voi/primitives/ed25519"
	"go.mau.fi/libsignal/ecc"

	"github.com/sigcore/sigcore/curve"
)

// Batches, beside libraries that do one operation after the other, or, of many
// signatures, say only whether all are valid.

// numbered returns n distinct scalars.
func numbered(n int) [][32]byte {
	all := make([][32]byte, n)
	for i := range all {
		var seed [8]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(i))
		all[i] = sha256.Sum256(seed[:])
	}
	return all
}

// grouped is a subject whose runs do size operations at a time.
func grouped(size int, f func() error) (subject, error) {
	return subject{size: size, run: func(n int) error {
		for range n {
			if err := f(); err != nil {
				return err
			}
		}
		return nil
	}}, f()
}

// prekeys is the number of keys of keygen812.
const prekeys = 812

func init() {
	for _, n := range []int{4, 8, 64} {
		op := fmt.Sprintf("x25519_batch%d", n)
		contend(op, "sigcore", func() (subject, error) {
			private, public, shared := numbered(n), make([][32]byte, n), make([][32]byte, n)
			curve.PublicKeys(public, private)
			return grouped(n, func() error { curve.X25519Batch(shared, private, public); return nil })
		})
		contend(op, "crypto", func() (subject, error) {
			ours, err := ecdh.X25519().NewPrivateKey(ourScalar[:])
			if err != nil {
				return subject{}, err
			}
			theirs, err := ecdh.X25519().NewPublicKey(theirPoint[:])
			if err != nil {
				return subject{}, err
			}
			return grouped(n, func() error {
				for range n {
					must(ours.ECDH(theirs))
				}
				return nil
			})
		})
	}

	contend("keygen812", "sigcore", func() (subject, error) {
		private, public := numbered(prekeys), make([][32]byte, prekeys)
		return steady(func() { curve.PublicKeys(public, private) })
	})
	contend("keygen812", "crypto", func() (subject, error) {
		private := numbered(prekeys)
		return steady(func() {
			for i := range private {
				must(ecdh.X25519().NewPrivateKey(private[i][:]))
			}
		})
	})
	contend("keygen812", "mau", func() (subject, error) {
		private := numbered(prekeys)
		return steady(func() {
			for i := range private {
				ecc.CreateKeyPair(private[i][:])
			}
		})
	})

	const many = 64
	contend("verify_batch64", "sigcore", func() (subject, error) {
		items, valid := make([]curve.SignedMessage, many), make([]bool, many)
		for i, k := range numbered(many) {
			key, err := curve.NewPrivateKey(k[:])
			if err != nil {
				return subject{}, err
			}
			sig, err := key.Sign(signed[:])
			if err != nil {
				return subject{}, err
			}
			u := key.PublicKey()
			items[i] = curve.SignedMessage{Key: &u, Message: signed[:], Signature: sig[:]}
		}
		return grouped(many, func() error {
			curve.VerifyBatch(valid, items)
			for _, ok := range valid {
				if !ok {
					return errOwnSignature
				}
			}
			return nil
		})
	})
	contend("verify_batch64", "crypto", func() (subject, error) {
		keys, sigs := ed25519Signatures(many)
		return grouped(many, func() error {
			for i := range keys {
				if !ed25519.Verify(keys[i], signed[:], sigs[i]) {
					return errOwnSignature
				}
			}
			return nil
		})
	})
	contend("verify_batch64", "voi", func() (subject, error) {
		keys, sigs := ed25519Signatures(many)
		return grouped(many, func() error {
			b := voi.NewBatchVerifierWithCapacity(many)
			for i := range keys {
				b.Add(voi.PublicKey(keys[i]), signed[:], sigs[i])
			}
			if ok, _ := b.Verify(nil); !ok {
				return errOwnSignature
			}
			return nil
		})
	})
	contend("verify_batch64", "mau", func() (subject, error) {
		sig, err := ourSignature()
		if err != nil {
			return subject{}, err
		}
		pub := ecc.NewDjbECPublicKey(ourPoint)
		return grouped(many, func() error {
			for range many {
				if !ecc.VerifySignature(pub, signed[:], sig) {
					return errOwnSignature
				}
			}
			return nil
		})
	})

	contend("sign_batch64", "sigcore", func() (subject, error) {
		k, err := curve.NewPrivateKey(ourScalar[:])
		if err != nil {
			return subject{}, err
		}
		sigs, msgs := make([][64]byte, many), make([][]byte, many)
		for i := range msgs {
			msgs[i] = signed[:]
		}
		return grouped(many, func() error { return k.SignBatch(sigs, msgs) })
	})
	contend("sign_batch64", "mau", func() (subject, error) {
		k := ecc.NewDjbECPrivateKey(ourScalar)
		return grouped(many, func() error {
			for range many {
				ecc.CalculateSignature(k, signed[:])
			}
			return nil
		})
	})
}

func ed25519Signatures(n int) (keys []ed25519.PublicKey, sigs [][]byte) {
	for _, seed := range numbered(n) {
		k := ed25519.NewKeyFromSeed(seed[:])
		keys = append(keys, k.Public().(ed25519.PublicKey))
		sigs = append(sigs, ed25519.Sign(k, signed[:]))
	}
	return keys, sigs
}
