//go:build !purego

package field

const selfTestFailed = "field: kernel self-test failed"

// selfTestMULX reports whether the kernels of the tier mulx give the results of
// their twins, on limbs at both ends of their range and on a walk from there.
func selfTestMULX() bool {
	a := [5]uint64{1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1, 1<<52 - 1}
	b := [5]uint64{1<<52 - 1, 0, 1<<51 - 19, 1, 1<<52 - 1}
	for n := 1; n <= 4; n++ {
		var got, want [5]uint64
		feMulMULX(&got, &a, &b)
		feMulGeneric(&want, &a, &b)
		if got != want {
			return false
		}
		feSquareMULX(&got, &a)
		feSquareGeneric(&want, &a)
		if got != want {
			return false
		}
		feSquareNMULX(&got, &b, n)
		feSquareNGeneric(&want, &b, n)
		if got != want {
			return false
		}
		feMulGeneric(&b, &a, &b)
		a = want
	}
	return true
}
