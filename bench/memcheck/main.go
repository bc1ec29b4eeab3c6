// Command memcheck shows that operations on secrets neither branch on them nor
// use them as addresses: it runs the command subject, on each tier, under
// valgrind's memcheck, with the secrets marked as undefined, and reports what
// memcheck finds in the code of this project. Leaks that are planted there must be
// found at their lines.
//
// It needs valgrind, linux and amd64. Valgrind knows neither ADX nor AVX-512: the
// tiers adx and ifma are out of its reach.
package main

import (
	"bytes"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	tiers := flag.String("tiers", "generic,mulx", "tiers to run, a comma list")
	flag.Parse()
	if err := run(os.Stdout, strings.Split(*tiers, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "memcheck:", err)
		os.Exit(1)
	}
}

const subjectPackage = "github.com/sigcore/sigcore/bench/memcheck/subject"

//go:embed subject/plant.go subject/plant_amd64.s
var plants embed.FS

func run(w io.Writer, tiers []string) error {
	tmp, err := os.MkdirTemp("", "memcheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	s := subject{program: filepath.Join(tmp, "subject"), report: filepath.Join(tmp, "report.xml")}
	build := exec.Command("go", "build", "-tags", "valgrind", "-o", s.program, subjectPackage)
	// Valgrind 3.19 cannot read the debug information that Go writes by default.
	build.Env = append(os.Environ(), "GOEXPERIMENT=nodwarf5", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}

	_, findings, err := s.run("-plant")
	if err != nil {
		return err
	}
	want, err := planted(plants)
	if err != nil {
		return err
	}
	if err := comparePlanted(findings, want); err != nil {
		return err
	}
	fmt.Fprintf(w, "planted leaks: %d found at their lines\n", len(findings))

	failed := false
	used := map[string]int{}
	for _, tier := range tiers {
		out, findings, err := s.run("-tier", tier)
		if err != nil {
			return err
		}
		findings = slices.DeleteFunc(findings, func(f finding) bool {
			why := allowed[f.source()]
			if why != "" {
				used[f.source()]++
			}
			return why != ""
		})
		fmt.Fprintf(w, "tier %s: %d findings in\n%s", tier, len(findings), indent(out))
		for _, f := range findings {
			failed = true
			fmt.Fprint(w, f)
		}
	}
	for source, why := range allowed {
		fmt.Fprintf(w, "allowed, %d times: %s (%s)\n", used[source], source, why)
		if used[source] == 0 {
			failed = true
		}
	}
	if failed {
		return fmt.Errorf("operations depend on secrets, or an exception is not needed")
	}
	return nil
}

// allowed has the lines that may depend on secrets, as they stand in the source,
// and why.
var allowed = map[string]string{
	"if z[0]|z[1]|z[2]|z[3]|z[4] == 0 {": "false for every point that there is: Z is not zero, and so not all of its limbs",
}

// A subject is the program that runs under valgrind.
type subject struct{ program, report string }

// run runs the program and returns its output and what memcheck has found.
func (s subject) run(args ...string) (string, []finding, error) {
	cmd := exec.Command("valgrind", append([]string{
		"--tool=memcheck", "--leak-check=no", "--error-limit=no", "--num-callers=40",
		// Inlined code then counts as that of the function that it is in, which
		// has a name.
		"--read-inline-info=no",
		"--xml=yes", "--xml-file=" + s.report, s.program,
	}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "SIGCORE_") || strings.HasPrefix(e, "GODEBUG=")
	}), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", nil, fmt.Errorf("valgrind subject %s: %w\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	text, err := os.ReadFile(s.report)
	if err != nil {
		return "", nil, err
	}
	findings, err := parse(text)
	return stdout.String(), findings, err
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("\t" + line)
	}
	return b.String()
}
