package curve

import (
	"bytes"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
)

func TestGenerateKey(t *testing.T) {
	draw := bytes.Repeat([]byte{0xff}, 32)
	src := bytes.NewReader(append(bytes.Clone(draw), draw...))
	restore := random.Install(src)
	defer restore()

	p, err := GenerateKey()
	if err != nil || src.Len() != 32 {
		t.Fatalf("%v, %d bytes left", err, src.Len())
	}
	clamped := bytes.Clone(draw)
	clamped[0], clamped[31] = 0xf8, 0x7f
	if !bytes.Equal(p.Bytes(), clamped) {
		t.Errorf("private key %x", p.Bytes())
	}
	e, err := GenerateEd25519Key()
	if err != nil || src.Len() != 0 || !bytes.Equal(e.Seed(), draw) {
		t.Errorf("%v, %d bytes left", err, src.Len())
	}
	if p, err := GenerateKey(); p != nil || err == nil {
		t.Error("key from a failed draw")
	}
	if e, err := GenerateEd25519Key(); e != nil || err == nil {
		t.Error("Ed25519 key from a failed draw")
	}
}

// Signing state is for keys that sign: agreement and the public key leave it out.
func TestSigningStateIsLazy(t *testing.T) {
	p, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	var z [64]byte
	u := p.PublicKey()
	p.Agree(&u, &u)
	if p.signing.Load() != nil {
		t.Error("warmed without a signature")
	}
	p.SignWithRandom(&z, nil)
	if p.signing.Load() == nil {
		t.Error("not kept after a signature")
	}
}

func TestBytesAreCopies(t *testing.T) {
	b := bytes.Repeat([]byte{8}, 32)
	p, err := NewPrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEd25519PrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	want, seed := p.Bytes(), e.Seed()
	clear(b)
	clear(p.Bytes())
	clear(e.Seed())
	if !bytes.Equal(p.Bytes(), want) || !bytes.Equal(e.Seed(), seed) || want[0] != 8 || seed[0] != 8 {
		t.Error("the key shares memory")
	}
}

// TestKeysAreConcurrent is for the race detector.
func TestKeysAreConcurrent(t *testing.T) {
	p, err := NewPrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewPrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	u := other.PublicKey()
	v := NewVerificationKey(&u)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var z [64]byte
			sig := p.SignWithRandom(&z, []byte("m"))
			if p.PublicKey() != u || !v.Verify([]byte("m"), sig[:]) || v.Verify([]byte("n"), sig[:]) {
				t.Error("wrong result")
			}
		})
	}
	wg.Wait()
}
