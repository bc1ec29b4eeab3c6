package curve

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"filippo.io/edwards25519"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/internal/testvec"
)

// randomKeys is the number of random keys that a test of signatures takes.
func randomKeys() int {
	switch {
	case longTests():
		return 100000
	case testing.Short():
		return 8
	}
	return 60
}

func fill(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// verdicts returns what every way to verify says, which must be the same.
func verdicts(t *testing.T, u *[32]byte, msg, sig []byte) bool {
	t.Helper()
	u0, msg0, sig0 := *u, bytes.Clone(msg), bytes.Clone(sig)
	got := Verify(u, msg, sig)
	v := NewVerificationKey(u)
	if first := v.Verify(msg, sig); first != got {
		t.Fatalf("Verify(%x, %x, %x) = %v, prepared %v", *u, msg, sig, got, first)
	}
	v.Precompute()
	if again := v.Verify(msg, sig); again != got {
		t.Fatalf("Verify(%x, %x, %x) = %v, precomputed %v", *u, msg, sig, got, again)
	}
	if *u != u0 || !bytes.Equal(msg, msg0) || !bytes.Equal(sig, sig0) {
		t.Fatal("verification has changed its inputs")
	}
	return got
}

// addS adds n·ℓ to the s of sig, keeping the top bit; ok is false if s does not
// fit below it.
func addS(sig []byte, n int64) (out []byte, ok bool) {
	s := bytes.Clone(sig[32:])
	bit := s[31] & 0x80
	s[31] &= 0x7f
	x := bigOf(s)
	x.Add(x, new(big.Int).Mul(big.NewInt(n), bigL))
	if x.BitLen() > 255 {
		return nil, false
	}
	b := bytesOf(x)
	b[31] |= bit
	return append(bytes.Clone(sig[:32]), b[:]...), true
}

// TestXEdDSAStrictness takes random keys of both signs, and changes what can be
// changed in their signatures.
func TestXEdDSAStrictness(t *testing.T) {
	eachTier(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(15, 16))
		signs := [2]int{}
		for i := range randomKeys() {
			var k [32]byte
			var z [64]byte
			fill(r, k[:])
			fill(r, z[:])
			msg := make([]byte, i%200)
			fill(r, msg)
			p, err := NewPrivateKey(k[:])
			if err != nil {
				t.Fatal(err)
			}
			u := p.PublicKey()
			cut := len(msg) / 3
			sigArray := p.SignWithRandom(&z, msg[:cut], msg[cut:])
			sig := sigArray[:]
			clamp(&k)
			if want := referenceSign(&k, &z, msg); !bytes.Equal(sig, want) {
				t.Fatalf("key %x, random %x, message %x: signature %x, want %x", k, z, msg, sig, want)
			}
			signs[sig[63]>>7]++
			if !verdicts(t, &u, msg, sig) || !VerifyStrict(&u, msg, sig) {
				t.Fatalf("key %x: signature %x refused", k, sig)
			}
			// Without the bit it is an Ed25519 signature under the Edwards key.
			plain := bytes.Clone(sig)
			plain[63] &= 0x7f
			edwards := p.signingState().public
			if edwards[31]&0x80 != sig[63]&0x80 || !ed25519.Verify(edwards[:], msg, plain) || !VerifyEd25519(&edwards, msg, plain) {
				t.Fatalf("key %x: signature %x is none of Ed25519", k, sig)
			}

			// The top bit of the public key is ignored, but for the strict form.
			masked := u
			masked[31] |= 0x80
			if !verdicts(t, &masked, msg, sig) || VerifyStrict(&masked, msg, sig) {
				t.Fatalf("key %x with the top bit", u)
			}
			// s + ℓ is reduced while it stays below 2^253, but for the strict form.
			for n := int64(1); n < 8; n++ {
				high, ok := addS(sig, n)
				if !ok {
					break
				}
				if got, want := verdicts(t, &u, msg, high), high[63]&0x60 == 0; got != want || VerifyStrict(&u, msg, high) {
					t.Fatalf("s + %dℓ: %v, want %v", n, got, want)
				}
			}
			refuse := func(what string, u *[32]byte, msg, sig []byte) {
				t.Helper()
				if verdicts(t, u, msg, sig) || VerifyStrict(u, msg, sig) {
					t.Fatalf("%s: key %x, message %x, signature %x accepted", what, *u, msg, sig)
				}
			}
			for _, bit := range []int{r.IntN(256), 256 + r.IntN(253), 509, 510, 511} {
				bad := bytes.Clone(sig)
				bad[bit/8] ^= 1 << (bit % 8)
				refuse("changed bit of the signature", &u, msg, bad)
			}
			other := append(bytes.Clone(msg), 0)
			refuse("longer message", &u, other, sig)
			if len(msg) > 0 {
				other = other[:len(msg)]
				other[r.IntN(len(msg))] ^= 1 << r.IntN(8)
				refuse("changed bit of the message", &u, other, sig)
			}
			wrong := u
			wrong[r.IntN(31)] ^= 1 << r.IntN(8)
			refuse("changed bit of the key", &wrong, msg, sig)
			for _, n := range []int{0, 1, 32, 63, 65} {
				refuse("length", &u, msg, append(bytes.Clone(sig), 0)[:n])
			}
		}
		if signs[0] == 0 || signs[1] == 0 {
			t.Errorf("signs %v", signs)
		}
	})
}

