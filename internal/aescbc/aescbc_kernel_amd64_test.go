//go:build !purego

package aescbc

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// needsAESNI skips a test on a processor without the tier.
func needsAESNI(t *testing.T) {
	t.Helper()
	if cpu.AESNI {
		return
	}
	if impltest.Required("aesni") {
		t.Fatal("aesni is required: " + cpu.Reason("aesni"))
	}
	t.Skip(cpu.Reason("aesni"))
}

// The blocks are read and written where they lie, and nothing beside them.
func TestKernelsStayInside(t *testing.T) {
	needsAESNI(t)
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= 3*group; n++ {
		for _, guard := range []func(testing.TB, int) []byte{testvec.GuardTail, testvec.GuardHead} {
			key, iv := [32]byte(random(r, 32)), [16]byte(random(r, 16))
			plain := random(r, n*BlockSize)
			want := bytes.Clone(plain)
			encryptGeneric(want, &key, &iv)
			b, other := guard(t, len(plain)), guard(t, len(plain))
			copy(b, plain)
			if encryptAESNI(&b[0], n, &key, &iv); !bytes.Equal(b, want) {
				t.Fatalf("%d blocks: %x, want %x", n, b, want)
			}
			if n >= group {
				if decryptAESNI(&other[0], &b[0], n, &key, &iv); !bytes.Equal(other, plain) {
					t.Fatalf("%d blocks back: %x, want %x", n, other, plain)
				}
			}
			copy(b, plain)
			copy(other, plain)
			last := [2][16]byte{iv, iv}
			encryptPairAESNI(&b[0], &other[0], n, &key, &key, &last[0], &last[1])
			if !bytes.Equal(b, want) || !bytes.Equal(other, want) {
				t.Fatalf("%d blocks of two: %x and %x, want %x", n, b, other, want)
			}
		}
	}
}

// The kernels by name beside their twins.
func TestKernelsAESNI(t *testing.T) {
	needsAESNI(t)
	for name, mutant := range map[string]func() (noticed, differs bool){
		"encrypt":     func() (bool, bool) { return encryptAESNIMutant(encryptAESNI) },
		"encryptPair": func() (bool, bool) { return encryptPairAESNIMutant(encryptPairAESNI) },
		"decrypt":     func() (bool, bool) { return decryptAESNIMutant(decryptAESNI) },
	} {
		if noticed, differs := mutant(); noticed || differs {
			t.Errorf("%s: the self-test fails: %v, differs from its twin: %v", name, noticed, differs)
		}
	}
}

func TestSelfTestNoticesLies(t *testing.T) {
	needsAESNI(t)
	for bit := range 8 {
		flip := func(p *byte, i int) { testBytes(p, i+1)[i] ^= 1 << bit }
		for i := range BlockSize {
			if noticed, differs := encryptAESNIMutant(func(p *byte, n int, key *[32]byte, iv *[16]byte) {
				encryptAESNI(p, n, key, iv)
				flip(p, (n-1)*BlockSize+i)
			}); !noticed || !differs {
				t.Errorf("encrypt: bit %d of byte %d", bit, i)
			}
			if noticed, differs := encryptPairAESNIMutant(func(p0, p1 *byte, n int, key0, key1 *[32]byte, iv0, iv1 *[16]byte) {
				encryptPairAESNI(p0, p1, n, key0, key1, iv0, iv1)
				iv1[i] ^= 1 << bit
			}); !noticed || !differs {
				t.Errorf("encryptPair: bit %d of byte %d", bit, i)
			}
			if noticed, differs := decryptAESNIMutant(func(dst, src *byte, n int, key *[32]byte, iv *[16]byte) {
				decryptAESNI(dst, src, n, key, iv)
				flip(dst, i)
			}); !noticed || !differs {
				t.Errorf("decrypt: bit %d of byte %d", bit, i)
			}
		}
	}
}

// The functions below try a kernel in the place of the one that it is named
// after: whether the self-test notices, and whether random inputs show a
// difference to the twin.

func encryptAESNIMutant(f func(p *byte, n int, key *[32]byte, iv *[16]byte)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 20; n++ {
		key, iv := [32]byte(random(r, 32)), [16]byte(random(r, 16))
		got := random(r, n*BlockSize)
		want := bytes.Clone(got)
		encryptGeneric(want, &key, &iv)
		f(&got[0], n, &key, &iv)
		differs = differs || !bytes.Equal(got, want)
	}
	k := kernelsAESNI
	k.encrypt = f
	return !k.selfTest(), differs
}

func encryptPairAESNIMutant(f func(p0, p1 *byte, n int, key0, key1 *[32]byte, iv0, iv1 *[16]byte)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := 1; n < 20; n++ {
		key := [2][32]byte{[32]byte(random(r, 32)), [32]byte(random(r, 32))}
		iv := [2][16]byte{[16]byte(random(r, 16)), [16]byte(random(r, 16))}
		got := [2][]byte{random(r, n*BlockSize), random(r, n*BlockSize)}
		want := [2][]byte{bytes.Clone(got[0]), bytes.Clone(got[1])}
		for i := range want {
			encryptGeneric(want[i], &key[i], &iv[i])
		}
		f(&got[0][0], &got[1][0], n, &key[0], &key[1], &iv[0], &iv[1])
		for i := range want {
			differs = differs || !bytes.Equal(got[i], want[i]) || !bytes.Equal(iv[i][:], want[i][(n-1)*BlockSize:])
		}
	}
	k := kernelsAESNI
	k.encryptPair = f
	return !k.selfTest(), differs
}

func decryptAESNIMutant(f func(dst, src *byte, n int, key *[32]byte, iv *[16]byte)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := group; n < 3*group; n++ {
		key, iv := [32]byte(random(r, 32)), [16]byte(random(r, 16))
		src, got, want := random(r, n*BlockSize), make([]byte, (n+group)*BlockSize), make([]byte, (n+group)*BlockSize)
		decryptGeneric(want[:len(src)], src, &key, &iv)
		src = append(src, make([]byte, group*BlockSize)...)
		f(&got[0], &src[0], n, &key, &iv)
		differs = differs || !bytes.Equal(got, want)
	}
	k := kernelsAESNI
	k.decrypt = f
	return !k.selfTest(), differs
}
