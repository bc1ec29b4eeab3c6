package impl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sigcore/sigcore/internal/cpu"
)

// An OperationReport says which tier serves an operation in this process.
type OperationReport struct {
	Package, Name string

	// Tier is the tier that runs, "generic" if no kernel does.
	Tier string

	// Kernels are the tiers that the operation has kernels for in this build,
	// fastest first.
	Kernels []string

	// Failed, if not empty, says why every call of the operation fails: the
	// build has compiled a tier in that this process must not run, or the code
	// without kernels is wrong here.
	Failed string

	// NotUsed has each tier above Tier, fastest first.
	NotUsed []Reason
}

// A Reason says why a tier is not used.
type Reason struct{ Tier, Why string }

// String formats the report of one operation in one line and one more for each
// tier above the one that runs.
func (o OperationReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s: %s", o.Package, o.Name, o.Tier)
	if o.Failed != "" {
		fmt.Fprintf(&b, " (fails: %s)", o.Failed)
	}
	for _, r := range o.NotUsed {
		fmt.Fprintf(&b, "\n\tnot %s: %s", r.Tier, r.Why)
	}
	return b.String()
}

// machine is what the report needs of package cpu.
type machine struct {
	assembly bool
	reason   func(tier string) string
}

// Report returns the state of all declared operations, ordered by package, then
// by their declaration.
func Report() []OperationReport {
	return global.report(machine{cpu.Assembly, cpu.Reason})
}

// String formats the report of all operations, and names the entries of
// SIGCORE_CPU that name nothing.
func String() string {
	return format(Report(), cpu.UnknownMask())
}

func format(report []OperationReport, unknown []string) string {
	var b strings.Builder
	for _, entry := range unknown {
		fmt.Fprintf(&b, "SIGCORE_CPU: unknown entry %q removes nothing; known are %s\n", entry, cpu.MaskEntries)
	}
	for _, o := range report {
		b.WriteString(o.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *registry) report(m machine) []OperationReport {
	report := make([]OperationReport, 0, len(r.operations))
	for _, o := range r.operations {
		report = append(report, r.reportOf(o, m))
	}
	slices.SortStableFunc(report, func(a, b OperationReport) int { return strings.Compare(a.Package, b.Package) })
	return report
}

func (r *registry) reportOf(o operation, m machine) OperationReport {
	kernels := r.kernelsOf(o)
	rep := OperationReport{Package: o.pkg, Name: o.name, Tier: "generic"}
	for _, k := range kernels {
		rep.Kernels = append(rep.Kernels, k.name)
	}
	running := slices.IndexFunc(kernels, func(k *kernel) bool { return k.static || *k.toggle })
	if running >= 0 {
		k := kernels[running]
		rep.Tier = k.name
		if k.static && !k.available {
			rep.Failed = why(k, m)
		}
	} else {
		running = len(kernels)
		for _, f := range r.refused {
			if f.pkg == o.pkg && f.name == o.name {
				rep.Failed = f.why
			}
		}
	}
	above := kernels[:running]
	for _, tier := range cpu.Tiers() {
		if tier == rep.Tier {
			break
		}
		if i := slices.IndexFunc(above, func(k *kernel) bool { return k.name == tier }); i >= 0 {
			rep.NotUsed = append(rep.NotUsed, Reason{tier, why(above[i], m)})
			above = slices.Delete(slices.Clone(above), i, i+1)
		} else if tier != "adx" { // adx varies the kernels of mulx: most operations need none
			rep.NotUsed = append(rep.NotUsed, Reason{tier, m.noKernel(tier)})
		}
	}
	for _, k := range above {
		rep.NotUsed = append(rep.NotUsed, Reason{k.name, why(k, m)})
	}
	return rep
}

func (m machine) noKernel(tier string) string {
	if !m.assembly {
		return m.reason(tier)
	}
	return "the operation has no kernel for it"
}

// why says why k does not run, or must not.
func why(k *kernel, m machine) string {
	if k.demoted != "" {
		return k.demoted
	}
	if reason := m.reason(k.name); reason != "" {
		return reason
	}
	if !k.available {
		return "its unit does not allow it"
	}
	return "switched off by a test"
}
