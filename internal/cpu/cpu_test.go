package cpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Bits as the manuals number them, apart from the code under test.
const (
	osxsave = 1 << 27 // leaf 1, ECX
	avx     = 1 << 28 // leaf 1, ECX

	bmi1   = 1 << 3 // leaf 7.0, EBX
	avx2   = 1 << 5
	bmi2   = 1 << 8
	avxF   = 1 << 16
	avxDQ  = 1 << 17
	adx    = 1 << 19
	ifma   = 1 << 21
	avxBW  = 1 << 30
	avxVL  = 1 << 31
	all512 = avxF | avxDQ | ifma | avxBW | avxVL

	avxIFMA = 1 << 23 // leaf 7.1, EAX
)

const (
	haswell = bmi1 | avx2 | bmi2
	icelake = haswell | adx | all512
)

// fake is a processor made up of words.
type fake struct {
	maxLeaf                 uint32
	vendor                  string
	signature               uint32 // leaf 1, EAX
	ecx1, ebx7, eax71, xcr0 uint32
}

func (f fake) cpuid(leaf, subleaf uint32) Regs {
	switch [2]uint32{leaf, subleaf} {
	case [2]uint32{0, 0}:
		v := []byte(f.vendor + strings.Repeat("\x00", 12))
		le := func(b []byte) uint32 {
			return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
		}
		return Regs{f.maxLeaf, le(v), le(v[8:]), le(v[4:])}
	case [2]uint32{1, 0}:
		return Regs{EAX: f.signature, ECX: f.ecx1}
	case [2]uint32{7, 0}:
		return Regs{EAX: 1, EBX: f.ebx7}
	case [2]uint32{7, 1}:
		return Regs{EAX: f.eax71}
	}
	return Regs{}
}

const every = HasAVX | HasAVX2 | HasBMI2 | HasADX | ifmaFeatures

