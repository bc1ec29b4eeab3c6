// Command kdf writes the key derivations of package kdf for processors with
// SHA-NI: whole functions, so that a hash lives in registers from one block to
// the next, and independent blocks go through the rounds side by side.
package main

import (
	"math"
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"

	. "github.com/sigcore/sigcore/asm/internal/x86"
)

func main() {
	ConstraintExpr("!purego")
	constants()
	chainStep()
	seedKeys()
	hmacPads()
	hmacBlocks()
	hmacEnd()
	seedKeysPair()
	hmacBlocksPair()
	hmacEndPair()
	Generate()
}

// Vectors of the block of constants, behind the 16 of the round constants.
const (
	cFlip      = 16 // reverses the bytes of each word
	cInner     = 17 // the pads
	cOuter     = 18
	cOne       = 19 // one byte and its padding
	cTwo       = 20
	cEnd       = 21 // the padding behind 32 bytes
	cBits520   = 22 // the length of a pad and one byte
	cBits768   = 23 // the length of a pad and 32 bytes
	cIV        = 24 // two, as all states: the initial hash as the rounds hold it
	cZeroInner = 26 // the hash after the inner pad of the zero key
	cZeroOuter = 28
)

// block is the read-only block of vectors of four words.
var block Mem

func vector(i int) Mem { return block.Offset(16 * i) }

func constants() {
	// The assembler wants the data in ascending order.
	block = GLOBL("shaConstants", attr.NOPTR|attr.RODATA)
	put := func(i int, words ...uint32) {
		for j, w := range words {
			DATA(16*i+4*j, U32(w))
		}
	}
	k := roundConstants(64)
	for i := range 16 {
		put(i, k[4*i:4*i+4]...)
	}
	put(cFlip, 0x00010203, 0x04050607, 0x08090a0b, 0x0c0d0e0f)
	const inner, outer = 0x36363636, 0x5c5c5c5c
	put(cInner, inner, inner, inner, inner)
	put(cOuter, outer, outer, outer, outer)
	put(cOne, 0x01800000, 0, 0, 0)
	put(cTwo, 0x02800000, 0, 0, 0)
	put(cEnd, 0x80000000, 0, 0, 0)
	put(cBits520, 0, 0, 0, 8*(64+1))
	put(cBits768, 0, 0, 0, 8*(64+32))
	iv := initialHash()
	put(cIV, held(iv)...)
	put(cZeroInner, held(compressed(iv, repeated(inner)))...)
	put(cZeroOuter, held(compressed(iv, repeated(outer)))...)
}

// held orders the eight words of a hash as SHA256RNDS2 holds them in two
// vectors: (f, e, b, a) and (h, g, d, c).
func held(h [8]uint32) []uint32 {
	return []uint32{h[5], h[4], h[1], h[0], h[7], h[6], h[3], h[2]}
}

func repeated(w uint32) (m [16]uint32) {
	for i := range m {
		m[i] = w
	}
	return m
}

// fraction returns the first 32 bits of the fraction of x^(1/root).
func fraction(x int64, root uint) uint32 {
	// The integer root of x·2^(32·root) has the 32 bits at its end.
	n := new(big.Int).Lsh(big.NewInt(x), 32*root)
	r := new(big.Int).SetBit(new(big.Int), 36, 1)
	for bit := 36; bit >= 0; bit-- {
		r.SetBit(r, bit, 1)
		if new(big.Int).Exp(r, big.NewInt(int64(root)), nil).Cmp(n) > 0 {
			r.SetBit(r, bit, 0)
		}
	}
	return uint32(r.Uint64() & math.MaxUint32)
}

func primes(n int) []int64 {
	var p []int64
	for x := int64(2); len(p) < n; x++ {
		if big.NewInt(x).ProbablyPrime(0) { // exact for numbers this small
			p = append(p, x)
		}
	}
	return p
}

// roundConstants are from the cube roots of the first primes (FIPS 180-4,
// Section 4.2.2).
func roundConstants(n int) []uint32 {
	k := make([]uint32, n)
	for i, p := range primes(n) {
		k[i] = fraction(p, 3)
	}
	return k
}

// initialHash is from the square roots of the first primes (FIPS 180-4,
// Section 5.3.3).
func initialHash() (h [8]uint32) {
	for i, p := range primes(8) {
		h[i] = fraction(p, 2)
	}
	return h
}

