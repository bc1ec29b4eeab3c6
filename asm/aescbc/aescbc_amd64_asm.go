// Command aescbc writes AES-256-CBC of package aescbc for processors with
// AES-NI: whole functions, from the key to the last block, so that no round key
// outlives a call.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	encrypt()
	encryptPair()
	decrypt()
	Generate()
}

// rounds of AES-256. There is one more round key.
const rounds = 14

// The round keys 1 to 14 lie in registers while a key is expanded, the first
// one stays where it is.
var (
	roundKey = [rounds + 1]VecPhysical{
		nil, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15,
	}
	temp  = X0
	shift = X1
)

// expand sets the round keys from a key of 32 bytes (FIPS 197, Section 5.2).
func expand(key Register) {
	MOVOU(Mem{Base: key, Disp: 16}, roundKey[1])
	for i := 2; i <= rounds; i++ {
		k := roundKey[i]
		Commentf("round key %d", i)
		if i%2 == 0 {
			// SubWord(RotWord(w)) with the round constant, of the last word.
			AESKEYGENASSIST(U8(1<<(i/2-1)), roundKey[i-1], temp)
			PSHUFD(U8(0b11_11_11_11), temp, temp)
		} else {
			// SubWord(w) of the last word.
			AESKEYGENASSIST(U8(0), roundKey[i-1], temp)
			PSHUFD(U8(0b10_10_10_10), temp, temp)
		}
		// Each word is the sum of those of the key two before up to its place.
		if i == 2 {
			MOVOU(Mem{Base: key}, k)
		} else {
			MOVOA(roundKey[i-2], k)
		}
		MOVOA(k, shift)
		for range 3 {
			PSLLDQ(U8(4), shift)
			PXOR(shift, k)
		}
		PXOR(temp, k)
	}
}

// wipe clears the registers, and the frame of size bytes.
func wipe(frame Mem, size int) {
	PXOR(temp, temp)
	for i := range size / 16 {
		MOVOU(temp, frame.Offset(16*i))
	}
	PXOR(shift, shift)
	for _, k := range roundKey[1:] {
		PXOR(k, k)
	}
}

func encrypt() {
	Kernel{
		Name:      "encryptAESNI",
		Signature: "func(p *byte, n int, key *[32]byte, iv *[16]byte)",
		Formula:   "encrypts the n blocks of 16 bytes at p with AES-256-CBC, in place",
		Bounds:    []string{"n is at least 1. p overlaps neither key nor iv."},
		Timing:    "Constant time for n.",
		Stack:     "No stack.",
		Twin:      "encryptGeneric",
	}.Begin()
	key := Load(Param("key"), GP64())
	expand(key)
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	state, block := X0, X1
	MOVOU(Mem{Base: Load(Param("iv"), GP64())}, state)
	Label("block")
	MOVOU(Mem{Base: p}, block)
	PXOR(block, state)
	MOVOU(Mem{Base: key}, block)
	PXOR(block, state)
	for i := 1; i < rounds; i++ {
		AESENC(roundKey[i], state)
	}
	AESENCLAST(roundKey[rounds], state)
	MOVOU(state, Mem{Base: p})
	ADDQ(U8(16), p)
	DECQ(n)
	JNZ(LabelRef("block"))
	wipe(Mem{}, 0)
	RET()
}

// keep stores the round keys behind each other.
func keep(key Register, frame Mem) {
	MOVOU(Mem{Base: key}, temp)
	MOVOU(temp, frame)
	for i, k := range roundKey[1:] {
		MOVOU(k, frame.Offset(16*(i+1)))
	}
}

const scheduleSize = 16 * (rounds + 1)

