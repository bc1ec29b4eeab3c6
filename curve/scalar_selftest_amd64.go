//go:build !purego

package curve

// selfTestScalarMULX reports whether the scalar kernels of the tier mulx give
// the results of their twins, on the largest inputs and on a walk from there.
func selfTestScalarMULX() bool {
	const ones = 1<<64 - 1
	a := [4]uint64{ones, ones, ones, ones}
	b, c := a, a
	x := [8]uint64{ones, ones, ones, ones, ones, ones, ones, ones}
	for range 4 {
		var got, want [4]uint64
		scalarMulAddMULX(&got, &a, &b, &c)
		scalarMulAddGeneric(&want, &a, &b, &c)
		if got != want {
			return false
		}
		a, b = want, a
		scalarReduceWideMULX(&got, &x)
		scalarReduceWideGeneric(&want, &x)
		if got != want {
			return false
		}
		copy(x[:4], a[:])
		copy(x[3:], want[:])
	}
	return true
}
