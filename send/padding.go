package send

import (
	"fmt"

	"github.com/sigcore/sigcore/internal/random"
)

// MaxPadding is the largest number of bytes that padding adds.
const MaxPadding = 16

// AppendPadding appends padding of version 2 to a plaintext: n bytes of value
// n, from 1 to 16, for which it draws one byte.
func AppendPadding(plaintext []byte) ([]byte, error) {
	var r [1]byte
	if err := random.Read(r[:]); err != nil {
		return plaintext, fmt.Errorf("send: padding: %w", err)
	}
	n := r[0]&0x0f + 1
	for range n {
		plaintext = append(plaintext, n)
	}
	return plaintext, nil
}

// Unpad returns a decrypted plaintext without its padding; the result is part
// of b. version is that of the enc node: 3 has no padding, all others have
// that of version 2, of which 1 to 255 bytes are read. The error wraps
// [ErrPadding]. It takes variable time: the plaintext is authenticated.
func Unpad(b []byte, version int) ([]byte, error) {
	if version == 3 {
		return b, nil
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("%w: empty plaintext", ErrPadding)
	}
	n := b[len(b)-1]
	if n == 0 || int(n) > len(b) {
		return nil, fmt.Errorf("%w: %d bytes announced in %d", ErrPadding, n, len(b))
	}
	body, pad := b[:len(b)-int(n)], b[len(b)-int(n):]
	for _, c := range pad {
		if c != n {
			return nil, fmt.Errorf("%w: its bytes differ", ErrPadding)
		}
	}
	return body, nil
}
