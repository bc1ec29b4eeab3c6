package cpu

import (
	"fmt"
	"strings"
)

// Opinion is what an independent detector says of the same processor.
type Opinion struct {
	Features      Features // usable ones: the processor and the operating system have them
	Vendor, Brand string
}

// Machine is everything that the decision depends on.
type Machine struct {
	Words   Words
	Opinion Opinion
	OS      string // as in runtime.GOOS
	Mask    Mask

	// ProbeMULX and ProbeADX execute the instructions and report whether
	// results and flags are right. Each is called only if nothing else speaks
	// against its tier.
	ProbeMULX, ProbeADX func() bool
}

// Selection is the decision: the tiers that may run.
type Selection struct {
	MULX, ADX, IFMA bool

	// SHANI stands beside the others: it rests on none of them, and none on it.
	SHANI bool

	// AESNI stands beside the others too.
	AESNI bool

	// ZMM is true if kernels of the tier ifma may use 512-bit registers.
	ZMM bool

	mulxWhy, adxWhy, ifmaWhy, zmmWhy, shaniWhy, aesniWhy string
}

// Reason says why tier (generic, mulx, adx, ifma, shani, aesni, or zmm for
// 512-bit registers) may not run, and "" if it may.
func (s *Selection) Reason(tier string) string {
	switch tier {
	case "generic":
		return ""
	case "mulx":
		return s.mulxWhy
	case "adx":
		return s.adxWhy
	case "ifma":
		return s.ifmaWhy
	case "zmm":
		return s.zmmWhy
	case "shani":
		return s.shaniWhy
	case "aesni":
		return s.aesniWhy
	}
	return fmt.Sprintf("there is no tier %q", tier)
}

// Evaluate decides. Its result depends on m alone.
func Evaluate(m Machine) Selection {
	var s Selection

	s.mulxWhy = m.why(mulxFeatures, m.Words.savesYMM(), "YMM", m.Mask.NoMULX, "mulx=off")
	if s.mulxWhy == "" && !m.ProbeMULX() {
		s.mulxWhy = "MULX was executed and gave a wrong product or changed the flags"
	}
	s.MULX = s.mulxWhy == ""

	if !s.MULX {
		s.adxWhy = "rests on mulx: " + s.mulxWhy
	} else {
		s.adxWhy = m.why(adxFeatures, true, "", m.Mask.NoADX, "adx=off")
		if s.adxWhy == "" && !m.ProbeADX() {
			s.adxWhy = "ADCX and ADOX were executed and gave a wrong sum or wrong flags"
		}
	}
	s.ADX = s.adxWhy == ""

	if !s.MULX {
		s.ifmaWhy = "rests on mulx: " + s.mulxWhy
	} else {
		s.ifmaWhy = m.why(ifmaFeatures, m.Words.savesZMM(), "ZMM", m.Mask.NoIFMA, "ifma=off")
	}
	s.IFMA = s.ifmaWhy == ""

	switch {
	case !s.IFMA:
		s.zmmWhy = "rests on ifma: " + s.ifmaWhy
	case m.Mask.NoZMM:
		s.zmmWhy = "removed by SIGCORE_CPU=zmm=off"
	}
	s.ZMM = s.zmmWhy == ""

	// The registers are those that every amd64 process has.
	s.shaniWhy = m.why(shaniFeatures, true, "", m.Mask.NoSHANI, "shani=off")
	s.SHANI = s.shaniWhy == ""
	s.aesniWhy = m.why(aesniFeatures, true, "", m.Mask.NoAESNI, "aesni=off")
	s.AESNI = s.aesniWhy == ""
	return s
}

// why returns what speaks against code that needs all features of need and, if
// state is not empty, that the operating system saves the registers it names;
// masked and maskEntry are the entry of the mask for that code.
func (m *Machine) why(need Features, saved bool, state string, masked bool, maskEntry string) string {
	var why []string
	has := m.Words.Features()
	if lacks := need &^ has; lacks != 0 {
		text := "the processor lacks " + lacks.String()
		if lacks&HasAVX != 0 && has&HasBMI2 != 0 {
			// Some Celeron and Pentium parts announce BMI2 and do not have
			// it (Intel erratum SKL052). None of them announces AVX.
			text += " (its BMI2 is not believed without AVX)"
		}
		if lacks&HasAVX512IFMA != 0 && m.Words.avxIFMA() {
			text += " (it has AVX-IFMA, which is another encoding)"
		}
		why = append(why, text)
	}
	switch {
	case saved:
	case !m.Words.osxsave():
		why = append(why, "the operating system does not save "+state+" registers (OSXSAVE is clear)")
	default:
		why = append(why, fmt.Sprintf("the operating system does not save %s registers (XCR0 = %#x)", state, m.Words.XCR0))
	}
	// The opinion follows from the same words: it adds something only where
	// these raise no objection.
	if unconfirmed := need &^ m.Opinion.Features; unconfirmed != 0 && len(why) == 0 {
		why = append(why, "klauspost/cpuid does not confirm "+unconfirmed.String())
	}
	if by := m.denied(need); by != "" {
		why = append(why, by)
	}
	switch {
	case m.Mask.Generic:
		why = append(why, "removed by SIGCORE_CPU=generic")
	case masked:
		why = append(why, "removed by SIGCORE_CPU="+maskEntry)
	}
	return strings.Join(why, "; ")
}

// denied applies the rules about machines whose announced features exist and
// still must not be used.
func (m *Machine) denied(need Features) string {
	// Apple's translator lets MULX damage the carry flag and announces BMI2 to
	// Linux guests (golang/go #79205).
	for _, name := range []string{m.Words.Vendor, m.Opinion.Vendor, m.Opinion.Brand} {
		if strings.Contains(name, "VirtualApple") {
			return "the processor is translated (VirtualApple)"
		}
	}
	switch m.OS {
	case "darwin", "ios":
		// The kernel turns AVX-512 on for a thread after its first fault
		// (golang/go #42649, #43089).
		if need&ifmaFeatures != 0 {
			return "AVX-512 is not used on " + m.OS
		}
	case "netbsd", "openbsd", "dragonfly":
		// Vector registers have been lost across signals (golang/go #80285).
		if need&(HasAVX|HasAVX2|ifmaFeatures) != 0 {
			return "vector registers are not used on " + m.OS
		}
	}
	return ""
}
