package signal

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

func TestWycheproofCBC(t *testing.T) {
	var file struct {
		TestGroups []struct {
			KeySize int
			Tests   []struct {
				TcID             int
				Key, IV, Msg, CT testvec.Hex
				Result           string
				Flags            []string
			}
		}
	}
	testvec.Wycheproof(t, "aes_cbc_pkcs5_test.json", &file)
	impltest.All(t, "aescbc", func(t *testing.T) {
		valid, invalid := 0, 0
		for _, g := range file.TestGroups {
			if g.KeySize != 256 {
				continue
			}
			for _, c := range g.Tests {
				key, iv := c.Key.Array32(), (*[16]byte)(c.IV)
				plain, err := appendCBCPlain([]byte("dst:"), key, iv, c.CT)
				if c.Result != "valid" {
					invalid++
					if !errors.Is(err, ErrMalformed) || plain != nil {
						t.Errorf("case %d, %v: %x, %v", c.TcID, c.Flags, plain, err)
					}
					continue
				}
				valid++
				if err != nil || !bytes.Equal(plain[4:], c.Msg) {
					t.Errorf("case %d: %x, %v, want %x", c.TcID, plain, err, c.Msg)
				}
				b := appendPadded(nil, c.Msg)
				if aescbc.Encrypt(b, key, iv); !bytes.Equal(b, c.CT) {
					t.Errorf("case %d: %x, want %x", c.TcID, b, c.CT)
				}
			}
		}
		if valid < 20 || invalid < 20 {
			t.Errorf("%d valid cases and %d invalid ones", valid, invalid)
		}
	})
}
