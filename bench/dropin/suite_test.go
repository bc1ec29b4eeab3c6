package dropin_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/bench/dropin"
)

// TestSuite runs the tests of the incumbent over the drop-in. They are copied from
// the module cache, and stay in the temporary folder: they have another licence.
func TestSuite(t *testing.T) {
	for _, version := range []string{"v0.2.1", "v0.2.2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// The source is where a module finds it that requires it unreplaced.
			plain, err := dropin.NewModule(filepath.Join(dir, "plain"), false, dropin.Incumbent+" "+version)
			if err != nil {
				t.Fatal(err)
			}
			source, err := plain.Download(dropin.Incumbent, version)
			if err != nil {
				t.Fatal(err)
			}
			m, err := dropin.NewModule(filepath.Join(dir, "suite"), true, dropin.Incumbent+" "+version)
			if err != nil {
				t.Fatal(err)
			}
			all := func(string) bool { return true }
			if err := m.Copy(filepath.Join(source, "tests"), "suite", all); err != nil {
				t.Fatal(err)
			}
			out, err := m.Go("test", "-count=1", "-v", "./suite")
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(out, "--- PASS"); n < 10 {
				t.Errorf("%d tests ran:\n%s", n, out)
			}
		})
	}
}
