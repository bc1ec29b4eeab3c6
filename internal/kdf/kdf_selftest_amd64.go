//go:build !purego

package kdf

// selfTestSHANI reports whether the kernels give the results of their twins on
// a walk from a key.
func selfTestSHANI() bool {
	l := NewLabel("WhisperMessageKeys")
	ck := [32]byte{0: 1, 7: 0xff, 31: 0x80}
	for n := 2; n <= 3; n++ {
		var seed, next, wantSeed, wantNext [32]byte
		chainStepSHANI(&seed, &next, &ck)
		chainStepGeneric(&wantSeed, &wantNext, &ck)
		if seed != wantSeed || next != wantNext {
			return false
		}
		var okm, want [96]byte
		seedKeysSHANI(&okm, &seed, &l.blocks, n)
		seedKeysGeneric(&want, &seed, l, n)
		if okm != want {
			return false
		}
		// Lengths that end before, in and behind the length of a block.
		long := [150]byte{0: 1, 149: 0xff}
		for _, parts := range [][][]byte{{long[:55]}, {long[:1], long[:55]}, {long[:], seed[:]}} {
			hmacSHANI(&next, &ck, parts)
			hmacGeneric(&wantNext, &ck, parts)
			if next != wantNext {
				return false
			}
		}
		// Two at once, of lengths that end in different blocks.
		var pair, single [2][96]byte
		seedKeysPairSHANI(&pair[0], &pair[1], &ck, &seed, &l.blocks, n)
		seedKeysPairGeneric(&single[0], &single[1], &ck, &seed, l, n)
		if pair != single {
			return false
		}
		var tags, twins [2][32]byte
		for _, parts := range [2][2][][]byte{{{long[:]}, {long[:1], long[:55]}}, {{seed[:]}, {long[:], long[:100]}}} {
			hmacPairSHANI(&tags[0], &tags[1], &ck, &seed, parts[0], parts[1])
			hmacPairGeneric(&twins[0], &twins[1], &ck, &seed, parts[0], parts[1])
			if tags != twins {
				return false
			}
		}
		ck = next
	}
	return true
}
