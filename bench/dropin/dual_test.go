package dropin_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/bench/dropin"
)

// TestDual runs random conversations in which each device is both implementations
// at once. SIGCORE_TEST_LONG makes it ten thousand; SIGCORE_TEST_SEED and
// SIGCORE_TEST_STEPS choose the first one and how many.
func TestDual(t *testing.T) {
	program, err := dropin.Dual(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	seed, n := "1", "200"
	if os.Getenv("SIGCORE_TEST_LONG") != "" {
		n = "10000"
	}
	if s := os.Getenv("SIGCORE_TEST_SEED"); s != "" {
		seed = s
	}
	if s := os.Getenv("SIGCORE_TEST_STEPS"); s != "" {
		n = s
	}
	cmd := exec.Command(program, "-seed", seed, "-n", n)
	// Both would register the protobuf messages of the incumbent if both had them.
	cmd.Env = append(os.Environ(), "GOLANG_PROTOBUF_REGISTRATION_CONFLICT=ignore")
	out, err := cmd.CombinedOutput()
	// Without the log of the incumbent.
	text := regexp.MustCompile(`(?m)^(\[|DEBUG|INFO|WARN|ERROR).*\n`).ReplaceAllString(string(out), "")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !strings.Contains(text, "decrypt: ok") || !strings.Contains(text, "ratchet step") {
		t.Errorf("nothing was compared:\n%s", text)
	}
	t.Log("\n" + text)
}
