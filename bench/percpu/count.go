package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// errNoCounter says that instructions cannot be counted on this machine.
var errNoCounter = errors.New("valgrind is not installed")

// countAll returns the number of instructions of each task, and the version of
// valgrind. The counts are those of the processor that valgrind shows: what the
// standard library does on others, for hashes say, is not in them.
func countAll() (map[task]int, string, error) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errNoCounter, err)
	}
	version, err := exec.Command(valgrind, "--version").Output()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "percpu")
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	// What runs now may be without symbols, if `go run` has built it.
	program, dump := filepath.Join(dir, "percpu"), filepath.Join(dir, "dump")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/sigcore/sigcore/bench/percpu").CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("build: %w\n%s", err, out)
	}
	cmd := exec.Command(valgrind, "--tool=callgrind", "--toggle-collect=main.work", "--dump-after=main.work",
		"--callgrind-out-file="+dump, program, "-work")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "SIGCORE_") || strings.HasPrefix(e, "GODEBUG=")
	}), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, "", fmt.Errorf("valgrind: %w\n%s", err, &stderr)
	}
	var done []task
	if err := json.Unmarshal(stdout.Bytes(), &done); err != nil {
		return nil, "", fmt.Errorf("output of the work: %w", err)
	}
	counts := map[task]int{}
	for i, t := range done {
		few, err := total(dump, 2*i+1)
		if err != nil {
			return nil, "", fmt.Errorf("%s on %s: %w", t.Op, t.Tier, err)
		}
		many, err := total(dump, 2*i+2)
		if err != nil {
			return nil, "", fmt.Errorf("%s on %s: %w", t.Op, t.Tier, err)
		}
		const n = manyTimes - fewTimes
		if counts[t] = (many - few + n/2) / n; counts[t] <= 0 {
			return nil, "", fmt.Errorf("%s on %s: %d instructions for %d times, %d for %d", t.Op, t.Tier, few, fewTimes, many, manyTimes)
		}
	}
	return counts, strings.TrimSpace(string(version)), nil
}

var (
	partLine   = regexp.MustCompile(`(?m)^part: (\d+)$`)
	totalsLine = regexp.MustCompile(`(?m)^totals: (\d+)$`)
)

// total reads the number of instructions in the n-th file of callgrind.
func total(dump string, n int) (int, error) {
	text, err := os.ReadFile(dump + "." + strconv.Itoa(n))
	if err != nil {
		return 0, err
	}
	part, totals := partLine.FindSubmatch(text), totalsLine.FindSubmatch(text)
	if part == nil || string(part[1]) != strconv.Itoa(n) || totals == nil {
		return 0, fmt.Errorf("file %d of callgrind cannot be read", n)
	}
	return strconv.Atoi(string(totals[1]))
}
