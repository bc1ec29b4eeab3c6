//go:build !purego

package aescbc

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useAESNI turns on the kernels of the tier aesni. No level of GOAMD64 has it.
var useAESNI = cpu.AESNI

func init() {
	impl.Register("aesni", &useAESNI, false)
	if useAESNI && !kernelsAESNI.selfTest() {
		impl.Demote(&useAESNI, "aescbc: kernel self-test failed")
	}
	operations(&useAESNI)
}

func encrypt(b []byte, key *[32]byte, iv *[16]byte) {
	if useAESNI {
		encryptAESNI(&b[0], len(b)/BlockSize, key, iv)
	} else {
		encryptGeneric(b, key, iv)
	}
}

func decrypt(dst, src []byte, key *[32]byte, iv *[16]byte) {
	switch {
	case !useAESNI:
		decryptGeneric(dst, src, key, iv)
	case len(src) >= group*BlockSize:
		decryptAESNI(&dst[0], &src[0], len(src)/BlockSize, key, iv)
	default:
		// One group is as fast as one block.
		var in, out [group * BlockSize]byte
		copy(in[:], src)
		decryptAESNI(&out[0], &in[0], group, key, iv)
		copy(dst, out[:])
		clear(out[:])
	}
}

// group is how many blocks the kernel decrypts at a time, and the least that it
// takes.
const group = 8

func encryptPair(b0, b1 []byte, key0, key1 *[32]byte, iv0, iv1 *[16]byte) {
	n := min(len(b0), len(b1))
	if !useAESNI || n == 0 {
		encryptPairGeneric(b0, b1, key0, key1, iv0, iv1)
		return
	}
	// The rest of the longer one goes on from the block before.
	last0, last1 := *iv0, *iv1
	encryptPairAESNI(&b0[0], &b1[0], n/BlockSize, key0, key1, &last0, &last1)
	Encrypt(b0[n:], key0, &last0)
	Encrypt(b1[n:], key1, &last1)
}
