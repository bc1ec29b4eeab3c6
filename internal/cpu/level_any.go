//go:build !amd64.v3 || purego

package cpu

// V3 is true in builds for GOAMD64=v3 or higher with assembly. The Go runtime
// refuses to start them without BMI2 and AVX2, so the tier mulx is compiled in
// and its generic twin is dead code.
const V3 = false
