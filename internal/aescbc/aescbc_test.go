package aescbc

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// NIST SP 800-38A, Sections F.2.5 and F.2.6.
const (
	nistKey    = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
	nistIV     = "000102030405060708090a0b0c0d0e0f"
	nistPlain  = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
	nistCipher = "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
)

// FIPS 197, Appendix C.3: one block, which is CBC with an IV of zeros.
const (
	fipsKey    = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	fipsPlain  = "00112233445566778899aabbccddeeff"
	fipsCipher = "8ea2b7ca516745bfeafc49904b496089"
)

func TestKnownAnswers(t *testing.T) {
	impltest.All(t, "aescbc", func(t *testing.T) {
		for _, tc := range []struct{ name, key, iv, plain, cipher string }{
			{"SP 800-38A", nistKey, nistIV, nistPlain, nistCipher},
			{"FIPS 197", fipsKey, "00000000000000000000000000000000", fipsPlain, fipsCipher},
		} {
			key, iv := [32]byte(unhex(t, tc.key)), [16]byte(unhex(t, tc.iv))
			plain, want := unhex(t, tc.plain), unhex(t, tc.cipher)
			b := bytes.Clone(plain)
			if Encrypt(b, &key, &iv); !bytes.Equal(b, want) {
				t.Errorf("%s encrypts to %x, want %x", tc.name, b, want)
			}
			b0, b1 := bytes.Clone(plain), bytes.Clone(plain)
			if EncryptPair(b0, b1, &key, &key, &iv, &iv); !bytes.Equal(b0, want) || !bytes.Equal(b1, want) {
				t.Errorf("%s, twice, encrypts to %x and %x, want %x", tc.name, b0, b1, want)
			}
			if Decrypt(b, want, &key, &iv); !bytes.Equal(b, plain) {
				t.Errorf("%s decrypts to %x, want %x", tc.name, b, plain)
			}
		}
	})
}

// Against the modes of crypto/cipher.
func TestRandom(t *testing.T) {
	impltest.All(t, "aescbc", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 40 {
			for range 20 {
				key := [2][32]byte{[32]byte(random(r, 32)), [32]byte(random(r, 32))}
				iv := [2][16]byte{[16]byte(random(r, 16)), [16]byte(random(r, 16))}
				plain := [2][]byte{random(r, BlockSize*n), random(r, BlockSize*r.IntN(40))}
				keys, ivs := key, iv
				var want [2][]byte
				for i := range want {
					block, err := aes.NewCipher(key[i][:])
					if err != nil {
						t.Fatal(err)
					}
					want[i] = make([]byte, len(plain[i]))
					cipher.NewCBCEncrypter(block, iv[i][:]).CryptBlocks(want[i], plain[i])
				}
				b := bytes.Clone(plain[0])
				if Encrypt(b, &key[0], &iv[0]); !bytes.Equal(b, want[0]) {
					t.Fatalf("%d blocks: %x, want %x", n, b, want[0])
				}
				if Decrypt(b, want[0], &key[0], &iv[0]); !bytes.Equal(b, plain[0]) {
					t.Fatalf("%d blocks back: %x, want %x", n, b, plain[0])
				}
				pair := [2][]byte{bytes.Clone(plain[0]), bytes.Clone(plain[1])}
				EncryptPair(pair[0], pair[1], &key[0], &key[1], &iv[0], &iv[1])
				if !bytes.Equal(pair[0], want[0]) || !bytes.Equal(pair[1], want[1]) {
					t.Fatalf("%d and %d blocks: %x, want %x", n, len(pair[1])/BlockSize, pair, want)
				}
				if key != keys || iv != ivs {
					t.Fatal("the key or the IV has changed")
				}
			}
		}
	})
}

func TestLengths(t *testing.T) {
	var key [32]byte
	var iv [16]byte
	for name, f := range map[string]func(){
		"part of a block":          func() { Encrypt(make([]byte, 17), &key, &iv) },
		"part of the first block":  func() { EncryptPair(make([]byte, 15), nil, &key, &key, &iv, &iv) },
		"part of the second block": func() { EncryptPair(nil, make([]byte, 1), &key, &key, &iv, &iv) },
		"part of a block back":     func() { Decrypt(make([]byte, 17), make([]byte, 17), &key, &iv) },
		"another length":           func() { Decrypt(make([]byte, 16), make([]byte, 32), &key, &iv) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			f()
		}()
	}
}

func TestAllocations(t *testing.T) {
	impltest.All(t, "aescbc", func(t *testing.T) {
		if !allocationFree() {
			t.Skip("crypto/aes allocates its key schedule")
		}
		var key [32]byte
		var iv [16]byte
		b, c := make([]byte, 208), make([]byte, 208)
		if n := testing.AllocsPerRun(100, func() {
			Encrypt(b, &key, &iv)
			EncryptPair(b, c, &key, &key, &iv, &iv)
			Decrypt(c, b, &key, &iv)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkCBC(b *testing.B) {
	for _, name := range implementations() {
		var key [2][32]byte
		var iv [2][16]byte
		buf, out, other := make([]byte, 144), make([]byte, 144), make([]byte, 144)
		for what, f := range map[string]func(){
			"encrypt": func() { Encrypt(buf, &key[0], &iv[0]) },
			"pair":    func() { EncryptPair(buf, other, &key[0], &key[1], &iv[0], &iv[1]) },
			"decrypt": func() { Decrypt(out, buf, &key[0], &iv[0]) },
		} {
			b.Run(what+"/impl="+name, func(b *testing.B) {
				defer selectImplementation(name)()
				b.ReportAllocs()
				for b.Loop() {
					f()
				}
			})
		}
	}
}
