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
	for name, mutant := range map[string]func() (noticed, differs bool){
		"chainStep":      func() (bool, bool) { return chainStepSHANIMutant(chainStepSHANI) },
		"seedKeys":       func() (bool, bool) { return seedKeysSHANIMutant(seedKeysSHANI) },
		"seedKeysPair":   func() (bool, bool) { return seedKeysPairSHANIMutant(seedKeysPairSHANI) },
		"hmacPads":       func() (bool, bool) { return hmacPadsSHANIMutant(hmacPadsSHANI) },
		"hmacBlocks":     func() (bool, bool) { return hmacBlocksSHANIMutant(hmacBlocksSHANI) },
		"hmacBlocksPair": func() (bool, bool) { return hmacBlocksPairSHANIMutant(hmacBlocksPairSHANI) },
		"hmacEnd":        func() (bool, bool) { return hmacEndSHANIMutant(hmacEndSHANI) },
		"hmacEndPair":    func() (bool, bool) { return hmacEndPairSHANIMutant(hmacEndPairSHANI) },
	} {
		if noticed, differs := mutant(); noticed || differs {
			t.Errorf("%s: the self-test fails: %v, gives another result: %v", name, noticed, differs)
		}
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

// The functions below try a kernel in the place of the one that it is named
// after: whether the self-test notices, and whether random inputs show a
// difference.

// noticedWith changes the kernels and runs the self-test.
func noticedWith(change func(k *kernelSet)) bool {
	k := kernelsSHANI
	change(&k)
	return !k.selfTest()
}

// differsSomewhere compares two functions of random bytes.
func differsSomewhere(got, want func(r *rand.Rand) [192]byte) (differs bool) {
	for seed := range uint64(5) {
		differs = differs || got(rand.New(rand.NewPCG(seed, 1))) != want(rand.New(rand.NewPCG(seed, 1)))
	}
	return differs
}

func random32(r *rand.Rand) *[32]byte { b := [32]byte(random(r, 32)); return &b }

func joined(parts ...[]byte) (b [192]byte) {
	n := 0
	for _, p := range parts {
		n += copy(b[n:], p)
	}
	return b
}

func chainStepSHANIMutant(f func(seed, next, ck *[32]byte)) (noticed, differs bool) {
	run := func(f func(seed, next, ck *[32]byte)) func(r *rand.Rand) [192]byte {
		return func(r *rand.Rand) [192]byte {
			var seed, next [32]byte
			f(&seed, &next, random32(r))
			return joined(seed[:], next[:])
		}
	}
	return noticedWith(func(k *kernelSet) { k.chainStep = f }), differsSomewhere(run(f), run(chainStepGeneric))
}

func seedKeysSHANIMutant(f func(okm *[96]byte, seed *[32]byte, blocks *[3][64]byte, n int)) (noticed, differs bool) {
	l := NewLabel("label")
	return noticedWith(func(k *kernelSet) { k.seedKeys = f }), differsSomewhere(func(r *rand.Rand) [192]byte {
		var okm [96]byte
		f(&okm, random32(r), &l.blocks, 3)
		return joined(okm[:])
	}, func(r *rand.Rand) [192]byte {
		var okm [96]byte
		seedKeysGeneric(&okm, random32(r), l, 3)
		return joined(okm[:])
	})
}

func seedKeysPairSHANIMutant(f func(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, blocks *[3][64]byte, n int)) (noticed, differs bool) {
	l := NewLabel("label")
	return noticedWith(func(k *kernelSet) { k.seedKeysPair = f }), differsSomewhere(func(r *rand.Rand) [192]byte {
		var okm [2][96]byte
		f(&okm[0], &okm[1], random32(r), random32(r), &l.blocks, 3)
		return joined(okm[0][:], okm[1][:])
	}, func(r *rand.Rand) [192]byte {
		var okm [2][96]byte
		seedKeysPairGeneric(&okm[0], &okm[1], random32(r), random32(r), l, 3)
		return joined(okm[0][:], okm[1][:])
	})
}

// hmacMutant compares the HMACs of two random messages of three blocks.
func hmacMutant(change func(k *kernelSet)) (noticed, differs bool) {
	const length = 150
	k := kernelsSHANI
	change(&k)
	return noticedWith(change), differsSomewhere(func(r *rand.Rand) [192]byte {
		var state [2][2][32]byte
		var blocks [2][4 * blockSize]byte
		end := 0
		for i := range state {
			k.hmacPads(&state[i], random32(r))
			copy(blocks[i][:], random(r, length))
			end = finish(&blocks[i], length)
		}
		single := state
		var tags [4][32]byte
		k.hmacBlocksPair(&state[0][0], &state[1][0], &blocks[0][0], &blocks[1][0], end)
		k.hmacEndPair(&tags[0], &tags[1], &state[0], &state[1])
		for i := range single {
			k.hmacBlocks(&single[i][0], &blocks[i][0], end)
			k.hmacEnd(&tags[2+i], &single[i])
		}
		return joined(tags[0][:], tags[1][:], tags[2][:], tags[3][:])
	}, func(r *rand.Rand) [192]byte {
		var tags [2][32]byte
		for i := range tags {
			key := random32(r)
			hmacGeneric(&tags[i], key, [][]byte{random(r, length)})
		}
		return joined(tags[0][:], tags[1][:], tags[0][:], tags[1][:])
	})
}

func hmacPadsSHANIMutant(f func(state *[2][32]byte, key *[32]byte)) (noticed, differs bool) {
	return hmacMutant(func(k *kernelSet) { k.hmacPads = f })
}

func hmacBlocksSHANIMutant(f func(state *[32]byte, p *byte, n int)) (noticed, differs bool) {
	return hmacMutant(func(k *kernelSet) { k.hmacBlocks = f })
}

func hmacBlocksPairSHANIMutant(f func(state0, state1 *[32]byte, p0, p1 *byte, n int)) (noticed, differs bool) {
	return hmacMutant(func(k *kernelSet) { k.hmacBlocksPair = f })
}

func hmacEndSHANIMutant(f func(out *[32]byte, state *[2][32]byte)) (noticed, differs bool) {
	return hmacMutant(func(k *kernelSet) { k.hmacEnd = f })
}

func hmacEndPairSHANIMutant(f func(out0, out1 *[32]byte, state0, state1 *[2][32]byte)) (noticed, differs bool) {
	return hmacMutant(func(k *kernelSet) { k.hmacEndPair = f })
}
