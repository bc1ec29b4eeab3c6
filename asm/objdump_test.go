package asm

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

// A function is one of this module as the linker has left it.
type function struct {
	name         string   // "field.feMul", "curve.(*Point).Add"
	instructions []string // "mulx rax,rbx,rcx"
}

var (
	functionLine    = regexp.MustCompile(`^[0-9a-f]+ <github\.com/sigcore/sigcore/(?:internal/)?((?:field|curve|kdf|aescbc)\.\S+)>:$`)
	otherLine       = regexp.MustCompile(`^[0-9a-f]+ <.*>:$`)
	instructionLine = regexp.MustCompile(`^\s+[0-9a-f]+:\s+(\S.*)$`)
	callOfGeneric   = regexp.MustCompile(`^(?:call|jmp)\s.*<github\.com/sigcore/sigcore/((?:field|curve)\.\w+Generic)(?:\+0x\w+)?>`)
)

// linked disassembles the functions of field, curve and kdf in the test binary of
// signal, which has them as a program has.
func linked(t *testing.T, level string) []function {
	t.Helper()
	objdump, err := exec.LookPath("objdump")
	if err != nil {
		if impltest.Required("objdump") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	binary := filepath.Join(t.TempDir(), "signal.test")
	build := exec.Command("go", "test", "-c", "-o", binary, "./signal")
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOAMD64="+level)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(objdump, "-d", "--no-show-raw-insn", "-M", "intel", binary)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all []function
	ours := false
	for s := bufio.NewScanner(out); s.Scan(); {
		switch line := s.Text(); {
		case functionLine.MatchString(line):
			ours = true
			all = append(all, function{name: functionLine.FindStringSubmatch(line)[1]})
		case otherLine.MatchString(line):
			ours = false
		case ours:
			if m := instructionLine.FindStringSubmatch(line); m != nil {
				f := &all[len(all)-1]
				f.instructions = append(f.instructions, m[1])
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return all
}

// What is in a linked program: every kernel, and nowhere in the packages with
// kernels an instruction that is slow, or that reads addresses by secrets.
func TestLinkedInstructions(t *testing.T) {
	functions := linked(t, "v1")
	found := map[string]bool{}
	for _, f := range functions {
		found[strings.TrimSuffix(f.name, ".abi0")] = true
		for _, i := range f.instructions {
			if op, _, _ := strings.Cut(i, " "); forbidden.MatchString("\t"+strings.ToUpper(op)) && !strings.Contains(op, "div") {
				t.Errorf("%s: %s", f.name, i)
			}
			// The compiler divides where no secret is; kernels must not.
			if strings.HasSuffix(f.name, ".abi0") && forbidden.MatchString("\t"+strings.ToUpper(i)) {
				t.Errorf("%s: %s", f.name, i)
			}
		}
	}
	for _, k := range kernelTexts(t) {
		pkg := filepath.Base(filepath.Dir(k.file))
		if pkg != "cpu" && !found[pkg+"."+k.name] {
			t.Errorf("%s.%s is not linked", pkg, k.name)
		}
	}
}

// callers returns the functions that call or jump to code without kernels, but
// for such code itself and self-tests, which run in initialisation.
func callers(functions []function) (names []string) {
	for _, f := range functions {
		_, name, _ := strings.Cut(f.name, ".")
		if strings.Contains(name, "Generic") || strings.HasPrefix(name, "selfTest") || name == "init" || strings.HasPrefix(name, "init.") {
			continue
		}
		for _, i := range f.instructions {
			if m := callOfGeneric.FindStringSubmatch(i); m != nil {
				names = append(names, f.name+" "+m[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// With GOAMD64=v3 the dispatchers hold no generic code, and neither does what
// they are inlined into.
func TestDispatchersAtV3(t *testing.T) {
	if left := callers(linked(t, "v3")); len(left) != 0 {
		t.Errorf("with GOAMD64=v3 these call generic code: %q", left)
	}
	// The search finds what it looks for: without the level each dispatcher
	// does.
	have := callers(linked(t, "v1"))
	for _, want := range []string{
		"curve.ladderGeneric", "curve.fixedBaseGeneric", "curve.oddMultiplesGeneric", "curve.varTimeDoubleBaseGeneric",
		"curve.scalarMulAddGeneric", "curve.scalarReduceWideGeneric", "field.feMulGeneric", "field.feSquareGeneric", "field.invertGeneric",
	} {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.HasSuffix(h, " "+want) }) {
			t.Errorf("without the level nothing calls %s: %q", want, have)
		}
	}
}