// compressed is one block of SHA-256 (FIPS 180-4, Section 6.2.2).
func compressed(h [8]uint32, m [16]uint32) [8]uint32 {
	rotate := func(x uint32, n uint) uint32 { return x>>n | x<<(32-n) }
	var w [64]uint32
	copy(w[:], m[:])
	for i := 16; i < 64; i++ {
		s0 := rotate(w[i-15], 7) ^ rotate(w[i-15], 18) ^ w[i-15]>>3
		s1 := rotate(w[i-2], 17) ^ rotate(w[i-2], 19) ^ w[i-2]>>10
		w[i] = w[i-16] + s0 + w[i-7] + s1
	}
	s := h
	for i, k := range roundConstants(64) {
		t1 := s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + (s[4]&s[5] ^ ^s[4]&s[6]) + k + w[i]
		t2 := (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + (s[0]&s[1] ^ s[0]&s[2] ^ s[1]&s[2])
		s = [8]uint32{t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]}
	}
	for i := range h {
		h[i] += s[i]
	}
	return h
}

// A stream is a hash on its way through a block: the state, in the two vectors
// that held describes, and the last 16 words of the message schedule.
type stream struct {
	s [2]VecPhysical
	m [4]VecPhysical
}

var (
	first  = stream{[2]VecPhysical{X1, X2}, [4]VecPhysical{X3, X4, X5, X6}}
	second = stream{[2]VecPhysical{X7, X8}, [4]VecPhysical{X9, X10, X11, X12}}
)

// The registers that no stream holds. SHA256RNDS2 takes its words from X0.
var (
	words = X0
	temp  = X13
	flip  = X14
)

func (s *stream) load(state Mem) {
	MOVOU(state, s.s[0])
	MOVOU(state.Offset(16), s.s[1])
}

// add adds the state before the block.
func (s *stream) add(state Mem) {
	for i := range s.s {
		MOVOU(state.Offset(16*i), temp)
		PADDD(temp, s.s[i])
	}
}

func (s *stream) store(state Mem) {
	MOVOU(s.s[0], state)
	MOVOU(s.s[1], state.Offset(16))
}

// rounds puts the streams through the 64 rounds of one block each, side by side.
func rounds(streams ...*stream) {
	for i := range 16 {
		Commentf("rounds %d to %d", 4*i, 4*i+3)
		for _, s := range streams {
			m := func(j int) VecPhysical { return s.m[j&3] }
			if i >= 4 {
				SHA256MSG1(m(i-3), m(i))
				MOVOA(m(i-1), temp)
				PALIGNR(U8(4), m(i-2), temp)
				PADDD(temp, m(i))
				SHA256MSG2(m(i-1), m(i))
			}
			MOVOA(m(i), words)
			PADDD(vector(i), words)
			SHA256RNDS2(words, s.s[0], s.s[1])
			PSHUFD(U8(0b00_00_11_10), words, words)
			SHA256RNDS2(words, s.s[1], s.s[0])
		}
	}
}

// digest turns the state into the first eight words of a message.
func (s *stream) digest() {
	PSHUFD(U8(0b00_01_10_11), s.s[0], temp)   // a b e f
	PSHUFD(U8(0b10_11_00_01), s.s[1], s.m[1]) // g h c d
	MOVOA(temp, s.m[0])
	PBLENDW(U8(0xf0), s.m[1], s.m[0]) // a b c d
	PALIGNR(U8(8), temp, s.m[1])      // e f g h
}

// pads fills the messages of both streams with the pads of the key in the first
// words of the first one.
func pads() {
	for j, pad := range []Mem{vector(cOuter), vector(cInner)} {
		s := []*stream{&second, &first}[j]
		MOVOU(pad, s.m[2])
		MOVOA(s.m[2], s.m[3])
		for i := range 2 {
			MOVOA(first.m[i], temp)
			PXOR(s.m[2], temp)
			MOVOA(temp, s.m[i])
		}
	}
}

// end sets the rest of a message of 32 bytes behind a pad.
func (s *stream) end() {
	MOVOU(vector(cEnd), s.m[2])
	MOVOU(vector(cBits768), s.m[3])
}

// read sets the first words of the message to 32 bytes.
func (s *stream) read(from Mem) {
	for i := range 2 {
		MOVOU(from.Offset(16*i), s.m[i])
		PSHUFB(flip, s.m[i])
	}
}

