package sigcore_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/curve"
	_ "github.com/sigcore/sigcore/field"
	_ "github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	_ "github.com/sigcore/sigcore/internal/kdf"
)

// TestDispatch shows what runs in this process, and checks it against the tiers
// that SIGCORE_TEST_REQUIRE names: generic requires that no kernel runs at all,
// but for hashes and ciphers, whose tiers stand beside the others; another one that every
// operation with a kernel for it runs it or a faster one.
func TestDispatch(t *testing.T) {
	report := impl.Report()
	t.Logf("GOAMD64=v3 constants: %v\n%s", cpu.V3, impl.String())
	if len(report) == 0 {
		t.Fatal("no operation is declared")
	}
	for _, entry := range cpu.UnknownMask() {
		t.Errorf("SIGCORE_CPU has the unknown entry %q", entry)
	}
	for _, o := range report {
		if o.Failed != "" {
			t.Errorf("%s.%s fails: %s", o.Package, o.Name, o.Failed)
		}
		if o.Tier != "generic" && !cpu.V3 && cpu.Reason(o.Tier) != "" {
			t.Errorf("%s.%s runs %s, but: %s", o.Package, o.Name, o.Tier, cpu.Reason(o.Tier))
		}
	}
	if impltest.Required("generic") {
		for _, o := range report {
			if o.Tier != "generic" && !slices.Contains(cpu.Symmetric(), o.Tier) {
				t.Errorf("%s.%s runs %s", o.Package, o.Name, o.Tier)
			}
		}
	}
	for _, tier := range append(cpu.Tiers(), cpu.Symmetric()...) {
		if !impltest.Required(tier) {
			continue
		}
		served := 0
		for _, o := range report {
			want := slices.Index(o.Kernels, tier)
			if want < 0 {
				continue
			}
			if got := slices.Index(o.Kernels, o.Tier); got < 0 || got > want {
				t.Errorf("%s is required: %v", tier, o)
			} else {
				served++
			}
		}
		if served == 0 {
			t.Errorf("%s is required, and serves no operation", tier)
		}
	}
}

// TestForced asks for each tier that this process must not run: it is refused, and
// nothing of it executes, which would fault.
func TestForced(t *testing.T) {
	if cpu.V3 {
		t.Skip("a build for GOAMD64=v3 has its tier compiled in")
	}
	// RFC 7748, Section 5.2.
	scalar, _ := hex.DecodeString("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
	point, _ := hex.DecodeString("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
	const want = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
	refused := 0
	for _, tier := range append(cpu.Tiers(), cpu.Symmetric()...) {
		if cpu.Reason(tier) == "" {
			continue
		}
		refused++
		for _, pkg := range []string{"field", "curve", "kdf", "aescbc"} {
			if impl.Select(pkg, tier) {
				t.Errorf("%s takes the tier %s, although %s", pkg, tier, cpu.Reason(tier))
			}
			defer impl.Reset(pkg)
		}
		for _, o := range impl.Report() {
			if o.Tier != "generic" {
				t.Errorf("with %s refused, %s.%s runs %s", tier, o.Package, o.Name, o.Tier)
			}
		}
		var shared [32]byte
		if curve.X25519(&shared, (*[32]byte)(scalar), (*[32]byte)(point)); hex.EncodeToString(shared[:]) != want {
			t.Errorf("with %s refused, X25519 gives %x", tier, shared)
		}
	}
	t.Logf("%d tiers refused", refused)
}

// TestRefused shows that a build for GOAMD64=v3 whose tier this process must not
// run refuses to compute, and says why.
func TestRefused(t *testing.T) {
	if !cpu.Failed() {
		if impltest.Required("refused") {
			t.Fatal("this process may run what is compiled in")
		}
		t.Skip("needs GOAMD64=v3 and a mask that removes mulx")
	}
	for _, o := range impl.Report() {
		if slices.Contains(o.Kernels, "mulx") && o.Failed != cpu.Reason("mulx") {
			t.Errorf("%s.%s fails because of %q, want %q", o.Package, o.Name, o.Failed, cpu.Reason("mulx"))
		}
	}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.HasSuffix(text, ": kernel self-test failed") {
			t.Errorf("recovered %q", text)
		}
	}()
	key := [32]byte{9}
	curve.X25519(&key, &key, &key)
	t.Errorf("X25519 gives %x", key)
}
