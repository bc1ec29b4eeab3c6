package main

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/sigcore/sigcore/internal/cpu"
)

// environment is the last line of the output.
type environment struct {
	CPU        string   `json:"cpu"`
	Features   []string `json:"features"`
	Go         string   `json:"go"`
	Gomaxprocs int      `json:"gomaxprocs"`
	Commit     string   `json:"commit"`
}

func machine() environment {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	var features []string
	if present := cpu.Present(); present != 0 {
		features = strings.Split(present.String(), ", ")
	}
	return environment{
		CPU: cpu.Brand(), Features: features,
		Go: runtime.Version(), Gomaxprocs: runtime.GOMAXPROCS(0), Commit: commit,
	}
}
