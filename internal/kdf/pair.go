package kdf

// Two at once: each function is as two calls of the one that it is named after.

// SeedKeys64Pair is SeedKeys64 for two seeds.
func (l *Label) SeedKeys64Pair(okm0, okm1 *[64]byte, seed0, seed1 *[32]byte) {
	var b [2][96]byte
	seedKeysPair(&b[0], &b[1], seed0, seed1, l, 2)
	*okm0, *okm1 = [64]byte(b[0][:64]), [64]byte(b[1][:64])
	b = [2][96]byte{}
}

// SeedKeys96Pair is SeedKeys96 for two seeds.
func (l *Label) SeedKeys96Pair(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte) {
	seedKeysPair(okm0, okm1, seed0, seed1, l, 3)
}

func seedKeysPairGeneric(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, l *Label, n int) {
	seedKeysGeneric(okm0, seed0, l, n)
	seedKeysGeneric(okm1, seed1, l, n)
}

// HMACPair is HMAC for two messages, each in parts, that need not be of one
// length. out0 and out1 may be the keys.
func HMACPair(out0, out1, key0, key1 *[32]byte, parts0, parts1 [][]byte) {
	hmacPair(out0, out1, key0, key1, parts0, parts1)
}

func hmacPairGeneric(out0, out1, key0, key1 *[32]byte, parts0, parts1 [][]byte) {
	var first [32]byte
	hmacGeneric(&first, key0, parts0)
	hmacGeneric(out1, key1, parts1)
	*out0 = first
	clear(first[:])
}
