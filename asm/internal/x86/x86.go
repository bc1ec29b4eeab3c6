// Package x86 holds what the avo programs of several units share: the banner
// of a kernel, and rows, columns and carries of multi-word arithmetic.
package x86

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A Kernel is what the banner of an assembly function says.
type Kernel struct {
	Name      string
	Signature string   // "func(out, a, b *[5]uint64)"
	Formula   string   // what it computes: "sets out = a·b mod 2^255-19"
	Bounds    []string // what it accepts and leaves, and on aliasing
	Timing    string   // "Constant time." or what the time depends on
	Stack     string   // "No stack." or how much
	Twin      string   // the Go function that does the same
	Split     bool     // whether the frame is too large for NOSPLIT
}

// Begin starts the function with the banner as its documentation. The kernel
// keeps no pointer that it is given.
func (k Kernel) Begin() {
	attributes := attr.Attribute(attr.NOSPLIT)
	if k.Split {
		attributes = 0
	}
	TEXT(k.Name, attributes, k.Signature)
	lines := []string{k.Name + " " + k.Formula + "."}
	lines = append(lines, k.Bounds...)
	lines = append(lines, k.Timing+" "+k.Stack, "Go twin: "+k.Twin+".")
	Doc(lines...)
	Pragma("noescape")
}

// Wide is a number of 128 bits in two registers.
type Wide struct{ Lo, Hi Register }

// NewWide returns a pair of virtual registers.
func NewWide() Wide { return Wide{GP64(), GP64()} }

// Mul sets w = RDX·b.
func (w Wide) Mul(b Op) { MULXQ(b, w.Lo, w.Hi) }

// AddMul sets w += RDX·b, dropping a carry out of 128 bits, which the caller
// excludes by its bounds.
func (w Wide) AddMul(b Op) {
	lo, hi := GP64(), GP64()
	MULXQ(b, lo, hi)
	ADDQ(lo, w.Lo)
	ADCQ(hi, w.Hi)
}
