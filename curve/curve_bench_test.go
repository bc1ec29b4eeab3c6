package curve

import (
	"cmp"
	"crypto/ecdh"
	"crypto/ed25519"
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

var benchSink byte

// benchTiers runs f as sub-benchmarks impl=…, under each tier of field and of
// this package together.
func benchTiers(b *testing.B, f func(b *testing.B)) {
	b.Cleanup(func() { impl.Reset("field"); impl.Reset("curve") })
	for _, name := range append(impl.List("field"), "") {
		b.Run("impl="+cmp.Or(name, "generic"), func(b *testing.B) {
			if !impl.Select("field", name) || !impl.Select("curve", name) {
				b.Skip("may not run on this machine or in this build")
			}
			b.ReportAllocs()
			f(b)
		})
	}
}

func BenchmarkX25519(b *testing.B) {
	k, u := [32]byte{1, 2, 3}, [32]byte{9}
	benchTiers(b, func(b *testing.B) {
		for b.Loop() {
			X25519(&u, &k, &u)
		}
	})
	b.Run("lib=ecdh", func(b *testing.B) {
		p, _ := ecdh.X25519().NewPrivateKey(k[:])
		q, _ := ecdh.X25519().NewPublicKey(u[:])
		for b.Loop() {
			z, _ := p.ECDH(q)
			benchSink ^= z[0]
		}
	})
}

func BenchmarkPublicKey(b *testing.B) {
	k, u := [32]byte{1, 2, 3}, [32]byte{}
	benchTiers(b, func(b *testing.B) {
		for b.Loop() {
			PublicKey(&u, &k)
		}
	})
	b.Run("lib=ecdh", func(b *testing.B) {
		for b.Loop() {
			p, _ := ecdh.X25519().NewPrivateKey(k[:])
			benchSink ^= p.PublicKey().Bytes()[0]
		}
	})
}

func BenchmarkFixedBase(b *testing.B) {
	k := [32]byte{1, 2, 3, 31: 77}
	benchTiers(b, func(b *testing.B) {
		var p Point
		for b.Loop() {
			fixedBase(&p, &k)
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		var x, y, z [5]uint64
		d := int64(0)
		for b.Loop() {
			selectNiels(&x, &y, &z, &fixedBaseTable[d+8], d)
			if d++; d > 8 {
				d = -8
			}
		}
	})
}

func BenchmarkXEdDSASign(b *testing.B) {
	p, _ := NewPrivateKey(make([]byte, 32))
	var z [64]byte
	msg := make([]byte, 33)
	p.signingState()
	benchTiers(b, func(b *testing.B) {
		for b.Loop() {
			benchSink ^= p.SignWithRandom(&z, msg)[0]
		}
	})
}

func BenchmarkXEdDSAVerify(b *testing.B) {
	p, _ := NewPrivateKey(make([]byte, 32))
	var z [64]byte
	msg := make([]byte, 33)
	sig := p.SignWithRandom(&z, msg)
	u := p.PublicKey()
	b.Run("key=plain", func(b *testing.B) {
		benchTiers(b, func(b *testing.B) {
			for b.Loop() {
				if !Verify(&u, msg, sig[:]) {
					b.Fatal("refused")
				}
			}
		})
	})
	b.Run("key=prepared", func(b *testing.B) {
		v := NewVerificationKey(&u)
		v.Precompute()
		benchTiers(b, func(b *testing.B) {
			for b.Loop() {
				if !v.Verify(msg, sig[:]) {
					b.Fatal("refused")
				}
			}
		})
	})
}

func BenchmarkEd25519Sign(b *testing.B) {
	seed := make([]byte, 32)
	p, _ := NewEd25519PrivateKey(seed)
	msg := make([]byte, 33)
	benchTiers(b, func(b *testing.B) {
		for b.Loop() {
			benchSink ^= p.Sign(msg)[0]
		}
	})
	b.Run("lib=ed25519", func(b *testing.B) {
		q := ed25519.NewKeyFromSeed(seed)
		for b.Loop() {
			benchSink ^= ed25519.Sign(q, msg)[0]
		}
	})
}

func BenchmarkEd25519Verify(b *testing.B) {
	seed := make([]byte, 32)
	p, _ := NewEd25519PrivateKey(seed)
	msg := make([]byte, 33)
	sig, pub := p.Sign(msg), p.PublicKey()
	benchTiers(b, func(b *testing.B) {
		for b.Loop() {
			if !VerifyEd25519(&pub, msg, sig[:]) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("lib=ed25519", func(b *testing.B) {
		for b.Loop() {
			if !ed25519.Verify(pub[:], msg, sig[:]) {
				b.Fatal("refused")
			}
		}
	})
}
