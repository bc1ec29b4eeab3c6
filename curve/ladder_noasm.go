//go:build !amd64 || purego

package curve

func init() { ladderOperations() }

func ladder(x, z *[4]uint64, k, u *[32]byte) {
	checkGeneric()
	ladderGeneric(x, z, k, u)
}
