package asm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
)

// What computes, of the kernels on registers of 128 bits. Without one of these
// lines a kernel gives a wrong result, but neither faults nor runs on.
var vectorLine = regexp.MustCompile(`^\t(AES\w+|SHA256\w+|PXOR|PADDD|PSHUFD|PSHUFB|PSLLDQ|PALIGNR|PBLENDW|CMOVQHI)\b`)

// sameOperand is an operation that clears a register: it wipes.
var sameOperand = regexp.MustCompile(`^\t\w+\s+(X\d+), (X\d+)$`)

// TestSelfTestsSeeInstructions drops each instruction that computes of each kernel
// that hashes or encrypts, one at a time, and runs the self-test of its unit on the
// result, which must notice.
func TestSelfTestsSeeInstructions(t *testing.T) {
	for _, tier := range cpu.Symmetric() {
		if why := cpu.Reason(tier); why != "" {
			t.Skip(why)
		}
	}
	declared := stubs(t)
	packages := map[string][]kernelText{}
	for _, k := range kernelTexts(t) {
		if slices.Contains(cpu.Symmetric(), tierOf[suffix(k.name)]) {
			packages[filepath.Dir(k.file)] = append(packages[filepath.Dir(k.file)], k)
		}
	}
	if len(packages) < 2 {
		t.Fatalf("kernels of %d packages found", len(packages))
	}
	for dir, kernels := range packages {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if testing.Short() && filepath.Base(dir) != "aescbc" {
				t.Skip("takes a while to assemble")
			}
			var lines []string
			var declarations, calls, code strings.Builder
			header := "package " + filepath.Base(dir) + "\n"
			code.WriteString("#include \"textflag.h\"\n" + constants(t, kernels[0].file))
			for _, k := range kernels {
				all := strings.SplitAfter(k.body, "\n")
				for i, line := range all {
					m := sameOperand.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
					if !vectorLine.MatchString(line) || strings.HasPrefix(line, "\tPXOR") && m != nil && m[1] == m[2] {
						continue
					}
					name := fmt.Sprintf("%s_%d", k.name, len(lines))
					fmt.Fprintf(&code, "%s\n%s\n", strings.Replace(k.head, "·"+k.name, "·"+name, 1), strings.Join(slices.Delete(slices.Clone(all), i, i+1), ""))
					fmt.Fprintf(&declarations, "//go:noescape\nfunc %s%s\n", name, declared[k.name])
					fmt.Fprintf(&calls, "\t\tfunc() (bool, bool) { return %sMutant(%s) },\n", k.name, name)
					lines = append(lines, fmt.Sprintf("%s line %d: %s", k.name, i+1, strings.Join(strings.Fields(line), " ")))
				}
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
			out := testWithOverlay(t, dir, "TestMutants", map[string]string{
				"mutants_amd64.s": code.String(), "mutants_amd64.go": header + declarations.String(), "mutants_amd64_test.go": tests,
			})
			idle := 0
			for i, line := range lines {
				switch {
				case strings.Contains(out, fmt.Sprintf("mutant %d true ", i)):
				case strings.Contains(out, fmt.Sprintf("mutant %d false false\n", i)):
					idle++ // it works on words of a message that are always zero
				default:
					t.Errorf("not noticed: %s", line)
				}
			}
			if len(lines) < 200 {
				t.Errorf("only %d instructions", len(lines))
			}
			if 20*idle > len(lines) {
				t.Errorf("%d of %d instructions make no difference", idle, len(lines))
			}
			t.Logf("%d instructions, of which %d make no difference", len(lines), idle)
		})
	}
}