func TestEvaluate(t *testing.T) {
	const (
		intel = "GenuineIntel"
		os    = osxsave | avx
	)
	full := fake{0x24, intel, 0x606a6, os, icelake, 0, 0xe7}
	with := func(change func(f *fake)) fake {
		f := full
		change(&f)
		return f
	}
	agrees := Opinion{Features: every, Vendor: intel}
	for _, tc := range []struct {
		name string
		fake fake
		// changes to a machine where all else is in favour
		opinion *Opinion
		goos    string
		mask    string
		noMULX  bool // the probe fails
		noADX   bool

		want string // highest tier, then + for each of adx and zmm
		why  map[string]string
	}{
		{name: "all", fake: full, want: "ifma+adx+zmm"},
		{
			name: "YMM off (GDS forced)", fake: with(func(f *fake) { f.xcr0 = 3 }), want: "generic",
			why: map[string]string{"mulx": "does not save YMM registers (XCR0 = 0x3)", "ifma": "rests on mulx: "},
		},
		{
			name: "XMM off in XCR0", fake: with(func(f *fake) { f.xcr0 = 0xe5 }), want: "generic",
			why: map[string]string{"mulx": "(XCR0 = 0xe5)"},
		},
		{
			name: "ZMM off", fake: with(func(f *fake) { f.xcr0 = 7 }), want: "mulx+adx",
			why: map[string]string{"ifma": "does not save ZMM registers (XCR0 = 0x7)"},
		},
		{name: "opmask off", fake: with(func(f *fake) { f.xcr0 = 0xc7 }), want: "mulx+adx"},
		{name: "upper half of ZMM0-15 off", fake: with(func(f *fake) { f.xcr0 = 0xa7 }), want: "mulx+adx"},
		{name: "ZMM16-31 off", fake: with(func(f *fake) { f.xcr0 = 0x67 }), want: "mulx+adx"},
		{
			name: "OSXSAVE clear", fake: with(func(f *fake) { f.ecx1 = avx }), want: "generic",
			why: map[string]string{"mulx": "OSXSAVE is clear"},
		},
		{
			name: "max leaf 1, garbage behind leaf 7", fake: with(func(f *fake) { f.maxLeaf = 1; f.ebx7 = ^uint32(0) }), want: "generic",
			why: map[string]string{"mulx": "lacks AVX2, BMI2"},
		},
		{name: "max leaf 0", fake: with(func(f *fake) { f.maxLeaf = 0 }), want: "generic"},
		{
			name: "AVX2 without AVX", fake: with(func(f *fake) { f.ecx1 = osxsave }), want: "generic",
			why: map[string]string{"mulx": "lacks AVX"},
		},
		{
			name: "BMI1 and BMI2, neither AVX nor ADX (SKL052)", fake: fake{0x16, intel, 0x506e3, osxsave, bmi1 | bmi2, 0, 3}, want: "generic",
			why: map[string]string{"mulx": "its BMI2 is not believed without AVX"},
		},
		{name: "BMI2, ADX, no AVX", fake: fake{0x16, intel, 0x506e3, osxsave, bmi1 | bmi2 | adx, 0, 7}, want: "generic"},
		{
			name: "BMI2 without ADX", fake: with(func(f *fake) { f.ebx7 = haswell; f.xcr0 = 7 }), want: "mulx",
			why: map[string]string{"adx": "lacks ADX", "ifma": "lacks AVX512F, AVX512DQ, AVX512BW, AVX512VL, AVX512IFMA"},
		},
		{name: "BMI2 without AVX2", fake: with(func(f *fake) { f.ebx7 &^= avx2 }), want: "generic"},
		{
			name: "ADX without BMI2", fake: with(func(f *fake) { f.ebx7 &^= bmi2 }), want: "generic",
			why: map[string]string{"mulx": "lacks BMI2", "adx": "rests on mulx: the processor lacks BMI2"},
		},
		{name: "F without DQ", fake: with(func(f *fake) { f.ebx7 &^= avxDQ }), want: "mulx+adx"},
		{name: "F without BW", fake: with(func(f *fake) { f.ebx7 &^= avxBW }), want: "mulx+adx"},
		{
			name: "F and IFMA without VL", fake: with(func(f *fake) { f.ebx7 &^= avxVL }), want: "mulx+adx",
			why: map[string]string{"ifma": "lacks AVX512VL"},
		},
		{
			name: "IFMA without F", fake: with(func(f *fake) { f.ebx7 &^= avxF }), want: "mulx+adx",
			why: map[string]string{"ifma": "lacks AVX512F"},
		},
		{
			name: "AVX-512 without IFMA (Skylake)", fake: with(func(f *fake) { f.ebx7 &^= ifma }), want: "mulx+adx",
			why: map[string]string{"ifma": "lacks AVX512IFMA"},
		},
		{
			name: "AVX-IFMA only", fake: fake{0x20, intel, 0xb06a2, os, haswell | adx, avxIFMA, 7}, want: "mulx+adx",
			why: map[string]string{"ifma": "it has AVX-IFMA, which is another encoding"},
		},
		{name: "Hygon with AVX2", fake: fake{0xd, "HygonGenuine", 0x900f01, os, haswell, 0, 7}, want: "mulx"},
		{name: "unknown vendor", fake: with(func(f *fake) { f.vendor = "  Shanghai  " }), want: "ifma+adx+zmm"},
		{name: "client signature, server features", fake: with(func(f *fake) { f.signature = 0xa0671 }), want: "ifma+adx+zmm"},
		{
			name: "zero", fake: fake{}, want: "generic",
			why: map[string]string{"mulx": "lacks AVX, AVX2, BMI2", "zmm": "rests on ifma: "},
		},
		{name: "every bit", fake: fake{^uint32(0), intel, ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}, want: "ifma+adx+zmm"},

		{
			name: "no second opinion", fake: full, opinion: &Opinion{}, want: "generic",
			why: map[string]string{"mulx": "klauspost/cpuid does not confirm AVX, AVX2, BMI2"},
		},
		{
			name: "BMI2 unconfirmed", fake: full, opinion: &Opinion{Features: every &^ HasBMI2}, want: "generic",
			why: map[string]string{"mulx": "klauspost/cpuid does not confirm BMI2"},
		},
		{name: "ADX unconfirmed", fake: full, opinion: &Opinion{Features: every &^ HasADX}, want: "ifma+zmm"},
		{
			name: "VL unconfirmed", fake: full, opinion: &Opinion{Features: every &^ HasAVX512VL}, want: "mulx+adx",
			why: map[string]string{"ifma": "klauspost/cpuid does not confirm AVX512VL"},
		},
		{name: "opinion alone", fake: fake{}, want: "generic"},

		{
			name: "translated, by vendor", fake: with(func(f *fake) { f.vendor = "VirtualApple" }), want: "generic",
			why: map[string]string{"mulx": "translated (VirtualApple)"},
		},
		{
			name: "translated, by the opinion's vendor", fake: full,
			opinion: &Opinion{Features: every, Vendor: "VirtualApple"}, want: "generic",
		},
		{
			name: "translated, by brand", fake: full,
			opinion: &Opinion{Features: every, Brand: "VirtualApple @ 2.50GHz processor"}, want: "generic",
		},
		{
			name: "darwin", fake: full, goos: "darwin", want: "mulx+adx",
			why: map[string]string{"ifma": "AVX-512 is not used on darwin"},
		},
		{name: "ios", fake: full, goos: "ios", want: "mulx+adx"},
		{
			name: "netbsd", fake: full, goos: "netbsd", want: "generic",
			why: map[string]string{"mulx": "vector registers are not used on netbsd"},
		},
		{name: "openbsd", fake: full, goos: "openbsd", want: "generic"},
		{name: "dragonfly", fake: full, goos: "dragonfly", want: "generic"},
		{name: "freebsd", fake: full, goos: "freebsd", want: "ifma+adx+zmm"},
		{name: "windows", fake: full, goos: "windows", want: "ifma+adx+zmm"},

		{
			name: "MULX damages a flag", fake: full, noMULX: true, want: "generic",
			why: map[string]string{"mulx": "MULX was executed", "ifma": "rests on mulx: MULX was executed"},
		},
		{
			name: "ADX damages a flag", fake: full, noADX: true, want: "ifma+zmm",
			why: map[string]string{"adx": "ADCX and ADOX were executed"},
		},

		{
			name: "masked generic", fake: full, mask: "generic", want: "generic",
			why: map[string]string{"mulx": "removed by SIGCORE_CPU=generic"},
		},
		{
			name: "masked mulx takes what rests on it", fake: full, mask: "mulx=off", want: "generic",
			why: map[string]string{
				"mulx": "removed by SIGCORE_CPU=mulx=off",
				"ifma": "rests on mulx: removed by SIGCORE_CPU=mulx=off",
			},
		},
		{name: "masked adx", fake: full, mask: "adx=off", want: "ifma+zmm"},
		{name: "masked ifma", fake: full, mask: "ifma=off", want: "mulx+adx"},
		{
			name: "masked zmm", fake: full, mask: "zmm=off", want: "ifma+adx",
			why: map[string]string{"zmm": "removed by SIGCORE_CPU=zmm=off"},
		},
		{name: "masked ifma and adx", fake: full, mask: " ifma=off, adx=off", want: "mulx"},
		{name: "a mask adds nothing", fake: fake{}, mask: "mulx=on,ifma=on,mulx,ifma", want: "generic"},
		{
			name: "two reasons", fake: with(func(f *fake) { f.xcr0 = 3 }), mask: "mulx=off", want: "generic",
			why: map[string]string{"mulx": "(XCR0 = 0x3); removed by SIGCORE_CPU=mulx=off"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			words := Read(
				func(leaf, subleaf uint32) Regs {
					if !slices.Contains([][2]uint32{{0, 0}, {1, 0}, {7, 0}, {7, 1}}, [2]uint32{leaf, subleaf}) {
						t.Errorf("leaf %#x.%d is read", leaf, subleaf)
					}
					if leaf > tc.fake.maxLeaf {
						t.Errorf("leaf %#x is read, the highest is %#x", leaf, tc.fake.maxLeaf)
					}
					return tc.fake.cpuid(leaf, subleaf)
				},
				func() uint32 {
					if tc.fake.ecx1&osxsave == 0 {
						t.Error("XGETBV is executed while OSXSAVE is clear")
					}
					return tc.fake.xcr0
				},
			)
			m := Machine{
				Words: words, Opinion: agrees, OS: "linux", Mask: ParseMask(tc.mask),
				ProbeMULX: func() bool {
					if tc.fake.ebx7&bmi2 == 0 || tc.fake.maxLeaf < 7 {
						t.Error("MULX is executed without BMI2")
					}
					if tc.mask == "generic" || tc.mask == "mulx=off" {
						t.Error("MULX is executed although masked")
					}
					return !tc.noMULX
				},
				ProbeADX: func() bool {
					if tc.fake.ebx7&adx == 0 || tc.fake.maxLeaf < 7 {
						t.Error("ADX is executed without ADX")
					}
					return !tc.noADX
				},
			}
			if tc.opinion != nil {
				m.Opinion = *tc.opinion
			}
			if tc.goos != "" {
				m.OS = tc.goos
			}
			s := Evaluate(m)
			if got := describe(s); got != tc.want {
				t.Errorf("selected %s, want %s; mulx: %q, ifma: %q", got, tc.want, s.Reason("mulx"), s.Reason("ifma"))
			}
			for tier, on := range map[string]bool{"generic": true, "mulx": s.MULX, "adx": s.ADX, "ifma": s.IFMA, "zmm": s.ZMM, "shani": s.SHANI, "aesni": s.AESNI} {
				if why := s.Reason(tier); (why == "") != on {
					t.Errorf("%s is %v with the reason %q", tier, on, why)
				}
			}
			for tier, part := range tc.why {
				if why := s.Reason(tier); !strings.Contains(why, part) {
					t.Errorf("reason for %s is %q, want %q in it", tier, why, part)
				}
			}
		})
	}
}

