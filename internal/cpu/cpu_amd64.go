//go:build !purego

package cpu

import (
	"runtime"

	secondopinion "github.com/klauspost/cpuid/v2"
)

// Assembly is true in builds that have kernels.
const Assembly = true

func detect(mask Mask) Selection {
	return Evaluate(Machine{
		Words:     Read(readLeaf, xgetbv),
		Opinion:   opinion(),
		OS:        runtime.GOOS,
		Mask:      mask,
		ProbeMULX: func() bool { return agree(mulxFlags, mulxFlagsGeneric) },
		ProbeADX:  func() bool { return agree(adxFlags, adxFlagsGeneric) },
	})
}

// Present returns what the processor under the calling thread announces, read
// at the time of the call. It decides nothing: it is for reports, and for
// checking that all processors of a machine are alike.
func Present() Features {
	w := Read(readLeaf, xgetbv)
	return w.Features()
}

// Brand names the processor for reports, with the family, model and stepping of
// CPUID leaf 1; it is empty in builds without assembly.
func Brand() string {
	w := Read(readLeaf, xgetbv)
	return brand(opinion().Brand, w.Leaf1.EAX)
}

func readLeaf(leaf, subleaf uint32) Regs {
	a, b, c, d := cpuid(leaf, subleaf)
	return Regs{a, b, c, d}
}

// opinion asks klauspost/cpuid, whose own initialisation has read the processor
// by then.
func opinion() Opinion {
	c := &secondopinion.CPU
	o := Opinion{Vendor: c.VendorString, Brand: c.BrandName}
	for _, f := range []struct {
		bit    Features
		theirs secondopinion.FeatureID
	}{
		{HasAVX, secondopinion.AVX},
		{HasAVX2, secondopinion.AVX2},
		{HasBMI2, secondopinion.BMI2},
		{HasADX, secondopinion.ADX},
		{HasAVX512F, secondopinion.AVX512F},
		{HasAVX512DQ, secondopinion.AVX512DQ},
		{HasAVX512BW, secondopinion.AVX512BW},
		{HasAVX512VL, secondopinion.AVX512VL},
		{HasAVX512IFMA, secondopinion.AVX512IFMA},
		{HasSSSE3, secondopinion.SSSE3},
		{HasSSE41, secondopinion.SSE4},
		{HasSHA, secondopinion.SHA},
		{HasAES, secondopinion.AESNI},
	} {
		if c.Has(f.theirs) {
			o.Features |= f.bit
		}
	}
	return o
}
