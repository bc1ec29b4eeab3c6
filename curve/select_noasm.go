//go:build !amd64 || purego

package curve

func selectNiels(yPlusX, yMinusX, t2d *[5]uint64, row *[8][12]uint64, digit int64) {
	selectGeneric(yPlusX, yMinusX, t2d, row, digit)
}