func describe(s Selection) string {
	name := "generic"
	switch {
	case s.IFMA:
		name = "ifma"
	case s.MULX:
		name = "mulx"
	}
	if s.ADX {
		name += "+adx"
	}
	if s.ZMM {
		name += "+zmm"
	}
	return name
}

// The tier shani depends on its own features, the opinion on them and the mask,
// and the other tiers do not depend on it.
func TestEvaluateSHANI(t *testing.T) {
	const (
		ssse3 = 1 << 9  // leaf 1, ECX
		sse41 = 1 << 19 // leaf 1, ECX
		sha   = 1 << 29 // leaf 7.0, EBX
	)
	full := fake{maxLeaf: 7, ecx1: ssse3 | sse41, ebx7: sha}
	for _, tc := range []struct {
		name    string
		change  func(f *fake, m *Machine)
		on      bool
		because string
	}{
		{"alone", func(*fake, *Machine) {}, true, ""},
		{"no YMM", func(f *fake, _ *Machine) { f.ecx1 |= osxsave | avx; f.xcr0 = 3 }, true, ""},
		{"beside the others", func(f *fake, _ *Machine) {
			f.ecx1 |= osxsave | avx
			f.ebx7 |= icelake
			f.xcr0 = 0xe7
		}, true, ""},
		{"netbsd", func(_ *fake, m *Machine) { m.OS = "netbsd" }, true, ""},
		{"no SHA", func(f *fake, _ *Machine) { f.ebx7 = 0 }, false, "lacks SHA"},
		{"no leaf 7", func(f *fake, _ *Machine) { f.maxLeaf = 6 }, false, "lacks SHA"},
		{"no SSE4.1", func(f *fake, _ *Machine) { f.ecx1 &^= sse41 }, false, "lacks SSE4.1"},
		{"no SSSE3", func(f *fake, _ *Machine) { f.ecx1 &^= ssse3 }, false, "lacks SSSE3"},
		{"unconfirmed", func(_ *fake, m *Machine) { m.Opinion.Features &^= HasSHA }, false, "does not confirm SHA"},
		{"translated", func(_ *fake, m *Machine) { m.Opinion.Brand = "VirtualApple" }, false, "VirtualApple"},
		{"masked", func(_ *fake, m *Machine) { m.Mask.NoSHANI = true }, false, "SIGCORE_CPU=shani=off"},
		{"masked generic", func(_ *fake, m *Machine) { m.Mask.Generic = true }, false, "SIGCORE_CPU=generic"},
		{"masked mulx", func(_ *fake, m *Machine) { m.Mask.NoMULX = true }, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := full
			yes := func() bool { return true }
			m := Machine{Opinion: Opinion{Features: every | shaniFeatures}, OS: "linux", ProbeMULX: yes, ProbeADX: yes}
			tc.change(&f, &m)
			m.Words = Read(f.cpuid, func() uint32 { return f.xcr0 })
			s := Evaluate(m)
			if why := s.Reason("shani"); s.SHANI != tc.on || (why == "") != tc.on || !strings.Contains(why, tc.because) {
				t.Errorf("shani is %v: %q, want %v: %q", s.SHANI, why, tc.on, tc.because)
			}
			m.Mask.NoSHANI = true
			if without := Evaluate(m); describe(without) != describe(s) || without.SHANI {
				t.Errorf("%s without shani, %s with it", describe(without), describe(s))
			}
		})
	}
}

