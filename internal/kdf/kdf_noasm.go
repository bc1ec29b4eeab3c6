//go:build !amd64 || purego

package kdf

func init() { operations() }

func chainStep(seed, next, ck *[32]byte) { chainStepGeneric(seed, next, ck) }

func hmacOf(out, key *[32]byte, parts [][]byte) { hmacGeneric(out, key, parts) }

func seedKeys(okm *[96]byte, seed *[32]byte, l *Label, n int) { seedKeysGeneric(okm, seed, l, n) }
