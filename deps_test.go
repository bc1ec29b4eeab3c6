package sigcore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sigcore/sigcore"

// A layer is a package, or a pattern of packages, with what it may import of
// this module.
type layer struct {
	pkg  string
	from []string
}

// layers says what each package of the root module may import of this module,
// as paths below the module. A path that ends in /... stands for a package and
// all below it. The first matching row counts.
var layers = []layer{
	{"internal/cpu", nil},
	{"internal/impl", []string{"internal/cpu"}},
	{"internal/impl/impltest", []string{"internal/cpu", "internal/impl"}},
	{"internal/random", nil},
	{"internal/testvec", nil},
	{"internal/kdf", []string{"internal/cpu", "internal/impl"}},
	{"internal/aescbc", []string{"internal/cpu", "internal/impl"}},
	{"field", []string{"internal/cpu", "internal/impl"}},
	{"curve/internal/...", []string{"curve/internal/...", "field"}},
	{"curve", []string{"curve/internal/...", "field", "internal/cpu", "internal/impl", "internal/random"}},
	{"signal/internal/accounttest", []string{"signal", "signal/store", "curve", "internal/random", "internal/testvec"}},
	{"signal/internal/...", []string{"signal/internal/...", "curve", "internal/kdf", "internal/random"}},
	{"signal/store/...", []string{"signal/store/...", "internal/kdf", "internal/random"}},
	{"signal/convert/...", []string{"signal", "signal/convert/...", "signal/internal/...", "signal/store", "curve", "internal/kdf"}},
	{"signal", []string{"signal/internal/...", "signal/store", "curve", "internal/aescbc", "internal/kdf", "internal/random"}},
	{"binary/...", []string{"binary/..."}},
	{"send/...", []string{"send/...", "signal", "signal/store", "binary", "internal/kdf", "internal/random"}},
}

// outside says which packages, tests apart, may import what lies outside this
// module. Keys are import paths and all below them; what is not listed and not
// of the standard library, no package may import.
var outside = map[string][]string{
	"crypto/rand":                   {"internal/random"},
	"math/rand":                     {"internal/testvec", "signal/store/storetest", "signal/internal/accounttest"}, // seeded
	"github.com/klauspost/cpuid/v2": {"internal/cpu"},
	"golang.org/x/crypto":           {"signal/store"},
	"google.golang.org/protobuf":    {"signal/...", "send/..."},
	"filippo.io/edwards25519":       nil, // a test oracle
}

// A node is a package with its imports.
type node struct {
	path    string // import path
	imports []string
	tests   []string // imports of its tests alone
}

// checkRoot returns what breaks the rules among the packages of the root module.
func checkRoot(nodes []node) []string {
	var faults []string
	for _, n := range nodes {
		pkg, ok := local(n.path)
		if !ok || pkg == "" { // the tests beside go.mod
			continue
		}
		row := slices.IndexFunc(layers, func(l layer) bool { return matches(l.pkg, pkg) })
		if row < 0 {
			faults = append(faults, fmt.Sprintf("%s has no row among the layers", pkg))
			continue
		}
		for _, path := range n.imports {
			if dep, ok := local(path); ok {
				if !slices.ContainsFunc(layers[row].from, func(p string) bool { return matches(p, dep) }) {
					faults = append(faults, fmt.Sprintf("%s imports %s", pkg, dep))
				}
			} else if fault := checkOutside(pkg, path); fault != "" {
				faults = append(faults, fault)
			}
		}
		for _, path := range n.tests {
			if pkg != "internal/cpu" && under("github.com/klauspost/cpuid/v2", path) {
				faults = append(faults, fmt.Sprintf("a test of %s imports %s", pkg, path))
			}
		}
	}
	return faults
}

func checkOutside(pkg, path string) string {
	for prefix, users := range outside {
		if !under(prefix, path) {
			continue
		}
		if slices.ContainsFunc(users, func(u string) bool { return matches(u, pkg) }) {
			return ""
		}
		return fmt.Sprintf("%s imports %s", pkg, path)
	}
	if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
		return fmt.Sprintf("%s imports %s", pkg, path)
	}
	return ""
}

