package main

import (
	"encoding/hex"
	"encoding/json"
)

// hexBytes is a byte string, lower-case hexadecimal in JSON.
type hexBytes []byte

func (h *hexBytes) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s == nil {
		*h = nil
		return nil
	}
	b, err := hex.DecodeString(*s)
	*h = b
	return err
}

func (h hexBytes) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(h)) }

// array32 returns the 32 bytes of a private key or seed.
func (h hexBytes) array32() (*[32]byte, error) {
	if len(h) != 32 {
		return nil, badKeyf("key of %d bytes", len(h))
	}
	return (*[32]byte)(h), nil
}

// point returns the u-coordinate of a public key: 32 bytes, or 33 with the
// type byte 05.
func (h hexBytes) point() (*[32]byte, error) {
	switch {
	case len(h) == 32:
		return (*[32]byte)(h), nil
	case len(h) == 33 && h[0] == 5:
		return (*[32]byte)(h[1:]), nil
	case len(h) == 33:
		return nil, badKeyf("public key of type %#x", h[0])
	}
	return nil, badKeyf("public key of %d bytes", len(h))
}

// tagged returns the 33-byte form of a u-coordinate.
func tagged(u *[32]byte) hexBytes { return append(hexBytes{5}, u[:]...) }
