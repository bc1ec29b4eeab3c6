//go:build !amd64 || purego

package kdf

func init() { operations() }

func chainStep(seed, next, ck *[32]byte) { chainStepGeneric(seed, next, ck) }

func hmacOf(out, key *[32]byte, parts [][]byte) { hmacGeneric(out, key, parts) }

func seedKeysPair(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, l *Label, n int) {
	seedKeysPairGeneric(okm0, okm1, seed0, seed1, l, n)
}

func hmacPair(out0, out1, key0, key1 *[32]byte, parts0, parts1 [][]byte) {
	hmacPairGeneric(out0, out1, key0, key1, parts0, parts1)
}

func seedKeys(okm *[96]byte, seed *[32]byte, l *Label, n int) { seedKeysGeneric(okm, seed, l, n) }
