//go:build !amd64 || purego

package curve

import "github.com/sigcore/sigcore/field"

func init() { ladderManyOperations() }

func ladderMany(x, z []field.Element, k, u [][32]byte) {
	for i := range x {
		ladderOne(&x[i], &z[i], &k[i], &u[i])
	}
}