// The same for the tier aesni.
func TestEvaluateAESNI(t *testing.T) {
	const aes = 1 << 25 // leaf 1, ECX
	for _, tc := range []struct {
		name    string
		change  func(f *fake, m *Machine)
		on      bool
		because string
	}{
		{"alone", func(*fake, *Machine) {}, true, ""},
		{"no leaf 7", func(f *fake, _ *Machine) { f.maxLeaf = 1 }, true, ""},
		{"no YMM", func(f *fake, _ *Machine) { f.ecx1 |= osxsave | avx; f.xcr0 = 3 }, true, ""},
		{"beside the others", func(f *fake, _ *Machine) {
			f.ecx1 |= osxsave | avx
			f.ebx7 |= icelake
			f.xcr0 = 0xe7
		}, true, ""},
		{"netbsd", func(_ *fake, m *Machine) { m.OS = "netbsd" }, true, ""},
		{"no AES", func(f *fake, _ *Machine) { f.ecx1 = 0 }, false, "lacks AES"},
		{"unconfirmed", func(_ *fake, m *Machine) { m.Opinion.Features &^= HasAES }, false, "does not confirm AES"},
		{"translated", func(_ *fake, m *Machine) { m.Opinion.Brand = "VirtualApple" }, false, "VirtualApple"},
		{"masked", func(_ *fake, m *Machine) { m.Mask.NoAESNI = true }, false, "SIGCORE_CPU=aesni=off"},
		{"masked generic", func(_ *fake, m *Machine) { m.Mask.Generic = true }, false, "SIGCORE_CPU=generic"},
		{"masked shani", func(_ *fake, m *Machine) { m.Mask.NoSHANI = true }, true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := fake{maxLeaf: 7, ecx1: aes}
			yes := func() bool { return true }
			m := Machine{Opinion: Opinion{Features: every | aesniFeatures}, OS: "linux", ProbeMULX: yes, ProbeADX: yes}
			tc.change(&f, &m)
			m.Words = Read(f.cpuid, func() uint32 { return f.xcr0 })
			s := Evaluate(m)
			if why := s.Reason("aesni"); s.AESNI != tc.on || (why == "") != tc.on || !strings.Contains(why, tc.because) {
				t.Errorf("aesni is %v: %q, want %v: %q", s.AESNI, why, tc.on, tc.because)
			}
			m.Mask.NoAESNI = true
			if without := Evaluate(m); describe(without) != describe(s) || without.AESNI {
				t.Errorf("%s without aesni, %s with it", describe(without), describe(s))
			}
		})
	}
}

