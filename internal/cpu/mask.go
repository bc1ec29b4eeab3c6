package cpu

import "strings"

// MaskEntries are the entries that SIGCORE_CPU may have, for messages.
const MaskEntries = "generic, mulx=off, adx=off, ifma=off, zmm=off, shani=off, aesni=off"

// Mask is what SIGCORE_CPU removes.
type Mask struct {
	Generic, NoMULX, NoADX, NoIFMA, NoZMM, NoSHANI, NoAESNI bool

	// Unknown holds the entries that name nothing, in their order.
	Unknown []string
}

// ParseMask reads the value of SIGCORE_CPU: a comma list of MaskEntries. Space
// around an entry and empty entries do not matter; letter case does.
func ParseMask(s string) Mask {
	var m Mask
	for entry := range strings.SplitSeq(s, ",") {
		switch entry = strings.TrimSpace(entry); entry {
		case "":
		case "generic":
			m.Generic = true
		case "mulx=off":
			m.NoMULX = true
		case "adx=off":
			m.NoADX = true
		case "ifma=off":
			m.NoIFMA = true
		case "zmm=off":
			m.NoZMM = true
		case "shani=off":
			m.NoSHANI = true
		case "aesni=off":
			m.NoAESNI = true
		default:
			m.Unknown = append(m.Unknown, entry)
		}
	}
	return m
}
