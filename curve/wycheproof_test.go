package curve

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

func TestWycheproofX25519(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			Tests []struct {
				TcID                    int
				Public, Private, Shared testvec.Hex
				Flags                   []string
			}
		}
	}
	testvec.Wycheproof(t, "x25519_test.json", &file)
	eachTier(t, func(t *testing.T) {
		n := 0
		for _, g := range file.TestGroups {
			for _, c := range g.Tests {
				n++
				priv, pub, want := c.Private.Array32(), c.Public.Array32(), c.Shared.Array32()
				var got [32]byte
				if X25519(&got, priv, pub); got != *want {
					t.Errorf("case %d: %x, want %x", c.TcID, got, *want)
				}
				clamped := *priv
				clamp(&clamped)
				canonical := bigOf(pub[:]).Cmp(bigP) < 0
				got = [32]byte{1}
				err := X25519Strict(&got, priv, pub)
				switch {
				case clamped != *priv || !canonical:
					if !errors.Is(err, ErrNonCanonical) || got != [32]byte{1} {
						t.Errorf("case %d: strict: %x, %v", c.TcID, got, err)
					}
				case slices.Contains(c.Flags, "ZeroSharedSecret"):
					if !errors.Is(err, ErrLowOrder) || got != [32]byte{1} {
						t.Errorf("case %d: strict: %x, %v", c.TcID, got, err)
					}
				case err != nil || got != *want:
					t.Errorf("case %d: strict: %x, %v", c.TcID, got, err)
				}
			}
		}
		if n != file.NumberOfTests || n < 500 {
			t.Errorf("%d cases", n)
		}
	})
}

func TestWycheproofEd25519(t *testing.T) {
	var file struct {
		NumberOfTests int
		TestGroups    []struct {
			PublicKey struct{ Pk testvec.Hex }
			Tests     []struct {
				TcID     int
				Msg, Sig testvec.Hex
				Result   string
			}
		}
	}
	testvec.Wycheproof(t, "ed25519_test.json", &file)
	eachTier(t, func(t *testing.T) {
		n := 0
		for _, g := range file.TestGroups {
			for _, c := range g.Tests {
				n++
				msg, sig := bytes.Clone(c.Msg), bytes.Clone(c.Sig)
				if got := VerifyEd25519(g.PublicKey.Pk.Array32(), msg, sig); got != (c.Result == "valid") {
					t.Errorf("case %d: verdict %v, want %s", c.TcID, got, c.Result)
				}
				if !bytes.Equal(msg, c.Msg) || !bytes.Equal(sig, c.Sig) {
					t.Errorf("case %d: inputs modified", c.TcID)
				}
			}
		}
		if n != file.NumberOfTests || n < 150 {
			t.Errorf("%d cases", n)
		}
	})
}
