package kdf

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
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

func stdHMAC(key, msg []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(msg)
	return m.Sum(nil)
}

func TestHMAC(t *testing.T) {
	impltest.All(t, "kdf", func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		for n := range 300 {
			key := [32]byte(random(r, 32))
			msg := random(r, n)
			cut := r.IntN(n + 1)
			var out [32]byte
			HMAC(&out, &key, msg[:cut], msg[cut:])
			if want := stdHMAC(key[:], msg); !bytes.Equal(out[:], want) {
				t.Fatalf("%d bytes: %x, want %x", n, out, want)
			}
			want := out
			out = key
			HMAC(&out, &out, msg)
			if out != want {
				t.Fatalf("%d bytes: another result in place of the key", n)
			}
		}
	})
}

func TestHMACPair(t *testing.T) {
	impltest.All(t, "kdf", func(t *testing.T) {
		r := rand.New(rand.NewPCG(13, 14))
		for range 1000 {
			keys := [2][32]byte{[32]byte(random(r, 32)), [32]byte(random(r, 32))}
			messages := [2][]byte{random(r, r.IntN(400)), random(r, r.IntN(400))}
			if r.IntN(2) == 0 {
				messages[1] = random(r, len(messages[0])) // as of one message to many
			}
			var parts [2][][]byte
			for i, m := range messages {
				for len(m) > 0 {
					n := 1 + r.IntN(len(m))
					parts[i], m = append(parts[i], m[:n]), m[n:]
				}
			}
			var out [2][32]byte
			HMACPair(&out[0], &out[1], &keys[0], &keys[1], parts[0], parts[1])
			for i := range out {
				if want := stdHMAC(keys[i][:], messages[i]); !bytes.Equal(out[i][:], want) {
					t.Fatalf("message %d, of %d bytes in %d parts: %x, want %x", i, len(messages[i]), len(parts[i]), out[i], want)
				}
			}
		}
	})
}

func TestChainStep(t *testing.T) {
	impltest.All(t, "kdf", func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		ck := [32]byte(random(r, 32))
		for range 200 {
			wantSeed, wantNext := stdHMAC(ck[:], []byte{1}), stdHMAC(ck[:], []byte{2})
			var seed [32]byte
			ChainStep(&seed, &ck, &ck)
			if !bytes.Equal(seed[:], wantSeed) || !bytes.Equal(ck[:], wantNext) {
				t.Fatalf("seed %x, next %x; want %x, %x", seed, ck, wantSeed, wantNext)
			}
		}
		// The isolated chain step of the worked vectors.
		ck = [32]byte(bytes.Repeat([]byte{0x11}, 32))
		var seed [32]byte
		ChainStep(&seed, &ck, &ck)
		if hex.EncodeToString(seed[:]) != "c4ede064b5f2a51225b2175e5b84fb73f9cec689ac3d912ac4878f7ebeab0149" ||
			hex.EncodeToString(ck[:]) != "ed50b271f4852277c8218e209858d8bd32a3228a9e4fb6b5a16fb9b4755c53bc" {
			t.Fatalf("seed %x, next %x", seed, ck)
		}
	})
}

func TestSeedKeys(t *testing.T) {
	impltest.All(t, "kdf", func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 8))
		for n := range maxLabel + 1 {
			info := string(random(r, n))
			l := NewLabel(info)
			for range 20 {
				seed := [32]byte(random(r, 32))
				want, err := hkdf.Key(sha256.New, seed[:], nil, info, 96)
				if err != nil {
					t.Fatal(err)
				}
				var long [96]byte
				l.SeedKeys96(&long, &seed)
				if !bytes.Equal(long[:], want) {
					t.Fatalf("label of %d bytes: %x, want %x", n, long, want)
				}
				var short [64]byte
				l.SeedKeys64(&short, &seed)
				if !bytes.Equal(short[:], want[:64]) {
					t.Fatalf("label of %d bytes: %x, want %x", n, short, want[:64])
				}
			}
		}
	})
	impltest.All(t, "kdf", func(t *testing.T) {
		r := rand.New(rand.NewPCG(11, 12))
		l := NewLabel("WhisperMessageKeys")
		for range 50 {
			seeds := [2][32]byte{[32]byte(random(r, 32)), [32]byte(random(r, 32))}
			var long, wantLong [2][96]byte
			var short, wantShort [2][64]byte
			for i := range seeds {
				l.SeedKeys96(&wantLong[i], &seeds[i])
				l.SeedKeys64(&wantShort[i], &seeds[i])
			}
			l.SeedKeys96Pair(&long[0], &long[1], &seeds[0], &seeds[1])
			l.SeedKeys64Pair(&short[0], &short[1], &seeds[0], &seeds[1])
			if long != wantLong || short != wantShort {
				t.Fatalf("two at once: %x and %x, want %x and %x", long, short, wantLong, wantShort)
			}
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("a label that fills the block")
		}
	}()
	NewLabel(strings.Repeat("x", maxLabel+1))
}

func TestHKDF(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		ikm, salt, info := random(r, r.IntN(200)), random(r, r.IntN(100)), random(r, r.IntN(2*maxInfo))
		dst := make([]byte, r.IntN(300))
		HKDF(dst, ikm, salt, info)
		want, err := hkdf.Key(sha256.New, ikm, salt, string(info), len(dst))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst, want) {
			t.Fatalf("ikm %x, salt %x, info %x: %x, want %x", ikm, salt, info, dst, want)
		}
	}
	dst, key := make([]byte, 255*32), []byte("key")
	HKDF(dst, key, nil, nil)
	if want, _ := hkdf.Key(sha256.New, key, nil, "", len(dst)); !bytes.Equal(dst, want) {
		t.Fatal("longest output differs")
	}
	defer func() {
		if recover() == nil {
			t.Fatal("output over the limit of RFC 5869 did not panic")
		}
	}()
	HKDF(make([]byte, 255*32+1), key, nil, nil)
}

func TestAllocations(t *testing.T) {
	var out, key, seed [32]byte
	var okm [80]byte
	msg, info := make([]byte, 3000), []byte("WhisperMessageKeys")
	l := NewLabel("WhisperGroup")
	var long [96]byte
	var short [64]byte
	for name, f := range map[string]func(){
		"SeedKeys": func() { l.SeedKeys64(&short, &seed); l.SeedKeys96(&long, &seed) },
		"SeedKeysPair": func() {
			l.SeedKeys64Pair(&short, &[64]byte{}, &seed, &key)
			l.SeedKeys96Pair(&long, &[96]byte{}, &seed, &key)
		},
		"HMACPair":  func() { HMACPair(&out, &seed, &key, &key, [][]byte{msg, msg}, [][]byte{info}) },
		"HMAC":      func() { HMAC(&out, &key, msg, msg) },
		"ChainStep": func() { ChainStep(&seed, &key, &key) },
		"HKDF":      func() { HKDF(okm[:], seed[:], nil, info); HKDF(okm[:], seed[:], key[:], info) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
