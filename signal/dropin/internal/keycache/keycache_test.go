package keycache

import (
	"testing"

	"github.com/sigcore/sigcore/curve"
)

// TestBounds: more keys than are kept give the same signatures and verdicts.
func TestBounds(t *testing.T) {
	const n = 2 * maxPublic
	var keys [n][32]byte
	var sigs [n][64]byte
	for i := range keys {
		k, err := curve.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		keys[i] = [32]byte(k.Bytes())
		if sigs[i], err = Private(&keys[i]).Sign([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keys {
		u := Private(&keys[i]).PublicKey()
		for range 2 {
			if !Public(&u).Verify([]byte("x"), sigs[i][:]) {
				t.Fatal("refused")
			}
		}
		if Public(&u).Verify([]byte("x"), sigs[(i+1)%n][:]) {
			t.Fatal("a signature of another key")
		}
	}
	if n := len(public.young) + len(public.old); n > maxPublic {
		t.Errorf("%d keys are kept", n)
	}
}

// TestZero: a key of zeros is not taken for an empty place.
func TestZero(t *testing.T) {
	private = privateKeys{}
	zero := new([32]byte)
	k := Private(zero)
	if k == nil || Private(zero) != k || Private(&[32]byte{1}) == k {
		t.Error("not the key of zeros")
	}
}