// A higher tier never runs without the one that it rests on, for every
// combination of the words' relevant bits.
func TestEvaluateImplications(t *testing.T) {
	bits := []uint32{avx2, bmi2, adx, avxF, avxDQ, avxBW, avxVL, ifma}
	for _, ecx1 := range []uint32{0, osxsave, avx, osxsave | avx} {
		for _, xcr0 := range []uint32{0, 3, 7, 0xe3, 0xe7, 0xe1, 0x27} {
			for set := range 1 << len(bits) {
				f := fake{maxLeaf: 7, ecx1: ecx1, xcr0: xcr0}
				for i, b := range bits {
					if set>>i&1 == 1 {
						f.ebx7 |= b
					}
				}
				yes := func() bool { return true }
				s := Evaluate(Machine{
					Words:     Read(f.cpuid, func() uint32 { return xcr0 }),
					Opinion:   Opinion{Features: every},
					ProbeMULX: yes, ProbeADX: yes,
				})
				has := func(b uint32) bool { return f.ebx7&b == b }
				mulx := ecx1 == osxsave|avx && xcr0&6 == 6 && has(avx2|bmi2)
				if s.MULX != mulx || s.ADX != (mulx && has(adx)) ||
					s.IFMA != (mulx && xcr0&0xe0 == 0xe0 && has(all512)) || s.ZMM != s.IFMA {
					t.Fatalf("%+v: %s", f, describe(s))
				}
			}
		}
	}
}

