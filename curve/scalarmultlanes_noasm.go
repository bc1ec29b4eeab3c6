//go:build !amd64 || purego

package curve

func init() { scalarMultManyOperations() }

// scalarMultLanes returns how many points are multiplied side by side: zero, since
// no kernel does that.
func scalarMultLanes() int { return 0 }

// scalarMultMany sets each of v to k[i] * p[i] for the integer k[i] < 2^255.
// Constant time.
func scalarMultMany(v, p []Point, k [][32]byte) {
	for i := range v {
		digits := signedRadix16(&k[i])
		v[i].multiply(&p[i], &digits)
	}
}
