// Command cpu writes the instructions that internal/cpu needs and Go cannot
// express: CPUID, XGETBV and the execute-probes of the flag behaviour that the
// kernels depend on.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	cpuid()
	xgetbv()
	mulxFlags()
	adxFlags()
	Generate()
}

func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf, subleaf uint32) (eax, ebx, ecx, edx uint32)")
	Doc("cpuid executes CPUID for one leaf and sub-leaf.")
	Load(Param("leaf"), EAX)
	Load(Param("subleaf"), ECX)
	CPUID()
	Store(EAX, Return("eax"))
	Store(EBX, Return("ebx"))
	Store(ECX, Return("ecx"))
	Store(EDX, Return("edx"))
	RET()
}

func xgetbv() {
	TEXT("xgetbv", NOSPLIT, "func() uint32")
	Doc(
		"xgetbv returns the low word of XCR0, the register state that the operating",
		"system saves. It faults on a machine whose OSXSAVE bit is clear.",
	)
	XORL(ECX, ECX)
	XGETBV()
	Store(EAX, ReturnIndex(0))
	RET()
}

// flags stores CF in bit 0 and OF in bit 1 of the result named flags. It uses
// no instruction that changes either before both are read.
func flags() {
	c, o := GP64(), GP64()
	SETCS(c.As8())
	SETOS(o.As8())
	MOVBQZX(c.As8(), c)
	MOVBQZX(o.As8(), o)
	LEAQ(Mem{Base: c, Index: o, Scale: 2}, c)
	Store(c, Return("flags"))
}

// presetFlags sets CF and OF to those of the sum of the parameters a and b.
func presetFlags() {
	a, b := GP64(), GP64()
	Load(Param("a"), a)
	Load(Param("b"), b)
	ADDQ(a, b)
}

func mulxFlags() {
	TEXT("mulxFlags", NOSPLIT, "func(a, b, x, y uint64) (hi, lo, flags uint64)")
	Doc(
		"mulxFlags adds a and b, then multiplies x and y with MULX, and returns the",
		"product and the flags that it finds after it: CF in bit 0, OF in bit 1. MULX",
		"changes no flag, so they must be those of the addition.",
		"Go twin: mulxFlagsGeneric.",
	)
	y, hi, lo := GP64(), GP64(), GP64()
	Load(Param("x"), RDX)
	Load(Param("y"), y)
	presetFlags()
	MULXQ(y, lo, hi)
	flags()
	Store(hi, Return("hi"))
	Store(lo, Return("lo"))
	RET()
}

func adxFlags() {
	TEXT("adxFlags", NOSPLIT, "func(a, b, x, y uint64) (sx, sy, flags uint64)")
	Doc(
		"adxFlags adds a and b, then doubles x with ADCX and y with ADOX, which add and",
		"leave the carry in CF and in OF, and returns both sums and the flags: CF in",
		"bit 0, OF in bit 1.",
		"Go twin: adxFlagsGeneric.",
	)
	x, y := GP64(), GP64()
	Load(Param("x"), x)
	Load(Param("y"), y)
	presetFlags()
	ADCXQ(x, x)
	ADOXQ(y, y)
	flags()
	Store(x, Return("sx"))
	Store(y, Return("sy"))
	RET()
}
