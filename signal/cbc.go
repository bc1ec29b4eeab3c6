package signal

import (
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/internal/aescbc"
)

// paddedSize is the size of the ciphertext of n bytes: PKCS #7 adds 1 to 16.
func paddedSize(n int) int { return n - n%aescbc.BlockSize + aescbc.BlockSize }

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

// clearPlain wipes a plaintext of m that was appended to dst, with its padding.
func (m *SignalMessage) clearPlain(dst, plain []byte) {
	clear(plain[len(dst) : len(dst)+len(m.Ciphertext)])
}

// appendCBCPlain appends the plaintext of an AES-256-CBC ciphertext. An
// ErrMalformed leaves nothing of the plaintext in the capacity of dst. It is
// not a padding oracle: only authenticated ciphertexts come here.
func appendCBCPlain(dst []byte, key *[32]byte, iv *[16]byte, ciphertext []byte) ([]byte, error) {
	n := len(ciphertext)
	if n == 0 || n%aescbc.BlockSize != 0 {
		return nil, fmt.Errorf("signal: ciphertext of %d bytes: %w", n, ErrMalformed)
	}
	dst = slices.Grow(dst, n)
	plain := dst[len(dst) : len(dst)+n]
	aescbc.Decrypt(plain, ciphertext, key, iv)
	pad := int(plain[n-1])
	ok := 1 <= pad && pad <= aescbc.BlockSize
	for i := n - aescbc.BlockSize; i < n; i++ {
		ok = ok && (i < n-pad || plain[i] == byte(pad))
	}
	if !ok {
		clear(plain)
		return nil, fmt.Errorf("signal: padding: %w", ErrMalformed)
	}
	return dst[:len(dst)+n-pad], nil
}