// write writes the first words of the message as 32 bytes.
func (s *stream) write(to Mem) {
	for i := range 2 {
		MOVOA(s.m[i], temp)
		PSHUFB(flip, temp)
		MOVOU(temp, to.Offset(16*i))
	}
}

// schedule sets inner and outer to the hashes after the pads of the key in the
// first words of the first stream.
func schedule(inner, outer Mem) {
	pads()
	first.load(vector(cIV))
	second.load(vector(cIV))
	rounds(&first, &second)
	first.add(vector(cIV))
	second.add(vector(cIV))
	first.store(inner)
	second.store(outer)
}

// wipe clears what the streams held, and the frame of size bytes.
func wipe(frame Mem, size int) {
	PXOR(temp, temp)
	for i := range size / 16 {
		MOVOU(temp, frame.Offset(16*i))
	}
	for _, s := range []stream{first, second} {
		for _, r := range append(s.s[:], s.m[:]...) {
			PXOR(r, r)
		}
	}
	PXOR(words, words)
}

func chainStep() {
	Kernel{
		Name:      "chainStepSHANI",
		Signature: "func(seed, next, ck *[32]byte)",
		Formula:   "sets seed and next to the HMAC-SHA256 of the byte 1 and of the byte 2 under the key ck",
		Bounds:    []string{"next may be ck."},
		Timing:    "Constant time.",
		Stack:     "64 bytes of stack, wiped.",
		Twin:      "chainStepGeneric",
	}.Begin()
	frame := AllocLocal(64)
	inner, outer := frame, frame.Offset(32)
	MOVOU(vector(cFlip), flip)
	ck := Load(Param("ck"), GP64())
	first.read(Mem{Base: ck})
	Comment("both pads of the key")
	schedule(inner, outer)

	Comment("both inner hashes")
	for i, s := range []*stream{&first, &second} {
		s.load(inner)
		MOVOU(vector(cOne+i), s.m[0])
		PXOR(s.m[1], s.m[1])
		PXOR(s.m[2], s.m[2])
		MOVOU(vector(cBits520), s.m[3])
	}
	rounds(&first, &second)

	Comment("both outer hashes")
	for _, s := range []*stream{&first, &second} {
		s.add(inner)
		s.digest()
		s.end()
		s.load(outer)
	}
	rounds(&first, &second)
	for _, name := range []string{"seed", "next"} {
		s := map[string]*stream{"seed": &first, "next": &second}[name]
		s.add(outer)
		s.digest()
		s.write(Mem{Base: Load(Param(name), GP64())})
	}
	wipe(frame, 64)
	RET()
}

func seedKeys() {
	Kernel{
		Name:      "seedKeysSHANI",
		Signature: "func(okm *[96]byte, seed *[32]byte, blocks *[3][64]byte, n int)",
		Formula:   "sets the first 32·n bytes of okm to HKDF-SHA256 of seed without a salt",
		Bounds: []string{
			"n is 2 or 3. blocks has the block behind the pad for each step of the expansion:",
			"info, the number of the step and the padding, from the second step on behind 32 free bytes.",
		},
		Timing: "Constant time.",
		Stack:  "64 bytes of stack, wiped.",
		Twin:   "seedKeysGeneric",
	}.Begin()
	frame := AllocLocal(64)
	inner, outer := frame, frame.Offset(32)
	MOVOU(vector(cFlip), flip)
	seed := Load(Param("seed"), GP64())

	Comment("extract: the seed under the zero key")
	s := &first
	s.read(Mem{Base: seed})
	for _, state := range []Mem{vector(cZeroInner), vector(cZeroOuter)} {
		s.end()
		s.load(state)
		rounds(s)
		s.add(state)
		s.digest()
	}
	Comment("expand: both pads of what is extracted")
	schedule(inner, outer)

	okm := Load(Param("okm"), GP64())
	blocks := Load(Param("blocks"), GP64())
	n := Load(Param("n"), GP64())
	s.read(Mem{Base: blocks})
	Label("step")
	for i := range 2 {
		MOVOU(Mem{Base: blocks, Disp: 32 + 16*i}, s.m[2+i])
		PSHUFB(flip, s.m[2+i])
	}
	s.load(inner)
	rounds(s)
	s.add(inner)
	s.digest()
	s.end()
	s.load(outer)
	rounds(s)
	s.add(outer)
	s.digest()
	s.write(Mem{Base: okm})
	ADDQ(U8(32), okm)
	ADDQ(U8(64), blocks)
	DECQ(n)
	JNZ(LabelRef("step"))
	wipe(frame, 64)
	RET()
}

