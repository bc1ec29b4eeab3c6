package curve

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// Importing the module would embed its 107 MB; its files are read from the
// module cache instead.
const wycheproofModule = "github.com/c2sp/wycheproof@v0.0.0-20260902155932-3fa63dd0344a"

var wycheproofDir = sync.OnceValues(func() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", wycheproofModule)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var mod struct{ Dir, Error string }
	if e := json.Unmarshal(out, &mod); e == nil && mod.Error != "" {
		return "", errors.New(mod.Error)
	}
	return mod.Dir, err
})

// wycheproof reads a file of test vectors into v. It skips the test where the
// module is not there, unless SIGCORE_TEST_REQUIRE names wycheproof.
func wycheproof(t *testing.T, name string, v any) {
	t.Helper()
	dir, err := wycheproofDir()
	if err != nil {
		if impltest.Required("wycheproof") {
			t.Fatalf("wycheproof is required: %v", err)
		}
		t.Skipf("no Wycheproof vectors: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "testvectors_v1", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatal(err)
	}
}

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
	wycheproof(t, "x25519_test.json", &file)
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
	wycheproof(t, "ed25519_test.json", &file)
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
