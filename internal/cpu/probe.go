package cpu

import "math/bits"

// Bits of the flag words of the probes.
const (
	flagCF = 1 << iota
	flagOF
)

// addFlags returns CF and OF after a + b.
func addFlags(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	overflow := (a ^ sum) & (b ^ sum) >> 63
	return carry*flagCF | overflow*flagOF
}

func mulxFlagsGeneric(a, b, x, y uint64) (hi, lo, flags uint64) {
	hi, lo = bits.Mul64(x, y)
	return hi, lo, addFlags(a, b)
}

func adxFlagsGeneric(a, b, x, y uint64) (sx, sy, flags uint64) {
	before := addFlags(a, b)
	sx, cf := bits.Add64(x, x, before&flagCF)
	sy, of := bits.Add64(y, y, before&flagOF/flagOF)
	return sx, sy, cf*flagCF | of*flagOF
}

// presets are pairs whose sum gives each combination of CF and OF.
var presets = [...][2]uint64{
	{1, 1},             // neither
	{^uint64(0), 1},    // CF
	{1<<63 - 1, 1},     // OF
	{1 << 63, 1 << 63}, // both
}

// factors meet every carry that a product or a doubling can have.
var factors = [...]uint64{0, 1, 2, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, ^uint64(0), 0x9e3779b97f4a7c15}

// agree reports whether kernel and twin agree for all presets and factors.
func agree(kernel, twin func(a, b, x, y uint64) (r, s, flags uint64)) bool {
	for _, p := range presets {
		for _, x := range factors {
			for _, y := range factors {
				r, s, flags := kernel(p[0], p[1], x, y)
				wr, ws, wflags := twin(p[0], p[1], x, y)
				if r != wr || s != ws || flags != wflags {
					return false
				}
			}
		}
	}
	return true
}
