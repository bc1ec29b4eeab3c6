//go:build !amd64 || purego

package curve

func init() { scalarOperations() }

func scalarMulAdd(out, a, b, c *[4]uint64) { scalarMulAddGeneric(out, a, b, c) }

func scalarReduceWide(out *[4]uint64, x *[8]uint64) { scalarReduceWideGeneric(out, x) }
