// Package dropin makes, in temporary folders, the modules in which the drop-in
// and go.mau.fi/libsignal meet: both have one module path, so a program links
// either, or the incumbent under another path, from a copy of its source that is
// made on the spot.
package dropin

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed testdata
var sources embed.FS

// Incumbent is the module path of both.
const Incumbent = "go.mau.fi/libsignal"

// Dir returns the folder of a module that this one requires.
func Dir(module string) (string, error) {
	out, err := command("", "go", "list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return "", err
	}
	dir := strings.TrimSpace(out)
	if dir == "" {
		return "", fmt.Errorf("dropin: module %s is not downloaded", module)
	}
	return dir, nil
}

// root returns the folder of the checkout.
func root() (string, error) { return Dir("github.com/sigcore/sigcore") }

// A Module is one in a temporary folder.
type Module struct{ Dir string }

// NewModule makes a module in dir with requirements, over the drop-in in place of
// the incumbent if dropin is set.
func NewModule(dir string, dropin bool, requirements ...string) (*Module, error) {
	var mod strings.Builder
	fmt.Fprintf(&mod, "module dropin.test\n\ngo 1.26.0\n\n")
	if dropin {
		r, err := root()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&mod, "replace %s => %s\n\n", Incumbent, filepath.Join(r, "signal", "dropin"))
		fmt.Fprintf(&mod, "replace github.com/sigcore/sigcore => %s\n\n", r)
	}
	for _, r := range requirements {
		fmt.Fprintf(&mod, "require %s\n", r)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return &Module{dir}, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod.String()), 0o644)
}

// Add writes the files of a folder of the sources into a folder of the module, as
// a package of that name, with import paths replaced.
func (m *Module) Add(source, folder, pkg string, replace ...string) error {
	files, err := fs.Glob(sources, "testdata/"+source+"/*.go")
	if err != nil || len(files) == 0 {
		return fmt.Errorf("dropin: no source %s", source)
	}
	for _, name := range files {
		text, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		t := strings.Replace("\n"+string(text), "\npackage "+source+"\n", "\npackage "+pkg+"\n", 1)
		t = strings.NewReplacer(replace...).Replace(t)
		if err := m.write(filepath.Join(folder, filepath.Base(name)), t); err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) write(name, text string) error {
	name = filepath.Join(m.Dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// Copy copies the Go files of a folder that keep selects into a folder of the
// module, with import paths replaced.
func (m *Module) Copy(from, folder string, keep func(name string) bool, replace ...string) error {
	r := strings.NewReplacer(replace...)
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || !keep(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return m.write(filepath.Join(folder, rel), r.Replace(string(text)))
	})
}

// Go runs the go command in the module, after go mod tidy.
func (m *Module) Go(args ...string) (string, error) {
	if out, err := command(m.Dir, "go", "mod", "tidy"); err != nil {
		return out, err
	}
	return command(m.Dir, "go", args...)
}

func command(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("dropin: %s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), err
}

// Dual makes the module of both at once in dir, and builds its program.
func Dual(dir string) (program string, err error) {
	incumbent, err := Dir(Incumbent)
	if err != nil {
		return "", err
	}
	m, err := NewModule(dir, true, Incumbent+" v0.2.2")
	if err != nil {
		return "", err
	}
	const other = "dropin.test/incumbent"
	notTest := func(name string) bool { return !strings.HasSuffix(name, "_test.go") }
	if err := m.Copy(incumbent, "incumbent", notTest, Incumbent+"/", other+"/"); err != nil {
		return "", err
	}
	if err := m.Add("party", "mau", "mau", Incumbent+"/", other+"/"); err != nil {
		return "", err
	}
	if err := m.Add("party", "drop", "drop"); err != nil {
		return "", err
	}
	if err := m.Add("dual", ".", "main"); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "dual")
	_, err = m.Go("build", "-o", program, ".")
	return program, err
}

// Worker makes the module of one of both in dir, and builds the program that runs
// operations.
func Worker(dir string, dropin bool) (program string, err error) {
	m, err := NewModule(dir, dropin, Incumbent+" v0.2.2")
	if err != nil {
		return "", err
	}
	if err := m.Add("party", "party", "party"); err != nil {
		return "", err
	}
	if err := m.Add("worker", ".", "main"); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "worker")
	_, err = m.Go("build", "-o", program, ".")
	return program, err
}

// Download returns the folder with the source of a version of a module.
func (m *Module) Download(module, version string) (string, error) {
	out, err := command(m.Dir, "go", "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return "", err
	}
	var answer struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || answer.Dir == "" {
		return "", fmt.Errorf("dropin: %s of %s was not downloaded", version, module)
	}
	return answer.Dir, nil
}
