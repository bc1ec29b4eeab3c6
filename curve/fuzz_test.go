package curve

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"filippo.io/edwards25519"
	"golang.org/x/crypto/curve25519"

	"github.com/sigcore/sigcore/internal/testvec"
)

// array cuts b to 32 bytes, or appends zeros to it.
func array(b []byte) *[32]byte {
	var a [32]byte
	copy(a[:], b)
	return &a
}

func FuzzX25519(f *testing.F) {
	for _, u := range append(testvec.EdgeBytes32(), testvec.LowOrderU()...) {
		f.Add(bytes.Repeat([]byte{0xaa}, 32), u[:])
	}
	f.Fuzz(func(t *testing.T, scalar, point []byte) {
		k, u := array(scalar), array(point)
		var got, want [32]byte
		X25519(&got, k, u)
		//lint:ignore SA1019 the function that gives zeros where X25519 there gives an error
		curve25519.ScalarMult(&want, k, u)
		if got != want {
			t.Fatalf("X25519(%x, %x) = %x, want %x", *k, *u, got, want)
		}
		PublicKey(&got, k)
		curve25519.ScalarBaseMult(&want, k)
		if got != want {
			t.Fatalf("PublicKey(%x) = %x, want %x", *k, got, want)
		}
	})
}

func FuzzVerify(f *testing.F) {
	p, err := NewPrivateKey(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	u, sig := p.PublicKey(), p.SignWithRandom(new([64]byte), []byte("message"))
	f.Add(u[:], []byte("message"), sig[:])
	f.Add(u[:], []byte("message"), sig[:63])
	if high, ok := addS(sig[:], 1); ok {
		f.Add(u[:], []byte("message"), high)
	}
	for _, u := range testvec.LowOrderU() {
		f.Add(u[:], []byte{1}, append([]byte{1}, make([]byte, 63)...))
	}
	f.Fuzz(func(t *testing.T, key, msg, sig []byte) {
		u := array(key)
		got := verdicts(t, u, msg, sig)
		if want := referenceVerify(u, msg, sig); got != want {
			t.Fatalf("Verify(%x, %x, %x) = %v", *u, msg, sig, got)
		}
		if VerifyStrict(u, msg, sig) && !got {
			t.Fatalf("VerifyStrict(%x, %x, %x) accepts what Verify refuses", *u, msg, sig)
		}
		if want := ed25519.Verify(u[:], msg, sig); VerifyEd25519(u, msg, sig) != want {
			t.Fatalf("VerifyEd25519(%x, %x, %x) = %v", *u, msg, sig, !want)
		}
	})
}

func FuzzPointSetBytes(f *testing.F) {
	for _, b := range testvec.EdgeBytes32() {
		f.Add(b[:])
	}
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := new(Point).SetBytes(b)
		q, qErr := new(edwards25519.Point).SetBytes(b)
		if (err == nil) != (qErr == nil) {
			t.Fatalf("%x: %v, want %v", b, err, qErr)
		}
		_, strictErr := new(Point).SetCanonicalBytes(b)
		if err != nil {
			if strictErr == nil {
				t.Fatalf("%x: only the strict form decodes", b)
			}
			return
		}
		enc := p.Bytes()
		if !bytes.Equal(enc, q.Bytes()) || (strictErr == nil) != bytes.Equal(enc, b) {
			t.Fatalf("%x: %x, want %x, strict %v", b, enc, q.Bytes(), strictErr)
		}
		again, err := new(Point).SetCanonicalBytes(enc)
		if err != nil || again.Equal(p) != 1 {
			t.Fatalf("%x: the encoding %x decodes to another point: %v", b, enc, err)
		}
	})
}
