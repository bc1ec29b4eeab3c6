// Package draw has random bytes. They come from the keys that package curve makes,
// which holds the only source of randomness.
package draw

import (
	"crypto/sha512"

	"github.com/sigcore/sigcore/curve"
)

// Bytes returns 64 random bytes: the hash of a key that was made for this. It
// panics if there is no randomness.
func Bytes() [64]byte {
	key, err := curve.GenerateKey()
	if err != nil {
		panic("draw: no randomness")
	}
	return sha512.Sum512(key.Bytes())
}
