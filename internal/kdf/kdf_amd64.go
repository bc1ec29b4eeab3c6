//go:build !purego

package kdf

import (
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// useSHANI turns on the kernels of the tier shani. No level of GOAMD64 has it.
var useSHANI = cpu.SHANI

func init() {
	impl.Register("shani", &useSHANI, false)
	if useSHANI && !kernelsSHANI.selfTest() {
		impl.Demote(&useSHANI, "kdf: kernel self-test failed")
	}
	operations(&useSHANI)
}

func hmacOf(out, key *[32]byte, parts [][]byte) {
	if useSHANI {
		hmacSHANI(out, key, parts)
	} else {
		hmacGeneric(out, key, parts)
	}
}

func chainStep(seed, next, ck *[32]byte) {
	if useSHANI {
		chainStepSHANI(seed, next, ck)
	} else {
		chainStepGeneric(seed, next, ck)
	}
}

func seedKeys(okm *[96]byte, seed *[32]byte, l *Label, n int) {
	if useSHANI {
		seedKeysSHANI(okm, seed, &l.blocks, n)
	} else {
		seedKeysGeneric(okm, seed, l, n)
	}
}
