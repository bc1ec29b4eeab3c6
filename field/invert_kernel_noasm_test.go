//go:build !amd64 || purego

package field

func invertAssembly() []invertKernel { return nil }
