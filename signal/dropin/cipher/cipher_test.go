package cipher

import (
	"bytes"
	"errors"
	"testing"
)

func TestCBC(t *testing.T) {
	key, iv := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 16)
	for n := range 65 {
		memory := bytes.Repeat([]byte{0xaa}, n+32)
		ciphertext, err := Encrypt(iv, key, memory[:n])
		if err != nil || len(ciphertext) != n/16*16+16 {
			t.Fatalf("%d bytes of %d: %v", len(ciphertext), n, err)
		}
		if !bytes.Equal(memory, bytes.Repeat([]byte{0xaa}, n+32)) {
			t.Error("memory behind the plaintext was written")
		}
		before := bytes.Clone(ciphertext)
		plaintext, err := Decrypt(iv, key, ciphertext)
		if err != nil || !bytes.Equal(plaintext, memory[:n]) || !bytes.Equal(before, ciphertext) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if _, err := Decrypt(iv, key, nil); !errors.Is(err, ErrInvalidPKCS7Data) {
		t.Errorf("empty: %v", err)
	}
	if _, err := Decrypt(iv, key, make([]byte, 17)); !errors.Is(err, ErrInvalidBlockSize) {
		t.Errorf("17 bytes: %v", err)
	}
	refused := 0
	for i := range 16 {
		c, err := Encrypt(iv, key, make([]byte, 16))
		if err != nil {
			t.Fatal(err)
		}
		c[i] ^= 0x80 // changes a byte of the padding
		if _, err := Decrypt(iv, key, c); errors.Is(err, ErrInvalidPKCS7Padding) {
			refused++
		}
	}
	if refused != 16 {
		t.Errorf("%d of 16 bad paddings are refused", refused)
	}
	if _, err := Encrypt(iv[:15], key, nil); err == nil {
		t.Error("short initialization vector")
	}
}
