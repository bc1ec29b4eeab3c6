package impltest

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

var useFast, useMissing = true, false

func init() {
	impl.Register("fast", &useFast, false)
	impl.Register("missing", &useMissing, false)
	impl.Operation("Test", &useMissing, &useFast)
}

func TestAll(t *testing.T) {
	var ran []string
	t.Run("run", func(t *testing.T) {
		All(t, "impltest", func(t *testing.T) {
			name := t.Name()[strings.LastIndex(t.Name(), "=")+1:]
			ran = append(ran, name)
			if useFast != (name == "fast") || useMissing {
				t.Errorf("%s: fast is %v, missing is %v", name, useFast, useMissing)
			}
		})
	})
	if !slices.Equal(ran, []string{"fast", "generic"}) {
		t.Errorf("ran under %v", ran)
	}
	if !useFast || useMissing {
		t.Errorf("after the test: fast is %v, missing is %v", useFast, useMissing)
	}
}

// child is the body of the processes that TestFailures starts.
func TestChild(t *testing.T) {
	pkg := os.Getenv("SIGCORE_TEST_CHILD")
	if pkg == "" {
		t.Skip("runs in a child process")
	}
	if pkg == "parallel" {
		t.Parallel()
		pkg = "impltest"
	}
	All(t, pkg, func(t *testing.T) { t.Log("body of " + t.Name()) })
}

// What must fail fails: a required set that may not run, a package that does
// not exist, a parallel test. The test binary is its own subject.
func TestFailures(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	for _, tc := range []struct {
		name, pkg, require string
		fails              bool
		output             string
	}{
		{"nothing required", "impltest", "", false, "body of TestChild/impl=generic"},
		{"available", "impltest", "wycheproof,fast", false, "body of TestChild/impl=fast"},
		{"missing", "impltest", "fast,missing", true, "missing is required"},
		{"part of a name", "impltest", "missin,issing", false, "may not run"},
		{"unknown package", "impltes", "", true, "has registered no kernel"},
		{"parallel", "parallel", "", true, "panic"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command(exe, "-test.run=^TestChild$", "-test.v")
			cmd.Env = append(os.Environ(), "SIGCORE_TEST_CHILD="+tc.pkg, "SIGCORE_TEST_REQUIRE="+tc.require)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Skipf("cannot start a process here: %v", err)
			}
			if (err != nil) != tc.fails || !strings.Contains(string(out), tc.output) {
				t.Errorf("%v\n%s\nwant failure %v and %q", err, out, tc.fails, tc.output)
			}
		})
	}
}
