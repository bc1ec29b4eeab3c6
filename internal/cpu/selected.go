package cpu

import "os"

var (
	mask     = ParseMask(os.Getenv("SIGCORE_CPU"))
	selected = detect(mask)
)

// The tiers that this process may run. They are constant after initialisation.
var (
	MULX = selected.MULX
	ADX  = selected.ADX
	IFMA = selected.IFMA

	// ZMM is true if kernels of the tier ifma may use 512-bit registers.
	ZMM = selected.ZMM

	// SHANI is true if kernels may use the SHA-256 instructions.
	SHANI = selected.SHANI

	// AESNI is true if kernels may use the AES instructions.
	AESNI = selected.AESNI
)

// Tiers are the names of the tiers above generic, fastest first. What Symmetric
// names is not among them.
func Tiers() []string { return []string{"ifma", "adx", "mulx"} }

// Symmetric are the names of the tiers that stand beside those: for hashes and
// for ciphers, which the others are not for.
func Symmetric() []string { return []string{"shani", "aesni"} }

// Reason says why tier may not run in this process, and "" if it may. Beside
// the names of all tiers it knows zmm.
func Reason(tier string) string { return selected.Reason(tier) }

// Failed reports that this build has the tier mulx compiled in and that this
// process must not run it; Reason("mulx") says why. Every operation that rests
// on the tier must then fail.
func Failed() bool { return V3 && !MULX }

// UnknownMask returns the entries of SIGCORE_CPU that name nothing.
func UnknownMask() []string { return mask.Unknown }