// TestXEdDSAOddKeys compares with the reference over filippo.io/edwards25519 on
// public keys and signatures at the edges: small order, the twist, non-canonical
// forms, u = -1; R the identity and its non-canonical forms.
func TestXEdDSAOddKeys(t *testing.T) {
	lowOrder := testvec.LowOrderU()
	keys := append(lowOrder, testvec.EdgeBytes32()...)
	r := rand.New(rand.NewPCG(17, 18))
	for range 50 {
		keys = append(keys, testvec.WeirdBytes32(r))
	}
	identity := [32]byte{1}
	identityHigh, minusZero := bytesOf(new(big.Int).Add(bigP, big.NewInt(1))), [32]byte{1, 31: 0x80}
	eachTier(t, func(t *testing.T) {
		accepted, strictAccepted, absent := 0, 0, 0
		for i := range keys {
			u := &keys[i]
			for bit := range byte(2) {
				var A Point
				got := A.setMontgomery(u, int(bit))
				want := referencePoint(u, bit)
				if got != (want != nil) || got && !bytes.Equal(A.Bytes(), want.Bytes()) {
					t.Fatalf("point of %x, bit %d: %v", *u, bit, got)
				}
				if !got {
					absent++
				}
				for _, R := range [][32]byte{identity, identityHigh, minusZero} {
					// With s = 0 and R the identity the equation is c·A = 0: it
					// holds for some messages if A has small order, else for none.
					for m := range byte(8) {
						sig := append(bytes.Clone(R[:]), make([]byte, 32)...)
						sig[63] = bit << 7
						want := referenceVerify(u, []byte{m}, sig)
						if got := verdicts(t, u, []byte{m}, sig); got != want {
							t.Fatalf("key %x, message %d, signature %x: %v, want %v", *u, m, sig, got, want)
						}
						if want {
							accepted++
						}
						if VerifyStrict(u, []byte{m}, sig) {
							strictAccepted++
						}
						if i >= len(lowOrder) || testing.Short() {
							break
						}
					}
				}
			}
		}
		if accepted == 0 && !testing.Short() || strictAccepted != 0 || absent == 0 {
			t.Errorf("%d accepted, %d by the strict form, %d keys without a point", accepted, strictAccepted, absent)
		}
	})
}

