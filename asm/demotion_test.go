package asm

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

// What a process with a lying kernel does at its start: it does not select the
// kernel but the next tier, says so in its report, and computes what is right.
// The kernels lie through an overlay, one unit in each process: their code flips
// a bit of the result before it returns.
func TestLyingKernelsAreDemoted(t *testing.T) {
	if !cpu.MULX {
		t.Skip(cpu.Reason("mulx"))
	}
	honest, out := startUp(t, nil, "")
	if len(honest) < 20 {
		t.Fatalf("the report of %d operations in\n%s", len(honest), out)
	}
	// Kernels of the tier mulx may stand behind those of the tier ifma.
	const without = "SIGCORE_CPU=ifma=off"
	lesser, _ := startUp(t, nil, "", without)
	declared := stubs(t)
	units := map[string][]kernelText{}
	for _, k := range kernelTexts(t) {
		if filepath.Base(filepath.Dir(k.file)) != "cpu" {
			units[k.file] = append(units[k.file], k)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(units)) {
		if testing.Short() && filepath.Base(file) != "ladder_amd64.s" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lying := string(text)
			for _, k := range units[file] {
				lie := fmt.Sprintf("\tMOVQ %s+0(FP), AX\n\tXORB $0x10, (AX)\n\tRET\n", firstParameter(t, declared[k.name]))
				lying = strings.Replace(lying, k.body, strings.ReplaceAll(k.body, "\tRET\n", lie), 1)
			}
			honest, env := honest, []string(nil)
			if suffix(units[file][0].name) != "IFMA" {
				honest, env = lesser, []string{without}
			}
			report, out := startUp(t, map[string]string{file: lying}, "", env...)
			demoted := 0
			for name, o := range report {
				if o == honest[name] {
					continue
				}
				demoted++
				pkg, _, _ := strings.Cut(name, ".")
				was, next := honest[name].tier, []string{"generic"}
				if was == "ifma" { // behind a kernel for eight at once may stand one for four, or for one
					next = []string{"ifma", "mulx"}
				}
				if !slices.Contains(next, o.tier) || o.failed || !strings.Contains(o.why, "not "+was+": "+pkg+": kernel self-test failed\n") {
					t.Errorf("%s, which was on %s, is now: %+v", name, was, o)
				}
			}
			if demoted == 0 && !runsNowhere(honest, units[file]) {
				t.Errorf("no operation was demoted:\n%s", out)
			}
		})
	}
}

// A build that has nothing but the lying kernel refuses to compute.
func TestLyingKernelsAreRefused(t *testing.T) {
	if !cpu.MULX || testing.Short() {
		t.Skip("needs the tier mulx, and time")
	}
	for _, k := range kernelTexts(t) {
		if k.name != "ladderMULX" {
			continue
		}
		text, err := os.ReadFile(k.file)
		if err != nil {
			t.Fatal(err)
		}
		lying := strings.Replace(string(text), k.body, strings.Replace(k.body, "\tRET\n", "\tMOVQ x+0(FP), AX\n\tXORB $0x10, (AX)\n\tRET\n", 1), 1)
		report, out := startUp(t, map[string]string{k.file: lying}, "X25519 and what rests on it", "GOAMD64=v3")
		if o := report["curve.X25519"]; !o.failed || o.tier != "mulx" {
			t.Errorf("curve.X25519: %+v in\n%s", o, out)
		}
	}
}

// So does a process whose code without kernels lies, where it would run.
func TestLyingGenericCodeIsRefused(t *testing.T) {
	file := filepath.Join(root, "curve", "ladder_generic.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const result = "*x, *z = x2.Words(), z2.Words()\n"
	lying := strings.Replace(string(text), result, result+"\tx[0] ^= 16\n", 1)
	if lying == string(text) {
		t.Fatal("the last line of the ladder was not found")
	}
	report, out := startUp(t, map[string]string{file: lying}, "every operation of curve", "SIGCORE_CPU=generic")
	for _, name := range []string{
		"X25519", "X25519Batch", "PublicKey", "ScalarBaseMult", "ScalarMult", "PrivateKey.Sign", "Ed25519PrivateKey.Sign",
		"VarTimeDoubleScalarBaseMult", "Verify", "VerificationKey.Verify", "VerifyEd25519",
	} {
		if o := report["curve."+name]; !o.failed || o.tier != "generic" {
			t.Errorf("curve.%s: %+v in\n%s", name, o, out)
		}
	}
}

// served is what the report says of an operation.
type served struct {
	tier   string
	failed bool
	why    string // the lines below
}

var reportLine = regexp.MustCompile(`^\s+(\w+\.[\w.]+): (\w+)( \(fails: .*\))?$`)

// startUp runs a test process with replaced files, and returns its report. Unless
// refused says what is expected to fail, known answers of the operations are
// tested in another process with the same files.
func startUp(t *testing.T, files map[string]string, refused string, env ...string) (map[string]served, string) {
	t.Helper()
	file := overlay(t, files)
	run := func(env []string, args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{"test", "-overlay", file, "-vet=off", "-count=1", "-short", "-v"}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(env, "-run", "^TestDispatch$", ".")
	if (err != nil) != (refused != "") {
		t.Fatalf("%v\n%s", err, out)
	}
	if refused == "" && files != nil {
		if out, err := run(env, "-run", "^(TestRFC7748Vectors|TestX25519Batch|TestRFC8032Vectors|TestXEdDSARecordings|TestChainStep|TestSeedKeys|TestHMAC|TestEdges|TestKnownAnswers)$",
			"./field", "./curve", "./internal/kdf", "./internal/aescbc"); err != nil {
			t.Errorf("known answers: %v\n%s", err, out)
		}
	}
	report := map[string]served{}
	name := ""
	for line := range strings.Lines(out) {
		if m := reportLine.FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
			name = m[1]
			report[name] = served{tier: m[2], failed: m[3] != ""}
		} else if o, ok := report[name]; ok && strings.HasPrefix(strings.TrimSpace(line), "not ") {
			o.why += strings.TrimSpace(line) + "\n"
			report[name] = o
		}
	}
	return report, out
}

var parameterName = regexp.MustCompile(`^\((\w+)`)

func firstParameter(t *testing.T, declaration string) string {
	t.Helper()
	m := parameterName.FindStringSubmatch(declaration)
	if m == nil {
		t.Fatalf("no parameter in %q", declaration)
	}
	return m[1]
}

// runsNowhere reports whether no operation of the report runs a tier of the
// kernels, because this processor lacks it.
func runsNowhere(report map[string]served, kernels []kernelText) bool {
	for _, k := range kernels {
		for _, o := range report {
			if strings.HasSuffix(strings.ToLower(k.name), o.tier) {
				return false
			}
		}
	}
	return true
}
