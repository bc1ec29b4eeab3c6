//go:build !purego

package curve

const selfTestFailed = "curve: kernel self-test failed"

// selfTestAVX2 reports whether the kernel gives the results of its twin for
// every digit, on a row of the table whose coordinates have the limits of words
// among them.
func selfTestAVX2() bool {
	row := fixedBaseTable[0]
	row[3] = packedNiels{^uint64(0), 0, ^uint64(0), 1<<63 - 1, 0, ^uint64(0), 0, 1<<63 - 1}
	row[6] = packedNiels{8: ^uint64(18), ^uint64(0), ^uint64(0), 1<<63 - 1}
	for digit := int64(-8); digit <= 8; digit++ {
		var got, want [3][5]uint64
		selectAVX2(&got[0], &got[1], &got[2], &row, digit)
		selectGeneric(&want[0], &want[1], &want[2], &row, digit)
		if got != want {
			return false
		}
	}
	return true
}
