//go:build !purego

package field

const selfTestFailed = "field: kernel self-test failed"

// selfTest reports whether the kernels give the results of their twins, on limbs
// at both ends of their range and on a walk from there.
func selfTest(mul func(out, a, b *[5]uint64), square func(out, a *[5]uint64), squareN func(out, a *[5]uint64, n int)) bool {
	a := [5]uint64{1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1}
	b := [5]uint64{1<<52 - 1, 0, 1<<51 - 19, 1, 1<<52 - 1}
	for n := 1; n <= 16; n++ {
		var got, want [5]uint64
		mul(&got, &a, &b)
		feMulGeneric(&want, &a, &b)
		if got != want {
			return false
		}
		square(&got, &a)
		feSquareGeneric(&want, &a)
		if got != want {
			return false
		}
		squareN(&got, &b, n)
		feSquareNGeneric(&want, &b, n)
		if got != want {
			return false
		}
		feMulGeneric(&b, &a, &b)
		a = want
	}
	return true
}
