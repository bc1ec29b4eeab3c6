package curve

import (
	"crypto/ecdh"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// TestX25519Edges compares with the ladder over math/big on u-coordinates at the
// limits of the field, of limbs and of words, top bit set and clear.
func TestX25519Edges(t *testing.T) {
	scalars := [][32]byte{{}, {1}, {8}, {31: 0x40}, {0: 0xf8, 31: 0x7f}, {}, {}}
	for i := range 32 {
		if i > 0 && i < 31 {
			scalars[4][i] = 0xff // 2^255 - 8
		}
		scalars[5][i] = 0xff
		scalars[6][i] = 0xaa
	}
	points := testvec.EdgeBytes32()
	points = append(points, testvec.LowOrderU()...)
	if testing.Short() {
		scalars = scalars[4:6]
	}
	want := make(map[[2][32]byte][32]byte)
	for i, k := range scalars {
		for j, u := range points {
			if testing.Short() && (i+j)%4 != 0 {
				continue
			}
			want[[2][32]byte{k, u}] = bigX25519(&k, &u)
		}
	}
	eachTier(t, func(t *testing.T) {
		for in, w := range want {
			var got [32]byte
			if X25519(&got, &in[0], &in[1]); got != w {
				t.Errorf("X25519(%x, %x) = %x, want %x", in[0], in[1], got, w)
			}
		}
	})
}

func TestX25519AgainstECDH(t *testing.T) {
	n := 200
	switch {
	case longTests():
		n = 1000000
	case testing.Short():
		n = 20
	}
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for range n {
			k, u := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
			var got [32]byte
			X25519(&got, &k, &u)
			priv, err := ecdh.X25519().NewPrivateKey(k[:])
			if err != nil {
				t.Fatal(err)
			}
			pub, err := ecdh.X25519().NewPublicKey(u[:])
			if err != nil {
				t.Fatal(err)
			}
			want, err := priv.ECDH(pub)
			if err != nil { // of low order
				want = make([]byte, 32)
			}
			if got != [32]byte(want) {
				t.Fatalf("X25519(%x, %x) = %x, want %x", k, u, got, want)
			}
			PublicKey(&got, &k)
			if got != [32]byte(priv.PublicKey().Bytes()) {
				t.Fatalf("PublicKey(%x) = %x", k, got)
			}
		}
	})
}

func TestX25519ArgumentsOverlap(t *testing.T) {
	k, u := [32]byte{1, 31: 3}, [32]byte{9}
	var want, pub, self [32]byte
	X25519(&want, &k, &u)
	PublicKey(&pub, &k)
	X25519(&self, &k, &k)
	p, err := NewPrivateKey(k[:])
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() (got, want [32]byte){
		"result is scalar": func() ([32]byte, [32]byte) { x := k; X25519(&x, &x, &u); return x, want },
		"result is point":  func() ([32]byte, [32]byte) { x := u; X25519(&x, &k, &x); return x, want },
		"all the same":     func() ([32]byte, [32]byte) { x := k; X25519(&x, &x, &x); return x, self },
		"public key":       func() ([32]byte, [32]byte) { x := k; PublicKey(&x, &x); return x, pub },
		"agreement":        func() ([32]byte, [32]byte) { x := u; p.Agree(&x, &x); return x, want },
	} {
		if got, want := f(); got != want {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
}

func TestX25519Strict(t *testing.T) {
	k := [32]byte{8, 31: 0x40}
	for _, u := range testvec.LowOrderU() {
		var zero, got [32]byte
		if X25519(&got, &k, &u); got != zero {
			t.Errorf("X25519 with %x = %x", u, got)
		}
		got = [32]byte{1}
		want := ErrLowOrder
		if !isCanonicalU(&u) {
			want = ErrNonCanonical
		}
		if err := X25519Strict(&got, &k, &u); !errors.Is(err, want) || got != [32]byte{1} {
			t.Errorf("strict with %x = %x, %v", u, got, err)
		}
	}
	var got, want [32]byte
	u := [32]byte{9}
	X25519(&want, &k, &u)
	if err := X25519Strict(&got, &k, &u); err != nil || got != want {
		t.Errorf("strict: %x, %v", got, err)
	}
	for _, bad := range [][32]byte{{9, 31: 0x40}, {8}, {8, 31: 0xc0}} {
		if err := X25519Strict(&got, &bad, &u); !errors.Is(err, ErrNonCanonical) {
			t.Errorf("scalar %x: %v", bad, err)
		}
	}
	u[31] |= 0x80
	if err := X25519Strict(&got, &k, &u); !errors.Is(err, ErrNonCanonical) {
		t.Errorf("top bit of u: %v", err)
	}
}
