//go:build !purego

package kdf

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// The blocks are read where they lie, and nothing beside them.
func TestKernelsStayInside(t *testing.T) {
	if !cpu.SHANI {
		t.Skip(cpu.Reason("shani"))
	}
	var key, out, want [32]byte
	for n := range 260 {
		for _, b := range [][]byte{testvec.GuardTail(t, n), testvec.GuardHead(t, n)} {
			hmacSHANI(&out, &key, [][]byte{b})
			hmacGeneric(&want, &key, [][]byte{b})
			if out != want {
				t.Fatalf("%d bytes: %x, want %x", n, out, want)
			}
			other := testvec.GuardTail(t, 260-n)
			var outs, wants [2][32]byte
			hmacPairSHANI(&outs[0], &outs[1], &key, &want, [][]byte{b}, [][]byte{other})
			hmacPairGeneric(&wants[0], &wants[1], &key, &want, [][]byte{b}, [][]byte{other})
			if outs != wants {
				t.Fatalf("%d and %d bytes: %x, want %x", n, 260-n, outs, wants)
			}
		}
	}
}

// The kernels by name beside their twins: keys of ones and zeros, and walks
// from there, on which every sum of the rounds wraps sooner or later.
func TestKernelsSHANI(t *testing.T) {
	if !cpu.SHANI {
		if impltest.Required("shani") {
			t.Fatal("shani is required: " + cpu.Reason("shani"))
		}
		t.Skip(cpu.Reason("shani"))
	}
	if !selfTestSHANI() {
		t.Error("the self-test fails")
	}
	r := rand.New(rand.NewPCG(9, 10))
	var ones, one [32]byte
	for i := range ones {
		ones[i] = 0xff
	}
	one[0] = 1
	for _, start := range [][32]byte{{}, ones, one} {
		ck := start
		for range 500 {
			var seed, next, wantSeed, wantNext [32]byte
			chainStepGeneric(&wantSeed, &wantNext, &ck)
			chainStepSHANI(&seed, &next, &ck)
			if seed != wantSeed || next != wantNext {
				t.Fatalf("chain step of %x: %x and %x, those of the twin %x and %x", ck, seed, next, wantSeed, wantNext)
			}
			inPlace := ck
			if chainStepSHANI(&seed, &inPlace, &inPlace); inPlace != next || seed != wantSeed {
				t.Fatalf("chain step of %x in place: %x, want %x", ck, inPlace, next)
			}
			l := NewLabel(string(random(r, r.IntN(maxLabel+1))))
			blocks := l.blocks
			for n := 2; n <= 3; n++ {
				okm := [96]byte(random(r, 96))
				want := okm
				seedKeysGeneric(&want, &seed, l, n)
				if seedKeysSHANI(&okm, &seed, &l.blocks, n); okm != want {
					t.Fatalf("%d blocks of keys of %x: %x, those of the twin %x", n, seed, okm, want)
				}
			}
			if l.blocks != blocks || seed != wantSeed {
				t.Fatal("the inputs have changed")
			}
			parts := make([][]byte, r.IntN(5))
			for i := range parts {
				parts[i] = random(r, r.IntN(200))
			}
			var tag, want [32]byte
			hmacGeneric(&want, &ck, parts)
			if hmacSHANI(&tag, &ck, parts); tag != want {
				t.Fatalf("HMAC of %x of %d parts: %x, that of the twin %x", ck, len(parts), tag, want)
			}
			other := make([][]byte, r.IntN(5))
			for i := range other {
				other[i] = random(r, r.IntN(200))
			}
			var tags, wants [2][32]byte
			hmacPairGeneric(&wants[0], &wants[1], &ck, &seed, parts, other)
			if hmacPairSHANI(&tags[0], &tags[1], &ck, &seed, parts, other); tags != wants {
				t.Fatalf("HMAC of two: %x, those of the twin %x", tags, wants)
			}
			keys := [2][32]byte{ck, seed}
			if hmacPairSHANI(&keys[0], &keys[1], &keys[0], &keys[1], parts, other); keys != wants {
				t.Fatalf("HMAC of two in place of the keys: %x, those of the twin %x", keys, wants)
			}
			for n := 2; n <= 3; n++ {
				okm := [2][96]byte{[96]byte(random(r, 96)), [96]byte(random(r, 96))}
				want := okm
				seedKeysPairGeneric(&want[0], &want[1], &ck, &seed, l, n)
				if seedKeysPairSHANI(&okm[0], &okm[1], &ck, &seed, &l.blocks, n); okm != want {
					t.Fatalf("%d blocks of keys of %x and %x: %x, those of the twin %x", n, ck, seed, okm, want)
				}
			}
			if l.blocks != blocks || seed != wantSeed {
				t.Fatal("the inputs have changed")
			}
			ck = next
		}
	}
}
