//go:build !amd64 || purego

package curve

func scalarAssembly() []scalarKernels { return nil }
