package ecc

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// TestDecodePoint: keys are 33 bytes and of type 5; bytes behind them do not count.
func TestDecodePoint(t *testing.T) {
	key := append([]byte{DjbType}, make([]byte, 32)...)
	key[1] = 9
	for n := range KeySize {
		if _, err := DecodePoint(key[:n], 0); err == nil {
			t.Errorf("key of %d bytes", n)
		}
	}
	for _, offset := range []int{-1, 1, 33, 34} {
		if _, err := DecodePoint(key, offset); err == nil {
			t.Errorf("offset %d", offset)
		}
	}
	p, err := DecodePoint(append(key, 1, 2, 3), 0)
	if err != nil || p.PublicKey() != [32]byte(key[1:]) || !slices.Equal(p.Serialize(), key) {
		t.Errorf("%v", err)
	}
	key[0] = 4
	if _, err := DecodePoint(key, 0); !errors.Is(err, ErrBadKeyType) {
		t.Errorf("type 4: %v", err)
	}
}

// order is the order of the base point, 2^252 + ….
var order, _ = new(big.Int).SetString("27742317777372353535851937790883648493", 10)

// TestSignatures: keys as they are and clamped ones, verdicts on what was changed,
// and on s + ℓ, which is another encoding of s.
func TestSignatures(t *testing.T) {
	message := []byte("message")
	for range 50 {
		pair, err := GenerateKeyPair()
		if err != nil {
			t.Fatal(err)
		}
		private := pair.PrivateKey().Serialize()
		private[0] |= 7 // not clamped any more, with the same public key
		for _, key := range []ECPrivateKeyable{pair.PrivateKey(), NewDjbECPrivateKey(private)} {
			sig := CalculateSignature(key, message)
			if !VerifySignature(pair.PublicKey(), message, sig) {
				t.Fatal("refused")
			}
			for _, i := range []int{0, 31, 32, 62, 63} {
				wrong := sig
				wrong[i] ^= 0x10
				if VerifySignature(pair.PublicKey(), message, wrong) {
					t.Errorf("byte %d does not count", i)
				}
			}
			if VerifySignature(pair.PublicKey(), []byte("massage"), sig) {
				t.Error("another message")
			}
			s := slices.Clone(sig[32:])
			sign := s[31] & 0x80
			s[31] &= 0x7f
			slices.Reverse(s)
			n := new(big.Int).SetBytes(s)
			n.Add(n, order).Add(n, new(big.Int).Lsh(big.NewInt(1), 252))
			other := sig
			slices.Reverse(n.FillBytes(other[32:]))
			other[63] |= sign
			if VerifySignature(pair.PublicKey(), message, other) {
				t.Error("s that is not below the order")
			}
		}
	}
}

// TestMinusOne: the public key u = -1 verifies nothing.
func TestMinusOne(t *testing.T) {
	var u [32]byte
	for i := range u {
		u[i] = 0xff
	}
	u[0], u[31] = 0xec, 0x7f // 2^255 - 20
	var sig [64]byte
	sig[0] = 1 // the identity, with s = 0
	if VerifySignature(NewDjbECPublicKey(u), []byte("x"), sig) {
		t.Error("a forgery under u = -1")
	}
}

// TestPrivateKeyPrints: a private key prints as a placeholder.
func TestPrivateKeyPrints(t *testing.T) {
	key := NewDjbECPrivateKey([32]byte([]byte("abcdefghijklmnopqrstuvwxyz012345")))
	for _, format := range []string{"%v", "%+v", "%#v", "%x", "%s", "%d"} {
		text := sprintf(format, key)
		if strings.Contains(text, "abcd") || strings.Contains(text, hex.EncodeToString([]byte("abcd"))) || strings.Contains(text, "97 98") {
			t.Errorf("%s prints %s", format, text)
		}
	}
}

func sprintf(format string, a any) string { return fmt.Sprintf(format, a) }
