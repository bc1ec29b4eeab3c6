package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func stack(functions ...string) string {
	var b strings.Builder
	b.WriteString("<stack>")
	for i, f := range functions {
		fmt.Fprintf(&b, "<frame><ip>0x1</ip><fn>%s</fn><dir>/nowhere</dir><file>f.go</file><line>%d</line></frame>", f, i+1)
	}
	b.WriteString("</stack>")
	return b.String()
}

func errorText(kind string, functions ...string) string {
	return "<error><kind>" + kind + "</kind><what>use</what>" + stack(functions...) + "</error>"
}

func reportText(state string, errors ...string) []byte {
	return []byte("<valgrindoutput><tool>memcheck</tool><status><state>RUNNING</state></status>" +
		strings.Join(errors, "") + "<status><state>" + state + "</state></status></valgrindoutput>")
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text string
		kept bool
	}{
		{errorText("UninitCondition", "github.com/sigcore/sigcore/field.(*Element).Equal", "main.main"), true},
		{errorText("UninitValue", "github.com/sigcore/sigcore/curve.fixedBaseMULX.abi0"), true},
		{errorText("UninitValue", "main.leakByIndex", "main.main"), true},
		// What a library does with a secret that it was given.
		{errorText("UninitCondition", "runtime.memequal", "bytes.Equal", "github.com/sigcore/sigcore/signal.check"), true},
		{errorText("UninitCondition", "runtime.mallocgc", "runtime.newproc"), false},
		{errorText("UninitValue", "runtime.exitsyscall", "os.(*File).Write", "main.run", "main.main"), false},
		{errorText("UninitCondition"), false},
		{errorText("InvalidRead", "github.com/sigcore/sigcore/field.feMul"), false},
		{errorText("UninitValue", "github.com/sigcore/sigcoreless.f"), false},
	} {
		got, err := parse(reportText("FINISHED", tc.text))
		if err != nil || len(got) == 1 != tc.kept {
			t.Errorf("%s: %v, %v", tc.text, got, err)
		}
		if tc.kept && !strings.Contains(got[0].String(), got[0].Stack[0].Function) {
			t.Errorf("%v does not name its function", got[0])
		}
	}
	for _, text := range [][]byte{nil, []byte("<valgrindoutput/>"), reportText("RUNNING"), reportText("FINISHED")[1:]} {
		if _, err := parse(text); err == nil {
			t.Errorf("no error for %q", text)
		}
	}
}

func TestPlanted(t *testing.T) {
	want, err := planted(plants)
	if err != nil || len(want) != 5 {
		t.Errorf("%q are planted: %v", want, err)
	}
	want, err = planted(fstest.MapFS{
		"sub/plant.go": {Data: []byte("a\nb // leak: UninitValue\nc // leak: UninitCondition\n")},
		"other.go":     {Data: []byte("// a leak\n")},
	})
	if err != nil || !slices.Equal(want, []string{"plant.go:2 UninitValue", "plant.go:3 UninitCondition"}) {
		t.Fatalf("%q are planted: %v", want, err)
	}
	at := func(file string, line int, kind string) finding {
		return finding{Kind: kind, Stack: []frame{{Function: "main.leak", File: file, Line: line}}}
	}
	index, branch := at("plant.go", 2, "UninitValue"), at("plant.go", 3, "UninitCondition")
	for _, tc := range []struct {
		findings []finding
		ok       bool
	}{
		{[]finding{index, branch}, true},
		{[]finding{branch, index, index}, true},
		{[]finding{index}, false},
		{[]finding{index, at("plant.go", 3, "UninitValue")}, false},
		{[]finding{index, at("plant.go", 4, "UninitCondition")}, false},
		{[]finding{index, branch, at("operations.go", 3, "UninitCondition")}, false},
		{nil, false},
	} {
		if err := comparePlanted(tc.findings, want); (err == nil) != tc.ok {
			t.Errorf("%v: %v", tc.findings, err)
		}
	}
	if comparePlanted(nil, nil) == nil {
		t.Error("nothing is planted, and that passes")
	}
}
