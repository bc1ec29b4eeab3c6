package sigcore_test

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

// kernelTiers maps the suffix of a kernel to the tier that gates it.
var kernelTiers = []struct{ suffix, tier string }{
	{"MULX", "mulx"},
	{"AVX2", "mulx"},
	{"ADX", "adx"},
	{"IFMA", "ifma"},
}

// baseline are the extensions, as avo names them, that every amd64 processor has.
var baseline = []string{"CMOV", "MMX", "SSE", "SSE2"}

// detection are the functions that run before any gate, or are a gate.
var detection = []string{"cpuid", "xgetbv", "mulxFlags", "adxFlags"}

// TestKernelRequirements compares what each kernel executes, as the assembler
// of the generator lists it, with what the gate of its tier has checked.
func TestKernelRequirements(t *testing.T) {
	files, kernels := 0, 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_amd64.s") {
			return nil
		}
		files++
		for name, requires := range textRequirements(t, path) {
			if filepath.ToSlash(filepath.Dir(path)) == "internal/cpu" && slices.Contains(detection, name) {
				continue
			}
			kernels++
			for _, fault := range ungated(name, requires) {
				t.Errorf("%s: %s", path, fault)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("no assembly found")
	}
	t.Logf("%d kernels in %d files", kernels, files)
}

// textRequirements returns the functions of an assembly file with the list of
// the comment above each.
func textRequirements(t *testing.T, path string) map[string][]string {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	functions := map[string][]string{}
	var requires []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if list, ok := strings.CutPrefix(line, "// Requires: "); ok {
			requires = strings.Split(list, ", ")
		} else if text, ok := strings.CutPrefix(line, "TEXT ·"); ok {
			name, _, _ := strings.Cut(text, "(")
			functions[name] = requires
			requires = nil
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return functions
}

// ungated returns what a kernel executes and the gate of its name does not allow.
func ungated(name string, requires []string) []string {
	allowed := slices.Clone(baseline)
	for _, k := range kernelTiers {
		if strings.HasSuffix(name, k.suffix) {
			allowed = append(allowed, strings.Split(cpu.Needs(k.tier).String(), ", ")...)
		}
	}
	var faults []string
	for _, r := range requires {
		if !slices.Contains(allowed, r) {
			faults = append(faults, name+" executes "+r+", which its tier does not check")
		}
	}
	return faults
}

func TestUngated(t *testing.T) {
	for _, tc := range []struct {
		name     string
		requires []string
		faults   int
	}{
		{"feMulMULX", []string{"BMI2"}, 0},
		{"selectAVX2", []string{"AVX", "AVX2", "CMOV"}, 0},
		{"ladderADX", []string{"ADX", "BMI2"}, 0},
		{"ladderIFMA", []string{"AVX", "AVX512F", "AVX512IFMA", "AVX512VL", "BMI2"}, 0},
		{"wipe", []string{"SSE2"}, 0},

		{"feMulMULX", []string{"ADX", "BMI2"}, 1},
		{"feMul", []string{"BMI2"}, 1},
		{"selectAVX2", []string{"AVX512F", "AVX512VL"}, 2},
		{"ladderIFMA", []string{"ADX"}, 1},
		{"ladderIFMA", []string{"AVX512VBMI2"}, 1},
		{"mulxFlags", []string{"BMI2"}, 1},
	} {
		if got := ungated(tc.name, tc.requires); len(got) != tc.faults {
			t.Errorf("%s with %v: %q", tc.name, tc.requires, got)
		}
	}
}
