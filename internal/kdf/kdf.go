// Package kdf implements HMAC-SHA256 and HKDF-SHA256 for the 32-byte keys of
// the Signal protocol, the chain step of the double ratchet, and the expansion
// of a message's seed.
//
// The functions work on fixed buffers on the stack and on crypto/sha256, which
// uses the processor's SHA extensions: nothing is allocated, which crypto/hmac
// and crypto/hkdf cannot avoid.
//
// Constant time: the functions depend on lengths only.
//
// Implementations: HMAC, the chain step and the expansion of a seed have kernels
// for processors with SHA, SSE4.1 and SSSE3 (shani), which hold a hash in
// registers from one block to the next, and of two messages in turns; generic
// everywhere.
//
// References: RFC 2104 (HMAC), RFC 5869 (HKDF).
package kdf

//go:generate go run -C ../../asm ./kdf -out ../internal/kdf/kdf_amd64.s -stubs ../internal/kdf/kdf_stubs_amd64.go -pkg kdf

import (
	"crypto/sha256"
	"crypto/subtle"
)

const (
	size      = sha256.Size
	blockSize = sha256.BlockSize
)

// The HMAC pads of the zero key.
var (
	zeroInner = padded(nil, 0x36)
	zeroOuter = padded(nil, 0x5c)
)

// padded returns the key, at most a block, XORed into a block of pad bytes.
func padded(key []byte, pad byte) (b [blockSize]byte) {
	for i := range b {
		b[i] = pad
	}
	subtle.XORBytes(b[:], b[:len(key)], key)
	return b
}

// HMAC sets out to the HMAC-SHA256 of the concatenation of parts. out may be
// key.
func HMAC(out, key *[32]byte, parts ...[]byte) { hmacOf(out, key, parts) }

func hmacGeneric(out, key *[32]byte, parts [][]byte) {
	inner, outer := padded(key[:], 0x36), padded(key[:], 0x5c)
	sum(out, &inner, &outer, parts...)
}

// sum is HMAC with a prepared key.
func sum(out *[32]byte, inner, outer *[blockSize]byte, parts ...[]byte) {
	h := sha256.New()
	h.Write(inner[:])
	for _, p := range parts {
		h.Write(p)
	}
	var buf [blockSize + size]byte
	copy(buf[:], outer[:])
	h.Sum(buf[:blockSize])
	*out = sha256.Sum256(buf[:])
}

// maxInfo is the longest info that expand keeps on the stack, in bytes.
const maxInfo = 64

// HKDF fills dst, at most 8160 bytes, with HKDF-SHA256 of the input keying
// material ikm. An empty salt means 32 zero bytes, as RFC 5869 says. dst must
// not overlap the inputs.
func HKDF(dst, ikm, salt, info []byte) {
	if len(dst) > 255*size {
		panic("kdf: output too long")
	}
	var prk [size]byte
	if len(salt) == 0 {
		sum(&prk, &zeroInner, &zeroOuter, ikm)
	} else {
		if len(salt) > blockSize {
			h := sha256.Sum256(salt)
			salt = h[:]
		}
		inner, outer := padded(salt, 0x36), padded(salt, 0x5c)
		sum(&prk, &inner, &outer, ikm)
	}
	if len(info) <= maxInfo {
		expand(dst, &prk, info)
	} else {
		expandLong(dst, &prk, info)
	}
	clear(prk[:])
}

// expand is HKDF-Expand for short info, which all of the protocol's is.
func expand(dst []byte, prk *[32]byte, info []byte) {
	// Block i is HMAC(prk, block i-1 ‖ info ‖ i); the first has no block
	// before it.
	var inner [blockSize + size + maxInfo + 1]byte
	var outer [blockSize + size]byte
	for i := range blockSize {
		inner[i], outer[i] = 0x36, 0x5c
	}
	for i := range size {
		inner[i] ^= prk[i]
		outer[i] ^= prk[i]
	}
	n := blockSize + copy(inner[blockSize:], info)
	for i := byte(1); len(dst) > 0; i++ {
		if i == 2 {
			// The first block overwrote the info: it goes behind from here on.
			n = blockSize + size + copy(inner[blockSize+size:], info)
		}
		inner[n] = i
		h := sha256.Sum256(inner[:n+1])
		copy(outer[blockSize:], h[:])
		h = sha256.Sum256(outer[:])
		copy(inner[blockSize:], h[:])
		dst = dst[copy(dst, h[:]):]
	}
	clear(inner[:])
	clear(outer[:])
}

// expandLong is HKDF-Expand for any info.
func expandLong(dst []byte, prk *[32]byte, info []byte) {
	inner, outer := padded(prk[:], 0x36), padded(prk[:], 0x5c)
	var block [size]byte
	prev := block[:0]
	for i := byte(1); len(dst) > 0; i++ {
		sum(&block, &inner, &outer, prev, info, []byte{i})
		prev = block[:]
		dst = dst[copy(dst, block[:]):]
	}
}