// TestXEdDSASmallOrderStrict signs under keys of small order, where s = r.
func TestXEdDSASmallOrderStrict(t *testing.T) {
	one, err := edwards25519.NewScalar().SetCanonicalBytes((&[32]byte{1})[:])
	if err != nil {
		t.Fatal(err)
	}
	R := new(edwards25519.Point).ScalarBaseMult(one).Bytes()
	found := 0
	for _, u := range testvec.LowOrderU() {
		for m := range 256 {
			sig := append(bytes.Clone(R), one.Bytes()...)
			msg := []byte{byte(m)}
			if Verify(&u, msg, sig) {
				found++
				if VerifyStrict(&u, msg, sig) {
					t.Errorf("strict accepts the key %x", u)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no forgery found")
	}
}

func TestSignDraws(t *testing.T) {
	p, err := NewPrivateKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	z := bytes.Repeat([]byte{0xa5}, 64)
	src := bytes.NewReader(append(bytes.Clone(z), 1))
	restore := random.Install(src)
	sig, err := p.Sign([]byte("m"), []byte("n"))
	if err != nil || src.Len() != 1 {
		t.Errorf("%v, %d bytes left", err, src.Len())
	}
	if want := p.SignWithRandom((*[64]byte)(z), []byte("mn")); sig != want {
		t.Errorf("signature %x, want %x", sig, want)
	}
	sig, err = p.Sign(nil)
	restore()
	if err == nil || sig != [64]byte{} {
		t.Errorf("failed draw: %x, %v", sig, err)
	}
}

func TestVerificationKey(t *testing.T) {
	u := [32]byte{9}
	v := NewVerificationKey(&u)
	u[0] = 10
	if !v.IsFor(&[32]byte{9}) || v.IsFor(&u) || v.IsFor(&[32]byte{9, 31: 0x80}) {
		t.Error("IsFor compares the 32 bytes")
	}
	if v.point[0].Load() != nil || v.point[1].Load() != nil {
		t.Error("prepared before first use")
	}
	sig := make([]byte, 64)
	v.Verify(nil, sig)
	if v.point[0].Load() == nil || v.point[1].Load() != nil {
		t.Error("prepared for another sign bit than was asked for")
	}
	v.Precompute()
	if k := v.point[1].Load(); k == nil || k == noPoint {
		t.Error("Precompute has left a sign bit out")
	}
	for bit := range v.point {
		if v.point[bit].Load().wide.Load() == nil {
			t.Error("Precompute has left multiples out")
		}
	}
	minusOne := bytesOf(new(big.Int).Sub(bigP, big.NewInt(1)))
	v = NewVerificationKey(&minusOne)
	v.Precompute()
	if v.point[0].Load() != noPoint || v.point[1].Load() != noPoint || v.Verify(nil, sig) {
		t.Error("u = -1 has a point")
	}
}

// TestVerificationKeyWidens holds that a key gets its multiples by valid
// signatures alone, that verdicts stay the same while callers race for them, and
// that they are those of the point on every tier.
func TestVerificationKeyWidens(t *testing.T) {
	p, err := NewPrivateKey(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	u, msg := p.PublicKey(), []byte("message")
	sig := p.SignWithRandom(&[64]byte{1}, msg)
	bit := int(sig[63] >> 7)
	bad := sig
	bad[40] ^= 1
	eachTier(t, func(t *testing.T) {
		v := NewVerificationKey(&u)
		for range 2 * wideAfter {
			if v.Verify(msg, bad[:]) {
				t.Fatal("a bad signature is valid")
			}
		}
		for i := range wideAfter {
			if v.point[bit].Load().wide.Load() != nil {
				t.Fatalf("multiples after %d valid signatures", i)
			}
			if !v.Verify(msg, sig[:]) {
				t.Fatal("a good signature is not valid")
			}
		}
		wide := v.point[bit].Load().wide.Load()
		if wide == nil {
			t.Fatal("no multiples")
		}
		var want wideMultiples
		want.set(&v.point[bit].Load().minusA)
		if *wide != want {
			t.Error("the multiples are not those of the point")
		}
		if !v.Verify(msg, sig[:]) || v.Verify(msg, bad[:]) {
			t.Error("other verdicts with multiples")
		}

		v = NewVerificationKey(&u)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range wideAfter {
					if !v.Verify(msg, sig[:]) || v.Verify(msg, bad[:]) {
						t.Error("other verdicts in a race")
					}
				}
			})
		}
		all.Wait()
	})
}

func TestKeyLengths(t *testing.T) {
	for _, n := range []int{0, 31, 33, 64} {
		if p, err := NewPrivateKey(make([]byte, n)); p != nil || !errors.Is(err, ErrKeyLength) {
			t.Errorf("private key of %d bytes: %v", n, err)
		}
		if p, err := NewEd25519PrivateKey(make([]byte, n)); p != nil || !errors.Is(err, ErrKeyLength) {
			t.Errorf("seed of %d bytes: %v", n, err)
		}
	}
}
