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
	} {
		if c.Has(f.theirs) {
			o.Features |= f.bit
		}
	}
	return o
}
