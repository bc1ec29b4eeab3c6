package field

// A kernelSet names the functions of one tier, called directly: through a
// function value the operands would move to the heap, so the loops of the
// benchmarks are part of it.
type kernelSet struct {
	name        string
	mul         func(out, a, b *[5]uint64)
	square      func(out, a *[5]uint64)
	squareN     func(out, a *[5]uint64, n int)
	mulChain    func(a, b *[5]uint64, n int)
	squareChain func(a *[5]uint64, n int)
	mulFree     func(out *[4]Element, a, b *[5]uint64, n int)
	squareFree  func(out *[4]Element, a *[5]uint64, n int)
}

// kernels returns the tiers that may run here, the generic one first.
func kernels() []kernelSet {
	return append([]kernelSet{{
		"generic", feMulGeneric, feSquareGeneric, feSquareNGeneric,
		func(a, b *[5]uint64, n int) {
			for range n {
				feMulGeneric(a, a, b)
			}
		},
		func(a *[5]uint64, n int) {
			for range n {
				feSquareGeneric(a, a)
			}
		},
		func(out *[4]Element, a, b *[5]uint64, n int) {
			for i := range n {
				feMulGeneric(&out[i&3].l, a, b)
			}
		},
		func(out *[4]Element, a *[5]uint64, n int) {
			for i := range n {
				feSquareGeneric(&out[i&3].l, a)
			}
		},
	}}, assemblyKernels()...)
}
