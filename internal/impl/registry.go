package impl

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// A kernel is one toggle: the code of one unit for one tier.
type kernel struct {
	pkg, name string
	toggle    *bool
	available bool
	static    bool   // compiled in: dispatchers take it whatever the toggle says
	demoted   string // why it was demoted
}

type operation struct {
	pkg, name string
	toggles   []*bool // fastest first
}

type registry struct {
	kernels    []*kernel
	operations []operation
	refused    []refusal
}

// A refusal says why an operation fails where no kernel serves it.
type refusal struct{ pkg, name, why string }

var global registry

// Register adds the kernels behind toggle to the set name of the calling
// package. The toggle must already say whether they may run in this process.
// Several toggles may share a name; turning one set off must not turn off
// another one. With static the build has compiled the choice in (cpu.V3), and
// no toggle reveals slower code.
func Register(name string, toggle *bool, static bool) {
	global.register(callerPackage(), name, toggle, static)
}

// Operation declares an operation of the calling package and the toggles of its
// kernels, fastest first; without toggles it has none in this build.
func Operation(name string, toggles ...*bool) {
	global.operation(callerPackage(), name, toggles)
}

// Demote turns toggle off for good, because of why: kernels that this process
// may run, and that gave a wrong result. A static kernel runs all the same: its
// unit must refuse the operation, and [Report] shows why.
func Demote(toggle *bool, why string) { global.demote(toggle, why) }

// Refuse says that operations of the calling package fail wherever no kernel
// serves them, because of why: their code without kernels gave a wrong result. The
// package must fail them; [Report] shows why.
func Refuse(why string, operations ...string) {
	global.refuse(callerPackage(), why, operations)
}

// List returns the names of the kernel sets of pkg in the order of registration.
func List(pkg string) []string { return global.list(pkg) }

// Known reports whether pkg has registered a kernel or declared an operation.
func Known(pkg string) bool { return global.known(pkg) }

// Select leaves name as the only kernel set of pkg that is on, or none for "".
// It reports whether that took effect: every kernel of the set may run here, and
// no static kernel hides it.
func Select(pkg, name string) bool { return global.choose(pkg, name) }

// Reset turns on every kernel of pkg that may run in this process.
func Reset(pkg string) { global.reset(pkg) }

func (r *registry) register(pkg, name string, toggle *bool, static bool) {
	if r.find(toggle) != nil {
		panic("impl: " + pkg + " registers a toggle of " + name + " twice")
	}
	r.kernels = append(r.kernels, &kernel{pkg: pkg, name: name, toggle: toggle, available: *toggle, static: static})
}

func (r *registry) operation(pkg, name string, toggles []*bool) {
	for _, o := range r.operations {
		if o.pkg == pkg && o.name == name {
			panic("impl: " + pkg + " declares the operation " + name + " twice")
		}
	}
	r.operations = append(r.operations, operation{pkg, name, slices.Clone(toggles)})
}

func (r *registry) demote(toggle *bool, why string) {
	k := r.find(toggle)
	if k == nil {
		panic("impl: a toggle is demoted before it is registered")
	}
	*toggle, k.available, k.demoted = false, false, why
}

func (r *registry) refuse(pkg, why string, operations []string) {
	for _, name := range operations {
		r.refused = append(r.refused, refusal{pkg, name, why})
	}
}

func (r *registry) find(toggle *bool) *kernel {
	for _, k := range r.kernels {
		if k.toggle == toggle {
			return k
		}
	}
	return nil
}

// kernelsOf returns the kernels of o. Files of a package may declare operations
// before another one registers the toggle, so this is looked up late.
func (r *registry) kernelsOf(o operation) []*kernel {
	kernels := make([]*kernel, len(o.toggles))
	for i, t := range o.toggles {
		if kernels[i] = r.find(t); kernels[i] == nil || kernels[i].pkg != o.pkg {
			panic("impl: the operation " + o.name + " of " + o.pkg + " names a toggle that its package has not registered")
		}
	}
	return kernels
}

func (r *registry) list(pkg string) []string {
	var names []string
	for _, k := range r.kernels {
		if k.pkg == pkg && !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

func (r *registry) known(pkg string) bool {
	return slices.ContainsFunc(r.operations, func(o operation) bool { return o.pkg == pkg }) || len(r.list(pkg)) > 0
}

func (r *registry) choose(pkg, name string) bool {
	found, ok := name == "", true
	for _, k := range r.kernels {
		if k.pkg != pkg {
			continue
		}
		*k.toggle = k.available && k.name == name
		switch {
		case k.name == name:
			found = true
			ok = ok && k.available
		case name == "":
			ok = ok && !k.static
		}
	}
	for _, o := range r.operations {
		if o.pkg == pkg && name != "" {
			ok = ok && !r.hidden(o, name)
		}
	}
	return found && ok
}

// hidden reports whether a static kernel of o comes before its kernel name.
func (r *registry) hidden(o operation, name string) bool {
	static := false
	for _, k := range r.kernelsOf(o) {
		if k.name == name {
			return static
		}
		static = static || k.static
	}
	return false
}

func (r *registry) reset(pkg string) {
	for _, k := range r.kernels {
		if k.pkg == pkg {
			*k.toggle = k.available
		}
	}
}

// callerPackage returns the last element of the import path of the package that
// called the exported function of this package.
func callerPackage() string {
	var pc [1]uintptr
	runtime.Callers(3, pc[:]) // Callers, callerPackage, the exported function
	frame, _ := runtime.CallersFrames(pc[:]).Next()
	return packageOf(frame.Function)
}

// packageOf cuts the package out of the name of a function, such as
// "github.com/sigcore/sigcore/field.init.0".
func packageOf(function string) string {
	name, _, _ := strings.Cut(path.Base(function), ".")
	return name
}
