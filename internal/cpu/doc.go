// Package cpu decides which kernels this process may run. It is the only code
// of sigcore that looks at the processor.
//
// The decision is taken once, in package initialisation, from the CPUID leaves
// 0, 1, 7.0 and 7.1, from XCR0 (read only where OSXSAVE allows XGETBV), from a
// second opinion (github.com/klauspost/cpuid/v2; a feature counts only if both
// see it), from the deny rules, from the environment variable SIGCORE_CPU and
// from executing the instructions whose flag behaviour the kernels depend on.
// [Evaluate] is that decision as a pure function. Nothing here depends on a
// model number or, but for one translator, on a vendor.
//
// Tiers, each with what it needs:
//
//	generic  nothing
//	mulx     BMI2, AVX and AVX2, the operating system saves YMM
//	adx      mulx and ADX
//	ifma     mulx and AVX-512 F, DQ, BW, VL, IFMA, the operating system saves ZMM
//	shani    SHA, SSE4.1 and SSSE3; for hashes, whatever else runs
//	aesni    AES; for ciphers, whatever else runs
//
// [ZMM] tells kernels of the tier ifma whether they may use 512-bit registers.
//
// SIGCORE_CPU is a comma list of generic, mulx=off, adx=off, ifma=off,
// zmm=off, shani=off and aesni=off. It can only remove. Other names are reported by [UnknownMask].
//
// In a build for GOAMD64=v3 the tier mulx is compiled in. Where this package
// refuses that tier all the same, [Failed] is true and the operations that rest
// on it must fail. In a build with the tag purego, or not for amd64, nothing is
// detected and every tier but generic is off.
package cpu

//go:generate go run -C ../../asm ./cpu -out ../internal/cpu/cpu_amd64.s -stubs ../internal/cpu/cpu_stubs_amd64.go -pkg cpu
