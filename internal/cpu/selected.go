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
)

// Tiers are the names of the tiers above generic, fastest first. The tier shani
// is not among them: it is for hashes, which these are not for.
func Tiers() []string { return []string{"ifma", "adx", "mulx"} }

// Reason says why tier may not run in this process, and "" if it may. Beside
// the names of the tiers it knows shani and zmm.
func Reason(tier string) string { return selected.Reason(tier) }

// Failed reports that this build has the tier mulx compiled in and that this
// process must not run it; Reason("mulx") says why. Every operation that rests
// on the tier must then fail.
func Failed() bool { return V3 && !MULX }

// UnknownMask returns the entries of SIGCORE_CPU that name nothing.
func UnknownMask() []string { return mask.Unknown }
