//go:build !amd64 || purego

package curve

func init() { fixedBaseManyOperations() }

func fixedBaseMany(v []Point, k [][32]byte) {
	for i := range v {
		fixedBase(&v[i], &k[i])
	}
}