// A hash between two kernels is 32 bytes in the order of held.

func hmacPads() {
	Kernel{
		Name:      "hmacPadsSHANI",
		Signature: "func(state *[2][32]byte, key *[32]byte)",
		Formula:   "sets state to the hashes after the inner and the outer pad of key",
		Bounds:    []string{"state does not overlap key."},
		Timing:    "Constant time.",
		Stack:     "No stack.",
		Twin:      "hmacGeneric, with hmacBlocksSHANI and hmacEndSHANI",
	}.Begin()
	MOVOU(vector(cFlip), flip)
	first.read(Mem{Base: Load(Param("key"), GP64())})
	state := Mem{Base: Load(Param("state"), GP64())}
	schedule(state, state.Offset(32))
	RET()
}

func hmacBlocks() {
	Kernel{
		Name:      "hmacBlocksSHANI",
		Signature: "func(state *[32]byte, p *byte, n int)",
		Formula:   "puts the n blocks of 64 bytes at p through the hash",
		Bounds:    []string{"n is at least 1."},
		Timing:    "Constant time for n.",
		Stack:     "No stack.",
		Twin:      "hmacGeneric, with hmacPadsSHANI and hmacEndSHANI",
	}.Begin()
	MOVOU(vector(cFlip), flip)
	state := Mem{Base: Load(Param("state"), GP64())}
	p := Load(Param("p"), GP64())
	n := Load(Param("n"), GP64())
	s := &first
	s.load(state)
	// The state before the block, in the registers of the second stream.
	before := second.s
	Label("block")
	for i := range 4 {
		MOVOU(Mem{Base: p, Disp: 16 * i}, s.m[i])
		PSHUFB(flip, s.m[i])
	}
	for i := range before {
		MOVOA(s.s[i], before[i])
	}
	rounds(s)
	for i := range before {
		PADDD(before[i], s.s[i])
	}
	ADDQ(U8(64), p)
	DECQ(n)
	JNZ(LabelRef("block"))
	s.store(state)
	RET()
}

func hmacEnd() {
	Kernel{
		Name:      "hmacEndSHANI",
		Signature: "func(out *[32]byte, state *[2][32]byte)",
		Formula:   "sets out to the HMAC whose hash inside is complete in state[0]",
		Bounds:    []string{"out does not overlap state."},
		Timing:    "Constant time.",
		Stack:     "No stack.",
		Twin:      "hmacGeneric, with hmacPadsSHANI and hmacBlocksSHANI",
	}.Begin()
	MOVOU(vector(cFlip), flip)
	state := Mem{Base: Load(Param("state"), GP64())}
	s := &first
	s.load(state)
	s.digest()
	s.end()
	s.load(state.Offset(32))
	rounds(s)
	s.add(state.Offset(32))
	s.digest()
	s.write(Mem{Base: Load(Param("out"), GP64())})
	RET()
}

// Two messages at once, whose hashes go through the rounds side by side where
// those of one wait for each other. A chain step is not here: one already has two
// hashes side by side throughout, and the rounds are no faster with more.

