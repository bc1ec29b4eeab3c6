package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	for _, tc := range []struct {
		cpu      string
		features []string
		want     string
	}{
		{"AMD EPYC (family 26, model 2, stepping 1)", []string{"AVX", "AVX2"}, "amd-epyc_avx-avx2"},
		{"Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz (family 6, model 63, stepping 2)", []string{"BMI2"}, "intel-xeon-e5-2680-v3_bmi2"},
		{"Intel(R) Core(TM) i7 Processor (family 6, model 1, stepping 2)", []string{"ADX"}, "intel-core-i7_adx"},
	} {
		if got := (record{CPU: tc.cpu, Features: tc.features}).name(); got != tc.want {
			t.Errorf("%q: %q, want %q", tc.cpu, got, tc.want)
		}
	}
}

func TestCompareCounts(t *testing.T) {
	a, b := task{"x25519", "mulx"}, task{"x25519", "generic"}
	old := []row{{task: a, Instructions: 10000}, {task: b, Instructions: 50}, {task: task{"x25519", "ifma"}}}
	for _, tc := range []struct {
		name   string
		old    []row
		counts map[task]int
		want   error // nil, errGrown, or another
	}{
		{"same", old, map[task]int{a: 10000, b: 50}, nil},
		{"less", old, map[task]int{a: 7000, b: 50}, nil},
		{"2 % more", old, map[task]int{a: 10200, b: 51}, nil},
		{"over 2 % more", old, map[task]int{a: 10201, b: 50}, errGrown},
		{"one of two", old, map[task]int{a: 1, b: 52}, errGrown},
		{"missing", old, map[task]int{a: 10000}, io.EOF},
		{"empty", nil, map[task]int{a: 10000}, io.EOF},
		{"new", old[:1], map[task]int{a: 10000, b: 1}, nil},
	} {
		err := compareCounts(io.Discard, tc.old, tc.counts)
		if (err == nil) != (tc.want == nil) || errors.Is(err, errGrown) != (tc.want == errGrown) {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

func TestTotal(t *testing.T) {
	dump := filepath.Join(t.TempDir(), "dump")
	write := func(n, text string) {
		if err := os.WriteFile(dump+"."+n, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1", "version: 1\npart: 1\n\nevents: Ir\nsummary: 5\n\nfn=(1) main.work\n1 12\n\ntotals: 12\n")
	write("2", "version: 1\npart: 1\ntotals: 12\n")
	write("3", "version: 1\npart: 3\n")
	if n, err := total(dump, 1); n != 12 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for n := 2; n <= 4; n++ {
		if _, err := total(dump, n); err == nil {
			t.Errorf("file %d: no error", n)
		}
	}
}

// Each operation can be done on each tier that is here, and the record of each
// stored processor can be read.
func TestOperations(t *testing.T) {
	defer selectTier("generic")
	for _, tier := range countedTiers {
		if !selectTier(tier) {
			t.Logf("no tier %s here", tier)
			continue
		}
		for _, o := range operations {
			f, err := o.setup()
			if err != nil {
				t.Errorf("%s on %s: %v", o.name, tier, err)
				continue
			}
			work(f, fewTimes)
		}
	}
}

func TestMarkdown(t *testing.T) {
	r := record{CPU: "Some CPU", Go: "go1", Rows: []row{{task{"x25519", "mulx"}, 1234, 5, 6, 0}, {task{"x25519", "ifma"}, 0, 5, 6, 0}}}
	text := r.markdown()
	for _, want := range []string{"# Some CPU\n", "| x25519 | mulx | 1234 | 5.0 | 6.0 | 0 |\n", "| x25519 | ifma |  | 5.0 | 6.0 | 0 |\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