func TestParseMask(t *testing.T) {
	for s, want := range map[string]string{
		"":                              "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:false NoAESNI:false Unknown:[]}",
		" , ,":                          "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:false NoAESNI:false Unknown:[]}",
		"generic":                       "{Generic:true NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:false NoAESNI:false Unknown:[]}",
		"mulx=off,adx=off,ifma=off":     "{Generic:false NoMULX:true NoADX:true NoIFMA:true NoZMM:false NoSHANI:false NoAESNI:false Unknown:[]}",
		" zmm=off ,ifma = off":          "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:true NoSHANI:false NoAESNI:false Unknown:[ifma = off]}",
		"shani=off":                     "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:true NoAESNI:false Unknown:[]}",
		"aesni=off":                     "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:false NoAESNI:true Unknown:[]}",
		"avx2=off,Generic,ifma,mulx=on": "{Generic:false NoMULX:false NoADX:false NoIFMA:false NoZMM:false NoSHANI:false NoAESNI:false Unknown:[avx2=off Generic ifma mulx=on]}",
	} {
		if got := fmt.Sprintf("%+v", ParseMask(s)); got != want {
			t.Errorf("ParseMask(%q) = %s, want %s", s, got, want)
		}
	}
}

// What the report names as known is known, and is all there is.
func TestMaskEntries(t *testing.T) {
	const want = "{Generic:true NoMULX:true NoADX:true NoIFMA:true NoZMM:true NoSHANI:true NoAESNI:true Unknown:[]}"
	if got := fmt.Sprintf("%+v", ParseMask(MaskEntries)); got != want {
		t.Errorf("ParseMask(MaskEntries) = %s, want %s", got, want)
	}
}

func TestReasonUnknownTier(t *testing.T) {
	if got := Reason("sse"); !strings.Contains(got, `"sse"`) {
		t.Errorf("Reason of an unknown tier is %q", got)
	}
}

// The exported values are those of one selection, and agree with their reasons.
func TestSelected(t *testing.T) {
	for tier, on := range map[string]bool{"mulx": MULX, "adx": ADX, "ifma": IFMA, "zmm": ZMM, "shani": SHANI, "aesni": AESNI} {
		if why := Reason(tier); (why == "") != on {
			t.Errorf("%s is %v with the reason %q", tier, on, why)
		} else {
			t.Logf("%s: %v %s", tier, on, why)
		}
	}
	if (ADX || IFMA) && !MULX || ZMM && !IFMA {
		t.Errorf("mulx %v, adx %v, ifma %v, zmm %v", MULX, ADX, IFMA, ZMM)
	}
	if Failed() != (V3 && !MULX) {
		t.Errorf("Failed() = %v", Failed())
	}
}