func encryptPair() {
	Kernel{
		Name:      "encryptPairAESNI",
		Signature: "func(p0, p1 *byte, n int, key0, key1 *[32]byte, iv0, iv1 *[16]byte)",
		Formula:   "is encryptAESNI for two messages, side by side",
		Bounds: []string{
			"n is at least 1. p0 and p1 do not overlap, nor with a key or an iv.",
			"The last block of each is left in iv0 and iv1.",
		},
		Timing: "Constant time for n.",
		Stack:  "480 bytes of stack, wiped.",
		Twin:   "encryptGeneric, twice",
		Split:  true,
	}.Begin()
	frame := AllocLocal(2 * scheduleSize)
	schedules := [2]Mem{frame, frame.Offset(scheduleSize)}
	for i, name := range []string{"key0", "key1"} {
		key := Load(Param(name), GP64())
		expand(key)
		keep(key, schedules[i])
	}
	p := [2]Register{Load(Param("p0"), GP64()), Load(Param("p1"), GP64())}
	iv := [2]Register{Load(Param("iv0"), GP64()), Load(Param("iv1"), GP64())}
	n := Load(Param("n"), GP64())
	state := [2]VecPhysical{X0, X1}
	loaded := []VecPhysical{X2, X3, X4, X5, X6, X7, X8, X9}
	next := 0
	load := func(m Mem) VecPhysical {
		r := loaded[next%len(loaded)]
		next++
		MOVOU(m, r)
		return r
	}
	for i := range 2 {
		MOVOU(Mem{Base: iv[i]}, state[i])
	}
	Label("block")
	for i := range 2 {
		block := load(Mem{Base: p[i]})
		PXOR(load(schedules[i]), block)
		PXOR(block, state[i])
	}
	for r := 1; r <= rounds; r++ {
		for i := range 2 {
			k := load(schedules[i].Offset(16 * r))
			if r < rounds {
				AESENC(k, state[i])
			} else {
				AESENCLAST(k, state[i])
			}
		}
	}
	for i := range 2 {
		MOVOU(state[i], Mem{Base: p[i]})
		ADDQ(U8(16), p[i])
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	for i := range 2 {
		MOVOU(state[i], Mem{Base: iv[i]})
	}
	wipe(frame, 2*scheduleSize)
	RET()
}

// group is how many blocks are decrypted side by side.
const group = 8

func decrypt() {
	Kernel{
		Name:      "decryptAESNI",
		Signature: "func(dst, src *byte, n int, key *[32]byte, iv *[16]byte)",
		Formula:   "sets the n blocks of 16 bytes at dst to the decryption of those at src with AES-256-CBC",
		Bounds: []string{
			"n is at least 8: blocks go in groups of 8, of which the last may do some again.",
			"dst does not overlap src, key or iv.",
		},
		Timing: "Constant time for n.",
		Stack:  "240 bytes of stack, wiped.",
		Twin:   "decryptGeneric",
	}.Begin()
	frame := AllocLocal(scheduleSize)
	key := Load(Param("key"), GP64())
	expand(key)
	Comment("the equivalent inverse cipher, FIPS 197, Section 5.3.5")
	for i := 1; i < rounds; i++ {
		AESIMC(roundKey[i], roundKey[i])
	}
	keep(key, frame)

	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	n := Load(Param("n"), GP64())
	before := Load(Param("iv"), GP64()) // where the block before the group lies
	last := GP64()                      // the last group
	Comment("dst is from here on what there is between the two")
	SUBQ(src, dst)
	MOVQ(n, last)
	SHLQ(U8(4), last)
	LEAQ(Mem{Base: src, Index: last, Scale: 1, Disp: -16 * group}, last)
	ADDQ(U8(group-1), n)
	SHRQ(U8(3), n)

	states := []VecPhysical{X0, X1, X2, X3, X4, X5, X6, X7}
	previous, k := X15, X14
	Label("group")
	MOVOU(Mem{Base: before}, previous)
	MOVOU(frame.Offset(16*rounds), k)
	for i, s := range states {
		MOVOU(Mem{Base: src, Disp: 16 * i}, s)
		PXOR(k, s)
	}
	for r := rounds - 1; r >= 0; r-- {
		MOVOU(frame.Offset(16*r), k)
		for _, s := range states {
			if r > 0 {
				AESDEC(k, s)
			} else {
				AESDECLAST(k, s)
			}
		}
	}
	for i, s := range states {
		PXOR(previous, s)
		MOVOU(s, Mem{Base: src, Index: dst, Scale: 1, Disp: 16 * i})
		if i < group-1 {
			MOVOU(Mem{Base: src, Disp: 16 * i}, previous)
		}
	}
	ADDQ(Imm(16*group), src)
	CMPQ(src, last)
	CMOVQHI(last, src)
	LEAQ(Mem{Base: src, Disp: -16}, before)
	DECQ(n)
	JNZ(LabelRef("group"))
	wipe(frame, scheduleSize)
	RET()
}
