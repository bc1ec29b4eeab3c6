package kdf

import "crypto/sha256"

// ChainStep derives from the chain key ck the message seed, its HMAC of the
// byte 1, and the next chain key, its HMAC of the byte 2. next may be ck.
func ChainStep(seed, next, ck *[32]byte) { chainStep(seed, next, ck) }

func chainStepGeneric(seed, next, ck *[32]byte) {
	// One key schedule serves both labels.
	var inner [blockSize + 1]byte
	var outer [blockSize + size]byte
	for i := range size {
		inner[i] = ck[i] ^ 0x36
		outer[i] = ck[i] ^ 0x5c
	}
	for i := size; i < blockSize; i++ {
		inner[i] = 0x36
		outer[i] = 0x5c
	}
	inner[blockSize] = 1
	h := sha256.Sum256(inner[:])
	copy(outer[blockSize:], h[:])
	*seed = sha256.Sum256(outer[:])

	inner[blockSize] = 2
	h = sha256.Sum256(inner[:])
	copy(outer[blockSize:], h[:])
	*next = sha256.Sum256(outer[:])
	clear(inner[:])
	clear(outer[:])
	clear(h[:])
}
