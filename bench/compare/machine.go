package main

import (
	"runtime"
	"runtime/debug"
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
	return environment{
		CPU: "", Features: nil,
		Go: runtime.Version(), Gomaxprocs: runtime.GOMAXPROCS(0), Commit: commit,
	}
}
