package asm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

// The bounds of the kernels over lanes: with limbs that go in up to their limit,
// each factor fits into 52 bits, no sum or difference leaves a word, and the limbs
// that come out are as small as stated.
func TestLaneBounds(t *testing.T) {
	for _, k := range kernelTexts(t) {
		if suffix(k.name) != "IFMA" {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			size := 32
			if strings.Contains(k.name, "8") {
				size = 64
			}
			results := map[string]int{"x": 5, "z": 5} // in vectors
			if !strings.HasPrefix(k.name, "ladder") {
				results = map[string]int{"out": 4 * 5}
			}
			run := func(p []instruction, limb uint64) error {
				s := newVectorState(t, k.file)
				for i := range 5 {
					s.at[fmt.Sprintf("u+%d", i*size)] = interval{0, limb}
				}
				for i := range 4 * 5 {
					s.at[fmt.Sprintf("p+%d", i*size)] = interval{0, limbOut}
				}
				if err := s.run(p); err != nil {
					return err
				}
				for name, n := range results {
					for i := range n {
						if v, ok := s.at[fmt.Sprintf("%s+%d", name, i*size)]; !ok || v.hi > limbOut {
							return fmt.Errorf("vector %d of %s is up to %#x (%v)", i, name, v.hi, ok)
						}
					}
				}
				return nil
			}
			p := program(k)
			if err := run(p, limbIn); err != nil {
				t.Fatal(err)
			}

			// The evaluation can fail: on limbs that are too large, and wherever a
			// carry or a bias is missing.
			if results["x"] != 0 && run(p, 1<<52) == nil {
				t.Error("limbs of 2^52 pass")
			}
			found := 0
			for at, i := range p {
				if i.op != "VPANDQ.BCST" && i.op != "VPADDQ.BCST" || strings.HasPrefix(i.args[0], "nibble") {
					continue
				}
				broken := slices.Clone(p)
				broken[at] = instruction{"VMOVDQU64", []string{i.args[1], i.args[2]}}
				if run(broken, limbIn) == nil {
					t.Errorf("without instruction %d (%v) the bounds hold", at, i)
				}
				found++
			}
			if found < 50 {
				t.Errorf("only %d carries and biases", found)
			}
		})
	}
}

// instead are the instructions that stand in the place of others in
// TestSelfTestsSeeLanes.
var instead = map[string]string{
	"VPADDQ": "VPSUBQ", "VPSUBQ": "VPADDQ", "VPADDQ.BCST": "VPSUBQ.BCST",
	"VPMADD52LUQ": "VPMADD52HUQ", "VPMADD52HUQ": "VPMADD52LUQ", "VPMADD52LUQ.BCST": "VPMADD52HUQ.BCST",
	"VPSRLQ": "VPSLLQ", "VPSLLQ": "VPSRLQ", "VPANDQ.BCST": "VPORQ.BCST", "VPBLENDMQ": "VPADDQ", "VPSUBD": "VPADDD", "VPCMPEQQ": "VPCMPGTQ",
}

// laneMutants returns the bodies of a kernel in each of which one instruction is
// another one, and those instructions: every so many of them, all in long mode.
func laneMutants(k kernelText, every int) (bodies, lines []string) {
	all := strings.SplitAfter(k.body, "\n")
	for i, n := 0, 0; i < len(all); i++ {
		op, _, _ := strings.Cut(strings.TrimSpace(all[i]), " ")
		other, ok := instead[op]
		if !ok || strings.HasPrefix(all[i], "//") {
			continue
		}
		if n++; n%every != 0 && op != "VPBLENDMQ" && op != "VPSUBD" && op != "VPCMPEQQ" {
			continue
		}
		changed := slices.Clone(all)
		changed[i] = strings.Replace(all[i], op+" ", other+" ", 1)
		bodies, lines = append(bodies, strings.Join(changed, "")), append(lines, k.name+": "+strings.Join(strings.Fields(all[i]), " "))
	}
	return bodies, lines
}

// TestSelfTestsSeeLanes changes instructions of the kernels over lanes, one at a
// time: whatever makes results wrong on dozens of inputs the self-test of the unit
// must notice. Beside each kernel K a test file of its package has KMutant, as for
// TestSelfTestsSeeCarries.
func TestSelfTestsSeeLanes(t *testing.T) {
	if !cpu.IFMA || !cpu.ZMM {
		t.Skip(cpu.Reason("ifma") + cpu.Reason("zmm"))
	}
	every := 37
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") == "1":
		every = 3
	case testing.Short():
		every = 211
	}
	declared := stubs(t)
	for _, k := range kernelTexts(t) {
		if suffix(k.name) != "IFMA" {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			bodies, lines := laneMutants(k, every)
			if len(bodies) < 5 {
				t.Fatalf("only %d mutants", len(bodies))
			}
			var code, declarations, calls strings.Builder
			code.WriteString("#include \"textflag.h\"\n" + constants(t, k.file))
			for i, body := range bodies {
				name := fmt.Sprintf("%s_%d", k.name, i)
				fmt.Fprintf(&code, "%s\n%s\n", strings.Replace(k.head, "·"+k.name, "·"+name, 1), body)
				fmt.Fprintf(&declarations, "//go:noescape\nfunc %s%s\n", name, declared[k.name])
				fmt.Fprintf(&calls, "\t\tfunc() (bool, bool) { return %sMutant(%s) },\n", k.name, name)
			}
			dir := filepath.Dir(k.file)
			header := "package " + filepath.Base(dir) + "\n"
			out := testWithOverlay(t, dir, "TestMutants", map[string]string{
				"mutants_" + filepath.Base(k.file): code.String(),
				"mutants_amd64.go":                 header + declarations.String(),
				"mutants_amd64_test.go": header + `
import ("fmt"; "testing")

func TestMutants(t *testing.T) {
	for i, f := range []func() (noticed, differs bool){
` + calls.String() + `	} {
		noticed, differs := f()
		fmt.Println("mutant", i, noticed, differs)
	}
}
`,
			})
			noticed := 0
			for i, line := range lines {
				switch {
				case strings.Contains(out, fmt.Sprintf("mutant %d true ", i)):
					noticed++
				case strings.Contains(out, fmt.Sprintf("mutant %d false true\n", i)):
					t.Errorf("the self-test does not notice another instruction for %s", line)
				case !strings.Contains(out, fmt.Sprintf("mutant %d false false\n", i)):
					t.Fatalf("no result for %s in\n%s", line, out)
				}
			}
			t.Logf("%d of %d changes noticed", noticed, len(lines))
			if 10*noticed < 8*len(lines) {
				t.Errorf("only %d of %d changes are noticed", noticed, len(lines))
			}
		})
	}
}
