package testvec

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
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

// Wycheproof reads a file of Project Wycheproof's test vectors into v. It skips
// the test where the module is not there, unless SIGCORE_TEST_REQUIRE names
// wycheproof.
func Wycheproof(t *testing.T, name string, v any) {
	t.Helper()
	dir, err := wycheproofDir()
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("SIGCORE_TEST_REQUIRE"), ","), "wycheproof") {
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
