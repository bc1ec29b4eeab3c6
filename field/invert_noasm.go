//go:build !amd64 || purego

package field

func init() { invertOperations() }

func invert(out, a *[4]uint64) { invertGeneric(out, a) }
