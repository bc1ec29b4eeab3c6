package cpu

import "strings"

// Features is a set of instruction set extensions.
type Features uint16

// The extensions that decide about tiers. No one of them implies another.
const (
	HasAVX Features = 1 << iota
	HasAVX2
	HasBMI2
	HasADX
	HasAVX512F
	HasAVX512DQ
	HasAVX512BW
	HasAVX512VL
	HasAVX512IFMA
	HasSSSE3
	HasSSE41
	HasSHA
	HasAES
)

// What each tier adds to the one it rests on.
const (
	mulxFeatures = HasAVX | HasAVX2 | HasBMI2
	adxFeatures  = HasADX
	ifmaFeatures = HasAVX512F | HasAVX512DQ | HasAVX512BW | HasAVX512VL | HasAVX512IFMA

	shaniFeatures = HasSSSE3 | HasSSE41 | HasSHA
	aesniFeatures = HasAES
)

var featureNames = [...]string{"AVX", "AVX2", "BMI2", "ADX", "AVX512F", "AVX512DQ", "AVX512BW", "AVX512VL", "AVX512IFMA", "SSSE3", "SSE4.1", "SHA", "AES"}

// String lists the names, separated by commas.
func (f Features) String() string {
	var names []string
	for i, name := range featureNames {
		if f>>i&1 == 1 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Features returns the bits that the words show, whether or not the operating
// system supports them. (Intel 64 manual, volume 2A, CPUID.)
func (w *Words) Features() Features {
	var f Features
	add := func(bit Features, word uint32, n uint) {
		if word>>n&1 == 1 {
			f |= bit
		}
	}
	add(HasAVX, w.Leaf1.ECX, 28)
	add(HasAVX2, w.Leaf7.EBX, 5)
	add(HasBMI2, w.Leaf7.EBX, 8)
	add(HasADX, w.Leaf7.EBX, 19)
	add(HasAVX512F, w.Leaf7.EBX, 16)
	add(HasAVX512DQ, w.Leaf7.EBX, 17)
	add(HasAVX512BW, w.Leaf7.EBX, 30)
	add(HasAVX512VL, w.Leaf7.EBX, 31)
	add(HasAVX512IFMA, w.Leaf7.EBX, 21)
	add(HasSSSE3, w.Leaf1.ECX, 9)
	add(HasSSE41, w.Leaf1.ECX, 19)
	add(HasSHA, w.Leaf7.EBX, 29)
	add(HasAES, w.Leaf1.ECX, 25)
	return f
}

// avxIFMA reports the VEX-encoded form of IFMA. The kernels are EVEX-encoded,
// so it opens no tier; it is read to say so.
func (w *Words) avxIFMA() bool { return w.Leaf7x1.EAX>>23&1 == 1 }
