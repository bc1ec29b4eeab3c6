//go:build !amd64 || purego

package field

func init() { operations() }

func feMul(out, a, b *[5]uint64) { feMulGeneric(out, a, b) }

func feSquare(out, a *[5]uint64) { feSquareGeneric(out, a) }

func feSquareN(out, a *[5]uint64, n int) { feSquareNGeneric(out, a, n) }
