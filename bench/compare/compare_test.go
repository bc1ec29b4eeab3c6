package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// Every operation of the output order has contenders, sigcore among them, and
// every contender runs.
func TestEveryOperation(t *testing.T) {
	for _, op := range order {
		if !slices.ContainsFunc(contenders, func(c contender) bool { return c.op == op && c.lib == "sigcore" }) {
			t.Errorf("sigcore has no %s", op)
		}
	}
	for _, c := range contenders {
		if !slices.Contains(order, c.op) {
			t.Errorf("%s of %s is not in the order of the output", c.op, c.lib)
		}
	}
	var out bytes.Buffer
	if err := run(&out, "", "", 1, true); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Rounds != 1 || r.N < 1 || r.NsMin <= 0 || r.NsMedian < r.NsMin || r.Tier == "" {
			t.Errorf("row %s", line)
		}
	}
	var m environment
	if err := json.Unmarshal(lines[len(lines)-1], &m); err != nil || m.Go == "" || m.Gomaxprocs < 1 {
		t.Errorf("last line %s: %v", lines[len(lines)-1], err)
	}
}

func TestUnknownOperation(t *testing.T) {
	if err := run(new(bytes.Buffer), "^no_such_operation$", "", 1, false); err == nil {
		t.Error("no error")
	}
	if err := run(new(bytes.Buffer), "(", "", 1, false); err == nil {
		t.Error("no error for a bad expression")
	}
}