// checkNested returns what breaks the rules in the nested module in dir. Only
// bench may see the kernels and draw randomness of its own.
func checkNested(dir string, nodes []node) []string {
	if dir == "bench" {
		return nil
	}
	var faults []string
	for _, n := range nodes {
		for _, path := range n.imports {
			dep, _ := local(path)
			switch {
			case dep == "internal/cpu", dep == "internal/impl", dep == "internal/impl/impltest", dep == "field",
				path == "crypto/rand", under("math/rand", path), under("github.com/klauspost/cpuid", path):
				faults = append(faults, fmt.Sprintf("%s imports %s", n.path, path))
			}
		}
	}
	return faults
}

// local cuts the module path off an import path.
func local(path string) (string, bool) {
	if path == module {
		return "", true
	}
	return strings.CutPrefix(path, module+"/")
}

func under(prefix, path string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func matches(pattern, pkg string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return under(prefix, pkg)
	}
	return pattern == pkg
}

// TestImports holds the packages to the layers, as they are built for amd64,
// without assembly and for another processor.
func TestImports(t *testing.T) {
	for _, build := range []struct{ name, arch, tags string }{
		{"amd64", "amd64", ""},
		{"purego", "amd64", "purego"},
		{"arm64", "arm64", ""},
	} {
		t.Run(build.name, func(t *testing.T) {
			nodes := list(t, build.arch, build.tags)
			if !slices.ContainsFunc(nodes, func(n node) bool { return n.path == module+"/internal/cpu" }) {
				t.Fatalf("internal/cpu is not among %d packages", len(nodes))
			}
			for _, fault := range checkRoot(nodes) {
				t.Error(fault)
			}
		})
	}
}

func TestImportsOfNestedModules(t *testing.T) {
	for _, dir := range nestedModules(t) {
		t.Run(dir, func(t *testing.T) {
			nodes := parse(t, dir)
			if len(nodes) == 0 {
				t.Fatal("no package found")
			}
			for _, fault := range checkNested(dir, nodes) {
				t.Error(fault)
			}
		})
	}
}

