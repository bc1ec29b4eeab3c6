package signal

import (
	"crypto/aes"
	"crypto/subtle"
	"fmt"
	"slices"
)

// paddedSize is the size of the ciphertext of n bytes: PKCS #7 adds 1 to 16.
func paddedSize(n int) int { return n - n%aes.BlockSize + aes.BlockSize }

// appendPadded appends plaintext with PKCS #7 padding.
func appendPadded(dst, plaintext []byte) []byte {
	n := paddedSize(len(plaintext))
	dst = append(slices.Grow(dst, n), plaintext...)
	pad := n - len(plaintext)
	for range pad {
		dst = append(dst, byte(pad))
	}
	return dst
}

// encryptCBC encrypts whole blocks with AES-256-CBC in place. They are chained
// here and not by crypto/cipher, whose mode would be one more allocation than the
// key schedule.
func encryptCBC(b []byte, key *[32]byte, iv *[16]byte) {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("signal: internal error: " + err.Error()) // for other key lengths only
	}
	prev := iv[:]
	for ; len(b) > 0; b = b[aes.BlockSize:] {
		c := b[:aes.BlockSize]
		subtle.XORBytes(c, c, prev)
		block.Encrypt(c, c)
		prev = c
	}
}

// clearPlain wipes a plaintext of m that was appended to dst, with its padding.
func (m *SignalMessage) clearPlain(dst, plain []byte) {
	clear(plain[len(dst) : len(dst)+len(m.Ciphertext)])
}

// appendCBCPlain appends the plaintext of an AES-256-CBC ciphertext. An
// ErrMalformed leaves nothing of the plaintext in the capacity of dst. It is
// not a padding oracle: only authenticated ciphertexts come here.
func appendCBCPlain(dst []byte, key *[32]byte, iv *[16]byte, ciphertext []byte) ([]byte, error) {
	n := len(ciphertext)
	if n == 0 || n%aes.BlockSize != 0 {
		return nil, fmt.Errorf("signal: ciphertext of %d bytes: %w", n, ErrMalformed)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("signal: internal error: " + err.Error()) // for other key lengths only
	}
	dst = slices.Grow(dst, n)
	plain := dst[len(dst) : len(dst)+n]
	prev := iv[:]
	for i := 0; i < n; i += aes.BlockSize {
		c, p := ciphertext[i:i+aes.BlockSize], plain[i:i+aes.BlockSize]
		block.Decrypt(p, c)
		subtle.XORBytes(p, p, prev)
		prev = c
	}
	pad := int(plain[n-1])
	ok := 1 <= pad && pad <= aes.BlockSize
	for i := n - aes.BlockSize; i < n; i++ {
		ok = ok && (i < n-pad || plain[i] == byte(pad))
	}
	if !ok {
		clear(plain)
		return nil, fmt.Errorf("signal: padding: %w", ErrMalformed)
	}
	return dst[:len(dst)+n-pad], nil
}