func seedKeysPair() {
	Kernel{
		Name:      "seedKeysPairSHANI",
		Signature: "func(okm0, okm1 *[96]byte, seed0, seed1 *[32]byte, blocks *[3][64]byte, n int)",
		Formula:   "is seedKeysSHANI for two seeds",
		Bounds:    []string{"n is 2 or 3. blocks is that of seedKeysSHANI. okm0 and okm1 do not overlap."},
		Timing:    "Constant time.",
		Stack:     "160 bytes of stack, wiped.",
		Twin:      "seedKeysGeneric, twice",
	}.Begin()
	frame := AllocLocal(160)
	pads := func(i int) (inner, outer Mem) { return frame.Offset(64 * i), frame.Offset(64*i + 32) }
	saved := frame.Offset(128)
	both := []*stream{&first, &second}
	MOVOU(vector(cFlip), flip)
	for i, s := range both {
		s.read(Mem{Base: Load(Param([]string{"seed0", "seed1"}[i]), GP64())})
	}

	Comment("extract: the seeds under the zero key")
	for _, state := range []Mem{vector(cZeroInner), vector(cZeroOuter)} {
		for _, s := range both {
			s.end()
			s.load(state)
		}
		rounds(both...)
		for _, s := range both {
			s.add(state)
			s.digest()
		}
	}
	Comment("expand: both pads of what is extracted, first of the one and then of the other")
	for i := range 2 {
		MOVOU(second.m[i], saved.Offset(16*i))
	}
	for i := range both {
		if i == 1 {
			for j := range 2 {
				MOVOU(saved.Offset(16*j), first.m[j])
			}
		}
		inner, outer := pads(i)
		schedule(inner, outer)
	}

	okm := []Register{Load(Param("okm0"), GP64()), Load(Param("okm1"), GP64())}
	blocks := Load(Param("blocks"), GP64())
	n := Load(Param("n"), GP64())
	for _, s := range both {
		s.read(Mem{Base: blocks})
	}
	Label("step")
	for i, s := range both {
		inner, _ := pads(i)
		for j := range 2 {
			MOVOU(Mem{Base: blocks, Disp: 32 + 16*j}, s.m[2+j])
			PSHUFB(flip, s.m[2+j])
		}
		s.load(inner)
	}
	rounds(both...)
	for i, s := range both {
		inner, outer := pads(i)
		s.add(inner)
		s.digest()
		s.end()
		s.load(outer)
	}
	rounds(both...)
	for i, s := range both {
		_, outer := pads(i)
		s.add(outer)
		s.digest()
		s.write(Mem{Base: okm[i]})
		ADDQ(U8(32), okm[i])
	}
	ADDQ(U8(64), blocks)
	DECQ(n)
	JNZ(LabelRef("step"))
	wipe(frame, 160)
	RET()
}

func hmacBlocksPair() {
	Kernel{
		Name:      "hmacBlocksPairSHANI",
		Signature: "func(state0, state1 *[32]byte, p0, p1 *byte, n int)",
		Formula:   "is hmacBlocksSHANI for two hashes",
		Bounds:    []string{"n is at least 1. state0 and state1 do not overlap."},
		Timing:    "Constant time for n.",
		Stack:     "No stack.",
		Twin:      "hmacGeneric, twice, with hmacPadsSHANI and hmacEndPairSHANI",
	}.Begin()
	MOVOU(vector(cFlip), flip)
	state := []Mem{{Base: Load(Param("state0"), GP64())}, {Base: Load(Param("state1"), GP64())}}
	p := []Register{Load(Param("p0"), GP64()), Load(Param("p1"), GP64())}
	n := Load(Param("n"), GP64())
	both := []*stream{&first, &second}
	for i, s := range both {
		s.load(state[i])
	}
	Label("block")
	for i, s := range both {
		for j := range 4 {
			MOVOU(Mem{Base: p[i], Disp: 16 * j}, s.m[j])
			PSHUFB(flip, s.m[j])
		}
	}
	rounds(both...)
	for i, s := range both {
		s.add(state[i])
		s.store(state[i])
		ADDQ(U8(64), p[i])
	}
	DECQ(n)
	JNZ(LabelRef("block"))
	RET()
}

func hmacEndPair() {
	Kernel{
		Name:      "hmacEndPairSHANI",
		Signature: "func(out0, out1 *[32]byte, state0, state1 *[2][32]byte)",
		Formula:   "is hmacEndSHANI for two hashes",
		Bounds:    []string{"Neither out overlaps a state."},
		Timing:    "Constant time.",
		Stack:     "No stack.",
		Twin:      "hmacGeneric, twice, with hmacPadsSHANI and hmacBlocksPairSHANI",
	}.Begin()
	MOVOU(vector(cFlip), flip)
	state := []Mem{{Base: Load(Param("state0"), GP64())}, {Base: Load(Param("state1"), GP64())}}
	both := []*stream{&first, &second}
	for i, s := range both {
		s.load(state[i])
		s.digest()
		s.end()
		s.load(state[i].Offset(32))
	}
	rounds(both...)
	for i, s := range both {
		s.add(state[i].Offset(32))
		s.digest()
		s.write(Mem{Base: Load(Param([]string{"out0", "out1"}[i]), GP64())})
	}
	RET()
}
