//go:build !purego

package curve

// selfTestScalar reports whether the kernels give the results of their twins, on
// the largest inputs, then on those of which half of the words are at their
// limits.
func selfTestScalar(mulAdd func(out, a, b, c *[4]uint64), reduceWide func(out *[4]uint64, x *[8]uint64)) bool {
	const ones = 1<<64 - 1
	walk := wordWalk(1)
	x := [8]uint64{ones, ones, ones, ones, ones, ones, ones, ones}
	a, b, c := [4]uint64(x[4:]), [4]uint64(x[4:]), [4]uint64(x[4:])
	for range 256 {
		var got, want [4]uint64
		mulAdd(&got, &a, &b, &c)
		scalarMulAddGeneric(&want, &a, &b, &c)
		if got != want {
			return false
		}
		reduceWide(&got, &x)
		scalarReduceWideGeneric(&want, &x)
		if got != want {
			return false
		}
		for i := range 4 {
			a[i], b[i], c[i], x[i], x[4+i] = walk.next(), walk.next(), walk.next(), walk.next(), walk.next()
		}
	}
	return true
}
