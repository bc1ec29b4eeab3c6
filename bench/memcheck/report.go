package main

import (
	"encoding/xml"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A finding is a use of an undefined value in this project's code, or in what
// that has called.
type finding struct {
	Kind  string  `xml:"kind"`
	What  string  `xml:"what"`
	Stack []frame `xml:"stack>frame"`
}

type frame struct {
	Function string `xml:"fn"`
	Dir      string `xml:"dir"`
	File     string `xml:"file"`
	Line     int    `xml:"line"`
}

// ours reports whether the frame is of a function of this project that may have
// to do with secrets.
func (f frame) ours() bool {
	switch f.Function {
	case "main.main", "main.run": // write the output
		return false
	}
	return strings.HasPrefix(f.Function, "github.com/sigcore/sigcore/") || strings.HasPrefix(f.Function, "main.")
}

// parse returns the findings of memcheck's report. It drops the noise of the Go
// runtime, which has hundreds of errors in a program that does nothing: only
// what stands below a function of this project is about a secret. A library
// function that branches on what it was given counts as well.
func parse(text []byte) ([]finding, error) {
	var report struct {
		Tool   string    `xml:"tool"`
		Errors []finding `xml:"error"`
		Status []struct {
			State string `xml:"state"`
		} `xml:"status"`
	}
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if n := len(report.Status); report.Tool != "memcheck" || n == 0 || report.Status[n-1].State != "FINISHED" {
		return nil, fmt.Errorf("report: it is not one of a finished run of memcheck")
	}
	return slices.DeleteFunc(report.Errors, func(f finding) bool {
		return !strings.HasPrefix(f.Kind, "Uninit") || !slices.ContainsFunc(f.Stack, frame.ours)
	}), nil
}

// source returns the line of the source that the finding is at, without the
// space around it, or "" if it cannot be read.
func (f finding) source() string {
	if len(f.Stack) == 0 {
		return ""
	}
	top := f.Stack[0]
	text, err := os.ReadFile(filepath.Join(top.Dir, top.File))
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if top.Line < 1 || top.Line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[top.Line-1])
}

func (f finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\t%s\n", f.Kind, f.What, f.source())
	for _, s := range f.Stack {
		fmt.Fprintf(&b, "\t%s (%s:%d)\n", s.Function, s.File, s.Line)
	}
	return b.String()
}

// planted returns the leaks that the comments of the sources announce, as
// "file:line kind".
func planted(sources fs.FS) ([]string, error) {
	var want []string
	err := fs.WalkDir(sources, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		for i, line := range strings.Split(string(text), "\n") {
			if _, kind, ok := strings.Cut(line, "// leak: "); ok {
				want = append(want, fmt.Sprintf("%s:%d %s", path.Base(name), i+1, kind))
			}
		}
		return err
	})
	return want, err
}

// comparePlanted returns an error unless the findings are exactly those.
func comparePlanted(findings []finding, want []string) error {
	var got []string
	for _, f := range findings {
		got = append(got, fmt.Sprintf("%s:%d %s", f.Stack[0].File, f.Stack[0].Line, f.Kind))
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); len(want) == 0 || !slices.Equal(got, want) {
		return fmt.Errorf("planted leaks: %q are found, %q are there", got, want)
	}
	return nil
}
