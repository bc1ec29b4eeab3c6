//go:build !amd64 || purego

package curve

func ladderAssembly() []ladderKernel { return nil }
