// Package aescbc implements AES-256 in CBC mode over whole blocks, without
// padding, for messages that each have a key of their own: the key schedule is
// made on the stack at every call. Nothing is allocated where there are kernels,
// which crypto/aes cannot avoid: its key schedule is always on the heap.
//
// It authenticates nothing. Decrypt what a MAC or a signature has proved.
//
// Constant time: the kernels depend on lengths only; crypto/aes is constant time
// wherever the processor has instructions for AES, and not elsewhere.
//
// Implementations: kernels for processors with AES-NI (aesni), crypto/aes
// everywhere.
//
// References: FIPS 197 (AES), NIST SP 800-38A (CBC).
package aescbc

//go:generate go run -C ../../asm ./aescbc -out ../internal/aescbc/aescbc_amd64.s -stubs ../internal/aescbc/aescbc_stubs_amd64.go -pkg aescbc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
)

// BlockSize is the size of a block in bytes.
const BlockSize = aes.BlockSize

// Encrypt encrypts b, whole blocks, in place. It panics if b is not whole blocks.
func Encrypt(b []byte, key *[32]byte, iv *[16]byte) {
	whole(b)
	if len(b) > 0 {
		encrypt(b, key, iv)
	}
}

// EncryptPair is Encrypt of b0 and of b1, which do not overlap.
func EncryptPair(b0, b1 []byte, key0, key1 *[32]byte, iv0, iv1 *[16]byte) {
	whole(b0)
	whole(b1)
	encryptPair(b0, b1, key0, key1, iv0, iv1)
}

// Decrypt sets dst to the decryption of src, whole blocks of the same number,
// which it does not overlap. It panics if they are not.
func Decrypt(dst, src []byte, key *[32]byte, iv *[16]byte) {
	whole(src)
	if len(dst) != len(src) {
		panic("aescbc: mismatched lengths")
	}
	if len(src) > 0 {
		decrypt(dst, src, key, iv)
	}
}

func whole(b []byte) {
	if len(b)%BlockSize != 0 {
		panic("aescbc: not whole blocks")
	}
}

func newCipher(key *[32]byte) cipher.Block {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("aescbc: internal error: " + err.Error()) // for other key lengths only
	}
	return block
}

// The blocks are chained here and not by crypto/cipher, whose mode would be one
// more allocation than the key schedule.

func encryptGeneric(b []byte, key *[32]byte, iv *[16]byte) { chain(newCipher(key), b, iv[:]) }

func encryptPairGeneric(b0, b1 []byte, key0, key1 *[32]byte, iv0, iv1 *[16]byte) {
	Encrypt(b0, key0, iv0)
	Encrypt(b1, key1, iv1)
}

// chain encrypts b in place, with prev as the block before it.
func chain(block cipher.Block, b, prev []byte) {
	for ; len(b) > 0; b = b[BlockSize:] {
		c := b[:BlockSize]
		subtle.XORBytes(c, c, prev)
		block.Encrypt(c, c)
		prev = c
	}
}

func decryptGeneric(dst, src []byte, key *[32]byte, iv *[16]byte) {
	block := newCipher(key)
	prev := iv[:]
	for i := 0; i < len(src); i += BlockSize {
		c, p := src[i:i+BlockSize], dst[i:i+BlockSize]
		block.Decrypt(p, c)
		subtle.XORBytes(p, p, prev)
		prev = c
	}
}
