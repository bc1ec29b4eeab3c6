//go:build !amd64 || purego

package curve

func init() { doubleBaseOperations() }

func oddMultiplesOf(table *[8][16]uint64, p *[4][4]uint64) {
	checkGeneric()
	oddMultiplesGeneric(table, p)
}

func varTimeDoubleBase(out *[4][4]uint64, steps *[96]uint32, n int, a *[8][16]uint64, b *[64][12]uint64) {
	checkGeneric()
	varTimeDoubleBaseGeneric(out, steps, n, a, b)
}

func varTimeWideDoubleBase(out *[4][4]uint64, steps *[96]uint32, n int, a *[64][12]uint64, b *[256][12]uint64) {
	checkGeneric()
	varTimeWideDoubleBaseGeneric(out, steps, n, a, b)
}
