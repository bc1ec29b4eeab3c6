package main

import (
	"runtime/debug"
	"slices"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl"
)

// features and formats are what the operations of this program really do; the
// files that add them append to these.
var (
	features = []string{"rng"}
	formats  = []string{}
)

func init() {
	register("info", func(_ *peer, _ *struct{}) (answer, error) {
		slices.Sort(features)
		return answer{
			"peer":     "sigcore",
			"version":  version(),
			"features": features,
			"formats":  formats,
			"cpu":      cpu.Brand(),
			"tiers":    tiers(),
		}, nil
	})
}

// version is the revision that this program was built from, as far as the
// build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return "devel"
}

// tiers says which tier serves each operation that has kernels.
func tiers() map[string]string {
	t := make(map[string]string)
	for _, o := range impl.Report() {
		t[o.Package+"."+o.Name] = o.Tier
	}
	return t
}
