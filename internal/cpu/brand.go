package cpu

import (
	"fmt"
	"strings"
)

// Needs returns the features that a tier rests on, those of the tiers below it
// included.
func Needs(tier string) Features {
	switch tier {
	case "mulx":
		return mulxFeatures
	case "adx":
		return mulxFeatures | adxFeatures
	case "ifma":
		return mulxFeatures | ifmaFeatures
	case "shani":
		return shaniFeatures
	case "aesni":
		return aesniFeatures
	}
	return 0
}

// brand joins the brand string with the signature of leaf 1, whose extended
// fields count as the AMD64 manual, volume 3, Fn0000_0001_EAX says.
func brand(name string, eax uint32) string {
	family, model := eax>>8&15, eax>>4&15
	if family == 6 || family == 15 {
		model |= eax >> 16 & 15 << 4
	}
	if family == 15 {
		family += eax >> 20 & 255
	}
	return fmt.Sprintf("%s (family %d, model %d, stepping %d)", strings.TrimSpace(name), family, model, eax&15)
}
