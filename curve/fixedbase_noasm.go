//go:build !amd64 || purego

package curve

func init() { fixedBaseOperations() }

func multiplyBase(v *Point, digits *radix16) {
	checkGeneric()
	fixedBaseGeneric(v, &fixedBaseTable, digits)
}
