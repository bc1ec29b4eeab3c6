//go:build !amd64 || purego

package cpu

// Assembly is true in builds that have kernels.
const Assembly = false

// detect finds nothing: there is no kernel that it could allow.
func detect(Mask) Selection {
	const why = "this build has no assembly: not amd64, or the tag purego"
	return Selection{mulxWhy: why, adxWhy: why, ifmaWhy: why, zmmWhy: why, shaniWhy: why, aesniWhy: why}
}

// Present returns nothing: this build does not look.
func Present() Features { return 0 }

// Brand is empty: this build does not look.
func Brand() string { return "" }
