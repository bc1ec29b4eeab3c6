//go:build !purego

package kdf

import "encoding/binary"

// A kernelSet is the kernels of a tier.
type kernelSet struct {
	chainStep      func(seed, next, ck *[32]byte)
	seedKeys       func(okm *[96]byte, seed *[32]byte, blocks *[3][64]byte, n int)
	seedKeysPair   func(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, blocks *[3][64]byte, n int)
	hmacPads       func(state *[2][32]byte, key *[32]byte)
	hmacBlocks     func(state *[32]byte, p *byte, n int)
	hmacBlocksPair func(state0, state1 *[32]byte, p0, p1 *byte, n int)
	hmacEnd        func(out *[32]byte, state *[2][32]byte)
	hmacEndPair    func(out0, out1 *[32]byte, state0, state1 *[2][32]byte)
}

var kernelsSHANI = kernelSet{
	chainStepSHANI, seedKeysSHANI, seedKeysPairSHANI,
	hmacPadsSHANI, hmacBlocksSHANI, hmacBlocksPairSHANI, hmacEndSHANI, hmacEndPairSHANI,
}

// selfTest reports whether the kernels give the results of their twins on a walk
// from a key, for lengths of messages that end before, in and behind the length
// of a block.
func (k *kernelSet) selfTest() bool {
	l := NewLabel("WhisperMessageKeys")
	var long [150]byte
	for i := range long {
		long[i] = byte(i*i + 7*i + 1)
	}
	ck := [32]byte{0: 1, 7: 0xff, 31: 0x80}
	for n := 2; n <= 3; n++ {
		var seed, next, wantSeed, wantNext [32]byte
		k.chainStep(&seed, &next, &ck)
		chainStepGeneric(&wantSeed, &wantNext, &ck)
		if seed != wantSeed || next != wantNext {
			return false
		}
		var okm, other, want, wantOther [96]byte
		seedKeysGeneric(&want, &seed, l, n)
		seedKeysGeneric(&wantOther, &ck, l, n)
		k.seedKeys(&okm, &seed, &l.blocks, n)
		if okm != want {
			return false
		}
		k.seedKeysPair(&okm, &other, &seed, &ck, &l.blocks, n)
		if okm != want || other != wantOther {
			return false
		}
		for _, length := range []int{0, 55, 56, 150} {
			var blocks, others [4 * blockSize]byte
			copy(blocks[:], long[:length])
			copy(others[:], seed[:min(length, size)])
			copy(others[min(length, size):], long[size:max(length, size)])
			hmacGeneric(&wantSeed, &ck, [][]byte{blocks[:length]})
			hmacGeneric(&wantNext, &seed, [][]byte{others[:length]})
			end := finish(&blocks, length)
			finish(&others, length)
			var state, second [2][32]byte
			var tag, twin [32]byte
			k.hmacPads(&state, &ck)
			k.hmacPads(&second, &seed)
			inner := state[0]
			k.hmacBlocks(&state[0], &blocks[0], end)
			k.hmacEnd(&tag, &state)
			if tag != wantSeed {
				return false
			}
			state[0] = inner
			k.hmacBlocksPair(&state[0], &second[0], &blocks[0], &others[0], end)
			k.hmacEndPair(&tag, &twin, &state, &second)
			if tag != wantSeed || twin != wantNext {
				return false
			}
		}
		ck = next
	}
	return true
}

// finish pads a message of n bytes behind the pad of a key, and returns how many
// blocks it has.
func finish(b *[4 * blockSize]byte, n int) (blocks int) {
	blocks = (n + 1 + 8 + blockSize - 1) / blockSize
	b[n] = 0x80
	binary.BigEndian.PutUint64(b[blocks*blockSize-8:], 8*uint64(blockSize+n))
	return blocks
}
