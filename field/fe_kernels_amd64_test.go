//go:build !purego

package field

import "github.com/sigcore/sigcore/internal/cpu"

func assemblyKernels() []kernelSet {
	if !cpu.MULX {
		return nil
	}
	return []kernelSet{{
		"mulx", feMulMULX, feSquareMULX, feSquareNMULX,
		func(a, b *[5]uint64, n int) {
			for range n {
				feMulMULX(a, a, b)
			}
		},
		func(a *[5]uint64, n int) {
			for range n {
				feSquareMULX(a, a)
			}
		},
		func(out *[4]Element, a, b *[5]uint64, n int) {
			for i := range n {
				feMulMULX(&out[i&3].l, a, b)
			}
		},
		func(out *[4]Element, a *[5]uint64, n int) {
			for i := range n {
				feSquareMULX(&out[i&3].l, a)
			}
		},
	}}
}
