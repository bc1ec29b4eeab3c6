package curve

import (
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/impl"
)

// TestReport holds that the report names every operation, the tier that serves
// it, and why a faster one does not.
func TestReport(t *testing.T) {
	t.Setenv("SIGCORE_TEST_IMPL", "curve") // no parallel test may follow the toggles
	t.Cleanup(func() { impl.Reset("curve") })
	line := func(op string) (first, rest string) {
		_, rest, ok := strings.Cut("\n"+Report(), "\ncurve."+op+": ")
		if !ok {
			t.Fatalf("no operation %s in\n%s", op, Report())
		}
		first, rest, _ = strings.Cut(rest, "\n")
		rest, _, _ = strings.Cut(rest, "\ncurve.")
		return first, rest
	}
	for _, op := range []string{
		"X25519", "X25519Batch", "PublicKey", "ScalarBaseMult", "ScalarMult", "VarTimeDoubleScalarBaseMult",
		"PrivateKey.Sign", "Ed25519PrivateKey.Sign", "Verify", "VerifyEd25519",
	} {
		line(op)
	}
	for _, name := range append(impl.List("curve"), "") {
		if !impl.Select("curve", name) {
			continue
		}
		op := "PublicKey"
		if name == "ifma" { // not every operation has a kernel of that tier
			op = "X25519Batch"
		}
		tier, why := line(op)
		if name == "" && (tier != "generic" || !strings.Contains(why, "not mulx: ")) || name != "" && tier != name {
			t.Errorf("with %q: %s\n%s", name, tier, why)
		}
	}
}
