package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/sigcore/sigcore/internal/cpu"
)

// A record has what was measured on one processor.
type record struct {
	CPU      string   `json:"cpu"`
	Features []string `json:"features"`
	Go       string   `json:"go"`
	Counter  string   `json:"counter,omitempty"`
	Rows     []row    `json:"operations"`
}

// A row is about one operation on one tier. Instructions is zero if they cannot
// be counted.
type row struct {
	task
	Instructions int     `json:"instructions,omitempty"`
	NsMin        float64 `json:"ns_min,omitempty"`
	NsMedian     float64 `json:"ns_median,omitempty"`
	Allocs       float64 `json:"allocs"`
}

// thisMachine returns a record without rows.
func thisMachine() record {
	r := record{CPU: cpu.Brand(), Go: runtime.Version()}
	if present := cpu.Present(); present != 0 {
		r.Features = strings.Split(present.String(), ", ")
	}
	return r
}

var (
	noise     = regexp.MustCompile(`(?i)\((r|tm)\)|\(family.*|@.*|\b(cpu|processor)\b`)
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
)

// name is the name of the record's files: brand and features.
func (r record) name() string {
	brand := notInName.ReplaceAllString(strings.ToLower(noise.ReplaceAllString(r.CPU, " ")), "-")
	features := strings.ToLower(strings.Join(r.Features, "-"))
	if features == "" {
		features = runtime.GOARCH
	}
	return strings.Trim(brand, "-") + "_" + features
}

// makeRecord measures, and writes the record to dir, or prints it.
func makeRecord(w io.Writer, dir string) error {
	r := thisMachine()
	counts, version, err := countAll()
	if errors.Is(err, errNoCounter) {
		fmt.Fprintln(os.Stderr, "percpu: no instruction counts:", err)
	} else if err != nil {
		return err
	}
	r.Counter = version
	if r.Rows, err = times(); err != nil {
		return err
	}
	for i := range r.Rows {
		r.Rows[i].Instructions = counts[r.Rows[i].task]
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	if dir == "" {
		_, err := io.WriteString(w, r.markdown())
		return err
	}
	base := filepath.Join(dir, r.name())
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(base+".json", append(text, '\n'), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(w, base)
	return os.WriteFile(base+".md", []byte(r.markdown()), 0o644)
}

// times runs the command compare.
func times() ([]row, error) {
	var names []string
	for _, o := range operations {
		names = append(names, o.name)
	}
	cmd := exec.Command("go", "run", "github.com/sigcore/sigcore/bench/compare",
		"-json", "-libs", "^sigcore$", "-ops", "^("+strings.Join(names, "|")+")$")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("compare: %w", err)
	}
	var rows []row
	for line := range bytes.Lines(out) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("compare: %w", err)
		}
		// The last line is about the machine; what runs by default is one of
		// the tiers, or a mixture.
		if r.Op != "" && r.Tier != "default" {
			r.NsMin, r.NsMedian = math.Round(r.NsMin*10)/10, math.Round(r.NsMedian*10)/10
			rows = append(rows, r)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.Op == name }) {
			return nil, fmt.Errorf("compare does not know %s", name)
		}
	}
	return rows, nil
}

func (r record) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s; %s", r.CPU, strings.Join(r.Features, ", "), r.Go)
	if r.Counter != "" {
		fmt.Fprintf(&b, "; instructions by %s", r.Counter)
	}
	b.WriteString(".\nWritten by `go run -C bench ./percpu -out results`.\n\n")
	b.WriteString("| operation | tier | instructions | ns, minimum | ns, median | allocations |\n|---|---|--:|--:|--:|--:|\n")
	for _, row := range r.Rows {
		count := ""
		if row.Instructions != 0 {
			count = fmt.Sprint(row.Instructions)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %.1f | %.1f | %.0f |\n", row.Op, row.Tier, count, row.NsMin, row.NsMedian, row.Allocs)
	}
	return b.String()
}
