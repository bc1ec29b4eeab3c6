// Package cipher is AES-256-CBC with PKCS #7 padding.
package cipher

import (
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
)

// Errors of decryption.
var (
	ErrInvalidBlockSize    = errors.New("invalid block size")
	ErrInvalidPKCS7Data    = errors.New("invalid PKCS7 data (empty or not padded)")
	ErrInvalidPKCS7Padding = errors.New("invalid padding on input")
)

// Encrypt is EncryptCbc.
func Encrypt(iv, key, plaintext []byte) ([]byte, error) { return EncryptCbc(iv, key, plaintext) }

// Decrypt is DecryptCbc.
func Decrypt(iv, key, ciphertext []byte) ([]byte, error) { return DecryptCbc(iv, key, ciphertext) }

// EncryptCbc returns the padded plaintext encrypted. It writes nothing to
// plaintext or behind it.
func EncryptCbc(iv, key, plaintext []byte) ([]byte, error) {
	block, err := newCipher(iv, key)
	if err != nil {
		return nil, err
	}
	pad := aes.BlockSize - len(plaintext)%aes.BlockSize
	out := make([]byte, len(plaintext)+pad)
	for i := copy(out, plaintext); i < len(out); i++ {
		out[i] = byte(pad)
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(out, out)
	return out, nil
}

// DecryptCbc returns the plaintext without its padding, in memory of its own.
func DecryptCbc(iv, key, ciphertext []byte) ([]byte, error) {
	block, err := newCipher(iv, key)
	if err != nil {
		return nil, err
	}
	if len(ciphertext) == 0 {
		return nil, ErrInvalidPKCS7Data
	}
	if len(ciphertext)%aes.BlockSize != 0 {
		return nil, ErrInvalidBlockSize
	}
	out := make([]byte, len(ciphertext))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, ciphertext)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > aes.BlockSize {
		return nil, ErrInvalidPKCS7Padding
	}
	for _, b := range out[len(out)-pad:] {
		if int(b) != pad {
			return nil, ErrInvalidPKCS7Padding
		}
	}
	return out[:len(out)-pad], nil
}

func newCipher(iv, key []byte) (cipher.Block, error) {
	if len(iv) != aes.BlockSize {
		return nil, fmt.Errorf("initialization vector of %d bytes", len(iv))
	}
	return aes.NewCipher(key)
}
