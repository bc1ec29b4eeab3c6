package asm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// dispatchers returns the functions of a package that choose between a kernel and
// its twin by cpu.V3.
func dispatchers(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_amd64.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no dispatch files in %s: %v", dir, err)
	}
	begin := regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)\(`)
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var name string
		for _, line := range strings.Split(string(text), "\n") {
			if m := begin.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			if strings.Contains(line, "case cpu.V3 ||") || strings.Contains(line, "if cpu.V3 ||") {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no choice by cpu.V3 in %s", dir)
	}
	return names
}

var callLine = regexp.MustCompile(`\bCALL (\S+)\(SB\)`)

// TestV3 looks into programs built for GOAMD64=v3 and v1: with v3 the functions
// that choose a kernel hold no call of the generic code, and with v1 they do.
func TestV3(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	tmp := t.TempDir()
	const root = "github.com/sigcore/sigcore"
	for _, level := range []string{"v1", "v3"} {
		out := filepath.Join(tmp, level)
		// Without inlining every dispatcher is there to be looked at.
		build := exec.Command("go", "test", "-c", "-gcflags="+root+"/...=-l", "-o", out, "./curve")
		build.Dir = ".."
		build.Env = append(os.Environ(), "GOARCH=amd64", "GOOS=linux", "CGO_ENABLED=0", "GOAMD64="+level)
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, pkg := range []string{"field", "curve"} {
			for _, name := range dispatchers(t, filepath.Join("..", pkg)) {
				symbol := root + "/" + pkg + "." + name
				text, err := exec.Command("go", "tool", "objdump", "-s", "^"+regexp.QuoteMeta(symbol)+"$", out).CombinedOutput()
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				calls := callLine.FindAllStringSubmatch(string(text), -1)
				if len(calls) == 0 {
					t.Errorf("%s: %s calls nothing, or is not there", level, symbol)
				}
				generic, kernel := false, false
				for _, c := range calls {
					generic = generic || strings.HasSuffix(c[1], "Generic")
					kernel = kernel || strings.Contains(c[1], "MULX")
				}
				if generic != (level == "v1") || !kernel {
					t.Errorf("%s: %s calls generic code: %t, a kernel: %t", level, symbol, generic, kernel)
				}
			}
		}
	}
}
