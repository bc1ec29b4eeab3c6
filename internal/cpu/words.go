package cpu

import "encoding/binary"

// Regs are the four registers that CPUID returns.
type Regs struct{ EAX, EBX, ECX, EDX uint32 }

// Words are the raw answers of the processor: all that is ever read of it.
type Words struct {
	MaxLeaf uint32 // leaf 0, EAX
	Vendor  string // leaf 0: EBX, EDX, ECX
	Leaf1   Regs
	Leaf7   Regs   // leaf 7, sub-leaf 0; zero where MaxLeaf is below 7
	Leaf7x1 Regs   // leaf 7, sub-leaf 1; zero where sub-leaf 0 does not announce it
	XCR0    uint32 // low word; zero where OSXSAVE is clear
}

// Read collects the words. It calls xgetbv only where OSXSAVE is set, because
// XGETBV faults elsewhere, and asks for no leaf that the processor does not
// announce, because the answer would be that of another leaf.
func Read(cpuid func(leaf, subleaf uint32) Regs, xgetbv func() uint32) Words {
	var w Words
	l0 := cpuid(0, 0)
	w.MaxLeaf = l0.EAX
	w.Vendor = vendor(l0)
	if w.MaxLeaf < 1 {
		return w
	}
	w.Leaf1 = cpuid(1, 0)
	if w.osxsave() {
		w.XCR0 = xgetbv()
	}
	if w.MaxLeaf < 7 {
		return w
	}
	w.Leaf7 = cpuid(7, 0)
	if w.Leaf7.EAX >= 1 { // the highest sub-leaf
		w.Leaf7x1 = cpuid(7, 1)
	}
	return w
}

func vendor(l0 Regs) string {
	b := make([]byte, 0, 12)
	b = binary.LittleEndian.AppendUint32(b, l0.EBX)
	b = binary.LittleEndian.AppendUint32(b, l0.EDX)
	b = binary.LittleEndian.AppendUint32(b, l0.ECX)
	return string(b)
}

// osxsave reports whether the operating system has enabled XSAVE and XGETBV.
func (w *Words) osxsave() bool { return w.Leaf1.ECX>>27&1 == 1 }

// The parts of XCR0: XMM and YMM (bits 1 and 2); opmask and the two halves of
// the ZMM state (bits 5 to 7). EVEX code needs both, at any vector length.
const (
	xcr0YMM = 0x06
	xcr0ZMM = 0xe0
)

func (w *Words) savesYMM() bool { return w.osxsave() && w.XCR0&xcr0YMM == xcr0YMM }
func (w *Words) savesZMM() bool { return w.savesYMM() && w.XCR0&xcr0ZMM == xcr0ZMM }
