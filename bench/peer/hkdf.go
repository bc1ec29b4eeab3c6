package main

import (
	"fmt"

	"github.com/sigcore/sigcore/internal/kdf"
)

// maxHKDF is the most that HKDF with SHA-256 can give (RFC 5869, Section 2.3).
const maxHKDF = 255 * 32

func init() {
	register("hkdf", func(_ *peer, r *struct {
		IKM, Salt, Info hexBytes
		Len             *int
	},
	) (answer, error) {
		if r.IKM == nil || r.Len == nil {
			return nil, missing("ikm or len")
		}
		if *r.Len < 0 || *r.Len > maxHKDF {
			return nil, fmt.Errorf("%w: length %d", errBadRequest, *r.Len)
		}
		okm := make([]byte, *r.Len)
		kdf.HKDF(okm, r.IKM, r.Salt, r.Info)
		return answer{"okm": hexBytes(okm)}, nil
	})
}
