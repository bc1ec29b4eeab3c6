package asm

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

// withoutCarry are the instructions that take a carry, and what they are without.
var withoutCarry = map[string]string{"ADCQ": "ADDQ", "SBBQ": "SUBQ"}

var carryLine = regexp.MustCompile(`^\t(ADC|SBB|ADCX|ADOX|RCL|RCR)[BWLQ]\b`)

// mutants returns the bodies of a kernel in each of which one instruction does
// not take the carry that the one before it leaves, as if what stands between
// had cleared it; and the lines that were changed.
func mutants(t *testing.T, k kernelText) (bodies, lines []string) {
	t.Helper()
	all := strings.SplitAfter(k.body, "\n")
	for i, line := range all {
		m := carryLine.FindString(line)
		if m == "" {
			continue
		}
		op := strings.TrimSpace(m)
		without, ok := withoutCarry[op]
		if !ok {
			t.Fatalf("%s: %s has no form without a carry", k.name, op)
		}
		changed := slices.Clone(all)
		changed[i] = strings.Replace(line, op, without, 1)
		bodies = append(bodies, strings.Join(changed, ""))
		lines = append(lines, fmt.Sprintf("%s line %d: %s", k.name, i+1, strings.Join(strings.Fields(line), " ")))
	}
	return bodies, lines
}

// constants returns the lines of the file that define constants, which belong to
// the file.
func constants(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(regexp.MustCompile(`(?m)^(DATA|GLOBL) .*\n`).FindAllString(string(text), -1), "")
}

var stubLine = regexp.MustCompile(`(?m)^func (\w+)(\(.*)$`)

// stubs returns the declarations of the kernels, without their names.
func stubs(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, u := range units(t) {
		text, err := os.ReadFile(u.stubs)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range stubLine.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = m[2]
		}
	}
	return all
}

// TestSelfTestsSeeCarries drops each carry of each kernel, one at a time, and
// runs the self-test of its unit on the result. The self-test must notice what
// dozens of inputs with words at their limits notice, but for one carry in a
// hundred, which occur too rarely for vectors that run at every start. What
// neither notices are carries that occur once in 2^50 products, or never.
//
// All mutants of a package go into one test binary, through an overlay: nothing
// is written to the tree. Beside each kernel K a test file of its package has
//
//	func KMutant(f func(…)) (noticed, differs bool)
func TestSelfTestsSeeCarries(t *testing.T) {
	if !cpu.MULX {
		t.Skip(cpu.Reason("mulx"))
	}
	declared := stubs(t)
	packages := map[string][]kernelText{}
	for _, k := range kernelTexts(t) {
		if dir := filepath.Dir(k.file); filepath.Base(dir) != "cpu" && strings.Contains(k.name, "MULX") {
			packages[dir] = append(packages[dir], k)
		}
	}
	if len(packages) < 2 {
		t.Fatalf("kernels of %d packages found", len(packages))
	}
	for dir, kernels := range packages {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			var lines []string
			var declarations, calls strings.Builder
			files := map[string]string{}
			header := "package " + filepath.Base(dir) + "\n"
			for _, k := range kernels {
				bodies, changed := mutants(t, k)
				file := "mutants_" + filepath.Base(k.file)
				if files[file] == "" {
					files[file] = "#include \"textflag.h\"\n" + constants(t, k.file)
				}
				var code strings.Builder
				for i, body := range bodies {
					name := fmt.Sprintf("%s_%d", k.name, i)
					fmt.Fprintf(&code, "%s\n%s\n", strings.Replace(k.head, "·"+k.name, "·"+name, 1), body)
					fmt.Fprintf(&declarations, "//go:noescape\nfunc %s%s\n", name, declared[k.name])
					fmt.Fprintf(&calls, "\t\tfunc() (bool, bool) { return %sMutant(%s) },\n", k.name, name)
				}
				files[file] += code.String()
				lines = append(lines, changed...)
			}
			tests := header + `
import ("fmt"; "testing")

func TestMutants(t *testing.T) {
	for i, f := range []func() (noticed, differs bool){
` + calls.String() + `	} {
		noticed, differs := f()
		fmt.Println("mutant", i, noticed, differs)
	}
}
`
			files["mutants_amd64.go"] = header + declarations.String()
			files["mutants_amd64_test.go"] = tests
			out := testWithOverlay(t, dir, "TestMutants", files)
			unseen, rare := 0, 0
			for i, line := range lines {
				switch {
				case strings.Contains(out, fmt.Sprintf("mutant %d true ", i)):
				case strings.Contains(out, fmt.Sprintf("mutant %d false true\n", i)):
					rare++
					t.Logf("the self-test does not notice a lost carry: %s", line)
				case strings.Contains(out, fmt.Sprintf("mutant %d false false\n", i)):
					unseen++
				default:
					t.Fatalf("no result for %s in\n%s", line, out)
				}
			}
			t.Logf("%d carries, %d of them do not occur", len(lines), unseen)
			if 100*rare > len(lines) {
				t.Errorf("the self-tests do not notice %d of %d carries", rare, len(lines))
			}
			if 4*unseen > len(lines) {
				t.Errorf("%d of %d carries do not occur in any test", unseen, len(lines))
			}
		})
	}
}

// testWithOverlay runs a test of the package in dir with files that are not
// there, and returns its output.
func testWithOverlay(t *testing.T, dir, test string, files map[string]string) string {
	t.Helper()
	inDir := map[string]string{}
	for name, text := range files {
		inDir[filepath.Join(dir, name)] = text
	}
	cmd := exec.Command("go", "test", "-overlay", overlay(t, inDir), "-vet=off", "-count=1", "-v", "-run", "^"+test+"$", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// overlay writes the argument of -overlay that gives the files, which need not be
// there, these texts; and returns its name.
func overlay(t *testing.T, files map[string]string) string {
	t.Helper()
	tmp := t.TempDir()
	var o struct{ Replace map[string]string }
	o.Replace = map[string]string{}
	for name, text := range files {
		at, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		o.Replace[at] = filepath.Join(tmp, fmt.Sprintf("%d%s", len(o.Replace), filepath.Base(name)))
		if err := os.WriteFile(o.Replace[at], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