// The checks find what they are for.
func TestImportChecks(t *testing.T) {
	for _, tc := range []struct {
		pkg     string
		imports []string
		want    string // "" if allowed
	}{
		{"field", []string{"fmt", module + "/internal/cpu", module + "/internal/impl"}, ""},
		{"curve", []string{module + "/field", module + "/internal/random", "crypto/sha512"}, ""},
		{"signal", []string{module + "/curve", module + "/internal/kdf", module + "/signal/internal/pb", "google.golang.org/protobuf/encoding/protowire"}, ""},
		{"signal/store", []string{"golang.org/x/crypto/chacha20poly1305"}, ""},
		{"signal/store/storetest", []string{module + "/signal/store", "testing"}, ""},
		{"send", []string{module + "/signal", module + "/binary", "google.golang.org/protobuf/proto"}, ""},
		{"internal/random", []string{"crypto/rand"}, ""},
		{"internal/cpu", []string{"github.com/klauspost/cpuid/v2"}, ""},

		{"field", []string{module + "/curve"}, "field imports curve"},
		{"curve", []string{module + "/signal"}, "curve imports signal"},
		{"signal", []string{module + "/field"}, "signal imports field"},
		{"signal", []string{module + "/internal/cpu"}, "signal imports internal/cpu"},
		{"send", []string{module + "/internal/impl"}, "send imports internal/impl"},
		{"send", []string{module + "/curve"}, "send imports curve"},
		{"signal", []string{module + "/send"}, "signal imports send"},
		{"signal", []string{module + "/signal/convert"}, "signal imports signal/convert"},
		{"signal/store", []string{module + "/signal"}, "signal/store imports signal"},
		{"binary", []string{module + "/signal"}, "binary imports signal"},
		{"binary", []string{"google.golang.org/protobuf/proto"}, "binary imports google.golang.org/protobuf/proto"},
		{"internal/impl", []string{module + "/field"}, "internal/impl imports field"},
		{"internal/cpu", []string{module + "/internal/impl"}, "internal/cpu imports internal/impl"},
		{"curve", []string{"crypto/rand"}, "curve imports crypto/rand"},
		{"signal", []string{"math/rand/v2"}, "signal imports math/rand/v2"},
		{"field", []string{"github.com/klauspost/cpuid/v2"}, "field imports github.com/klauspost/cpuid/v2"},
		{"field", []string{"golang.org/x/sys/cpu"}, "field imports golang.org/x/sys/cpu"},
		{"curve", []string{"filippo.io/edwards25519"}, "curve imports filippo.io/edwards25519"},
		{"curve", []string{"golang.org/x/crypto/curve25519"}, "curve imports golang.org/x/crypto/curve25519"},
		{"signal", []string{module + "/internal/testvec"}, "signal imports internal/testvec"},
		{"unheard", nil, "unheard has no row among the layers"},
	} {
		got := checkRoot([]node{{path: module}, {path: module + "/" + tc.pkg, imports: tc.imports}})
		if want := []string{tc.want}; tc.want == "" && len(got) > 0 || tc.want != "" && !slices.Equal(got, want) {
			t.Errorf("%s with %v: %q, want %q", tc.pkg, tc.imports, got, tc.want)
		}
	}
	tests := node{path: module + "/field", tests: []string{"crypto/rand", "filippo.io/edwards25519", module + "/curve"}}
	if got := checkRoot([]node{tests}); len(got) > 0 {
		t.Errorf("tests of field: %q", got)
	}
	tests.tests = []string{"github.com/klauspost/cpuid/v2"}
	if got := checkRoot([]node{tests}); len(got) != 1 {
		t.Errorf("a test of field that looks at the processor: %q", got)
	}
	for path, faults := range map[string]int{
		module + "/signal": 0, module + "/signal/store": 0, module + "/internal/random": 0, "database/sql": 0,
		module + "/internal/cpu": 1, module + "/internal/impl": 1, module + "/field": 1, "crypto/rand": 1, "math/rand": 1,
	} {
		nodes := []node{{path: module + "/signal/sqlstore", imports: []string{path}}}
		if got := checkNested("signal/sqlstore", nodes); len(got) != faults {
			t.Errorf("signal/sqlstore imports %s: %q", path, got)
		}
		if got := checkNested("bench", nodes); len(got) != 0 {
			t.Errorf("bench imports %s: %q", path, got)
		}
	}
}

// TestRequirements keeps the direct dependencies of users few.
func TestRequirements(t *testing.T) {
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goCommand(t, nil, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	allowed := []string{
		"github.com/klauspost/cpuid/v2", "golang.org/x/crypto", "google.golang.org/protobuf", "filippo.io/edwards25519",
	}
	for _, r := range mod.Require {
		if !r.Indirect && !slices.Contains(allowed, r.Path) {
			t.Errorf("go.mod requires %s", r.Path)
		}
	}
}

// list returns the packages of the root module. It stays away from the network:
// what a package imports is known without what it imports.
func list(t *testing.T, arch, tags string) []node {
	t.Helper()
	out := goCommand(t, []string{"GOARCH=" + arch, "CGO_ENABLED=0", "GOPROXY=off"},
		"list", "-e", "-tags="+tags, "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	var nodes []node
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nodes
		} else if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, node{p.ImportPath, p.Imports, slices.Concat(p.TestImports, p.XTestImports)})
	}
}

// parse returns the packages of the nested module in dir from its source alone:
// to load them may need dependencies that are not there.
func parse(t *testing.T, dir string) []node {
	t.Helper()
	nested := nestedModules(t)
	imports := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != dir && (d.Name() == "testdata" || slices.Contains(nested, filepath.ToSlash(path))) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(path))
		for _, i := range f.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil {
				imports[pkg] = append(imports[pkg], path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var nodes []node
	for pkg, paths := range imports {
		nodes = append(nodes, node{path: pkg, imports: paths})
	}
	return nodes
}

// nestedModules returns the directories below this one that have a go.mod.
func nestedModules(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.Name() == "go.mod" && path != "go.mod" {
			dirs = append(dirs, filepath.ToSlash(filepath.Dir(path)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func goCommand(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Skip("needs the go command")
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = new(bytes.Buffer)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, cmd.Stderr)
	}
	return out
}
