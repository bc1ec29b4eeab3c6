package kdf

import (
	"bytes"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

func TestWycheproofHMAC(t *testing.T) {
	var file struct {
		TestGroups []struct {
			KeySize, TagSize int
			Tests            []struct {
				TcID          int
				Key, Msg, Tag testvec.Hex
				Result        string
			}
		}
	}
	testvec.Wycheproof(t, "hmac_sha256_test.json", &file)
	impltest.All(t, "kdf", func(t *testing.T) {
		n := 0
		for _, g := range file.TestGroups {
			if g.KeySize != 256 {
				continue // keys here have 32 bytes
			}
			for _, c := range g.Tests {
				n++
				var tag [32]byte
				HMAC(&tag, c.Key.Array32(), c.Msg)
				if bytes.Equal(tag[:g.TagSize/8], c.Tag) != (c.Result == "valid") {
					t.Errorf("case %d, %s: %x, and it has %x", c.TcID, c.Result, tag, c.Tag)
				}
				var other [32]byte
				HMACPair(&tag, &other, c.Key.Array32(), c.Key.Array32(), [][]byte{c.Msg}, [][]byte{c.Msg, nil})
				if tag != other || bytes.Equal(tag[:g.TagSize/8], c.Tag) != (c.Result == "valid") {
					t.Errorf("case %d, %s, twice: %x and %x, and it has %x", c.TcID, c.Result, tag, other, c.Tag)
				}
			}
		}
		if n < 50 {
			t.Errorf("only %d cases", n)
		}
	})
}

func TestWycheproofHKDF(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			Tests []struct {
				TcID                 int
				IKM, Salt, Info, OKM testvec.Hex
				Size                 int
				Result               string
			}
		}
	}
	testvec.Wycheproof(t, "hkdf_sha256_test.json", &file)
	n := 0
	for _, g := range file.TestGroups {
		for _, c := range g.Tests {
			n++
			if c.Result != "valid" {
				if c.Size <= 255*size {
					t.Errorf("case %d is %s", c.TcID, c.Result)
				}
				continue // too long, which TestHKDF has
			}
			okm := make([]byte, c.Size)
			if HKDF(okm, c.IKM, c.Salt, c.Info); !bytes.Equal(okm, c.OKM) {
				t.Errorf("case %d: %x, want %x", c.TcID, okm, c.OKM)
			}
		}
	}
	if n != file.NumberOfTests || n < 50 {
		t.Errorf("%d cases of %d", n, file.NumberOfTests)
	}
}
