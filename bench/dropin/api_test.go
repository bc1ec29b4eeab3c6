package dropin_test

import (
	"bufio"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/bench/dropin"
)

// exported returns the exported objects and methods of all packages of the module
// that is built in dir, with their types. Names of parameters do not count, nor
// do fields that are not exported.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", dropin.Incumbent+"/...")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	var pkgs []string
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
		if strings.HasPrefix(path, dropin.Incumbent+"/") && !strings.Contains(path, "/internal/") {
			pkgs = append(pkgs, path)
		}
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	var all []string
	for _, path := range pkgs {
		pkg, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		scope := pkg.Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				all = append(all, describe(path, o)...)
			}
		}
	}
	slices.Sort(all)
	return all
}

func describe(path string, o types.Object) (lines []string) {
	path = strings.TrimPrefix(path, dropin.Incumbent+"/")
	add := func(format string, args ...any) { lines = append(lines, path+": "+fmt.Sprintf(format, args...)) }
	switch o := o.(type) {
	case *types.Const:
		add("const %s %s = %s", o.Name(), o.Type(), o.Val())
	case *types.TypeName:
		switch u := o.Type().Underlying().(type) {
		case *types.Struct:
			add("type %s struct", o.Name())
			for f := range u.Fields() {
				if f.Exported() {
					add("field %s.%s %s", o.Name(), f.Name(), f.Type())
				}
			}
		default:
			add("type %s %s", o.Name(), unnamed(u))
		}
		if _, ok := o.Type().Underlying().(*types.Interface); !ok {
			for m := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if m.Obj().Exported() {
					add("method %s.%s%s", o.Name(), m.Obj().Name(), strings.TrimPrefix(unnamed(m.Type()), "func"))
				}
			}
		}
	default:
		add("%s %s %s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", o), "*types.")), o.Name(), unnamed(o.Type()))
	}
	return lines
}

// unnamed returns a type without the names of parameters.
func unnamed(t types.Type) string {
	switch t := t.(type) {
	case *types.Signature:
		return "func(" + list(t.Params(), t.Variadic()) + ") (" + list(t.Results(), false) + ")"
	case *types.Interface:
		var methods []string
		for m := range t.Methods() {
			methods = append(methods, m.Name()+unnamed(m.Type()))
		}
		slices.Sort(methods)
		return "interface{" + strings.Join(methods, "; ") + "}"
	}
	return strings.ReplaceAll(t.String(), "interface{}", "any")
}

func list(t *types.Tuple, variadic bool) string {
	var all []string
	for v := range t.Variables() {
		all = append(all, unnamed(v.Type()))
	}
	s := strings.Join(all, ", ")
	if variadic {
		s += "..."
	}
	return s
}

// TestAPI compares what the drop-in exports with what the incumbent does. The
// file of differences has a line for each kind that is allowed: + for what the
// drop-in has more and - for what it lacks, a regular expression, and why.
func TestAPI(t *testing.T) {
	root, err := dropin.Dir("github.com/sigcore/sigcore")
	if err != nil {
		t.Fatal(err)
	}
	ours := exported(t, filepath.Join(root, "signal", "dropin"))
	theirs := exported(t, ".") // this module requires the incumbent
	if len(theirs) < 500 {
		t.Fatalf("%d objects of the incumbent", len(theirs))
	}
	type rule struct {
		sign    byte
		pattern *regexp.Regexp
		used    bool
	}
	var rules []*rule
	f, err := os.Open("differences.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, why, ok := strings.Cut(line[1:], " # ")
		if !ok || why == "" {
			t.Fatalf("no reason in %q", line)
		}
		rules = append(rules, &rule{line[0], regexp.MustCompile("^(?:" + strings.TrimSpace(pattern) + ")$"), false})
	}
	allowed := func(sign byte, object string) bool {
		for _, r := range rules {
			if r.sign == sign && r.pattern.MatchString(object) {
				r.used = true
				return true
			}
		}
		return false
	}
	for _, o := range theirs {
		if !slices.Contains(ours, o) && !allowed('-', o) {
			t.Errorf("lacks %s", o)
		}
	}
	for _, o := range ours {
		if !slices.Contains(theirs, o) && !allowed('+', o) {
			t.Errorf("has more: %s", o)
		}
	}
	for _, r := range rules {
		if !r.used {
			t.Errorf("no difference is like %c %s", r.sign, r.pattern)
		}
	}
}
