//go:build !amd64 || purego

package field

func assemblyKernels() []kernelSet { return nil }
