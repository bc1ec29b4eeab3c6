//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// weirdNumber returns a number below 2^256, often near the limits of words and
// of the field, or the largest.
func weirdNumber(r *rand.Rand) (w [4]uint64) {
	switch r.IntN(8) {
	case 0:
		return pattern64(uint(r.IntN(16)))
	case 1:
		return [4]uint64{^uint64(r.IntN(60)), ^uint64(0), ^uint64(0), ^uint64(0) >> r.IntN(2)}
	}
	for i := range w {
		w[i] = testvec.WeirdUint64(r)
	}
	return w
}

// weirdReduced returns a number below 2^255 + 2^199, often the largest.
func weirdReduced(r *rand.Rand) (w [4]uint64) {
	if r.IntN(4) == 0 {
		return [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), 1<<63 + 1<<7 - 1}
	}
	w = weirdNumber(r)
	if w[3] >= 1<<63+1<<7 {
		w[3] &= 1<<63 - 1
	}
	return w
}

func isReduced(w *[4]uint64) bool { return w[3] < 1<<63+1<<7 }

// weirdSteps returns steps over so many entries.
func weirdSteps(r *rand.Rand, a, b uint32) (list [maxSteps]uint32, n int) {
	n = 1 + r.IntN(8)
	for i := range n {
		in := uint32(r.IntN(2))
		entry := r.Uint32N(a)
		if in == 1 {
			entry = r.Uint32N(b)
		}
		list[i] = uint32(r.IntN(4))<<stepDoublings | in<<stepB | uint32(r.IntN(2))<<stepNegative | entry<<stepEntry
	}
	return list, n
}

func oddMultiplesMULXMutant(f oddMultiplesKernel) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 5))
	for range mutantRounds / 10 {
		var p packedPoint
		for c := range p {
			p[c] = mutantWords(r)
			p[c][3] &= 1<<63 - 1
		}
		var got, want oddMultiples
		f(&got, &p)
		oddMultiplesMULX(&want, &p)
		differs = differs || got != want
	}
	return !selfTestDoubleBase(f, varTimeDoubleBaseMULX, varTimeWideDoubleBaseMULX), differs
}

func varTimeDoubleBaseMULXMutant(f doubleBaseKernel) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 6))
	a, b, _ := mutantTables(r)
	for range mutantRounds / 10 {
		list, n := weirdSteps(r, 8, 64)
		var got, want packedPoint
		f(&got, &list, n, a, b)
		varTimeDoubleBaseMULX(&want, &list, n, a, b)
		differs = differs || got != want
	}
	return !selfTestDoubleBase(oddMultiplesMULX, f, varTimeWideDoubleBaseMULX), differs
}

func varTimeWideDoubleBaseMULXMutant(f wideDoubleBaseKernel) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 7))
	_, a, b := mutantTables(r)
	for range mutantRounds / 10 {
		list, n := weirdSteps(r, 64, 256)
		var got, want packedPoint
		f(&got, &list, n, a, b)
		varTimeWideDoubleBaseMULX(&want, &list, n, a, b)
		differs = differs || got != want
	}
	return !selfTestDoubleBase(oddMultiplesMULX, varTimeDoubleBaseMULX, f), differs
}

// mutantTables returns tables of numbers.
func mutantTables(r *rand.Rand) (*oddMultiples, *[64]packedNiels, *[256]packedNiels) {
	var odd oddMultiples
	var few [64]packedNiels
	var many [256]packedNiels
	fill := func(words []uint64) {
		for i := 0; i < len(words); i += 4 {
			w := mutantWords(r)
			copy(words[i:], w[:])
		}
	}
	for i := range odd {
		fill(odd[i][:])
	}
	for i := range few {
		fill(few[i][:])
	}
	for i := range many {
		fill(many[i][:])
	}
	return &odd, &few, &many
}

func flatten(t *oddMultiples) (n [][4]uint64) {
	for i := range t {
		for c := 0; c < len(t[i]); c += 4 {
			n = append(n, [4]uint64(t[i][c:]))
		}
	}
	return n
}

// Each kernel by name: its results are those of the twin modulo p, within the
// bounds that it states, for operands up to the largest that it accepts.
func TestDoubleBaseMULX(t *testing.T) {
	if !cpu.MULX {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required: " + cpu.Reason("mulx"))
		}
		t.Skip(cpu.Reason("mulx"))
	}
	if !selfTestDoubleBase(oddMultiplesMULX, varTimeDoubleBaseMULX, varTimeWideDoubleBaseMULX) {
		t.Error("the self-test fails")
	}
	for name, result := range map[string]func() (noticed, differs bool){
		"oddMultiples":          func() (bool, bool) { return oddMultiplesMULXMutant(oddMultiplesMULX) },
		"varTimeDoubleBase":     func() (bool, bool) { return varTimeDoubleBaseMULXMutant(varTimeDoubleBaseMULX) },
		"varTimeWideDoubleBase": func() (bool, bool) { return varTimeWideDoubleBaseMULXMutant(varTimeWideDoubleBaseMULX) },
	} {
		if noticed, differs := result(); noticed || differs {
			t.Errorf("the kernel of %s is taken for a mutant", name)
		}
	}
	r := rand.New(rand.NewPCG(21, 22))
	n := 3000
	switch {
	case longTests():
		n = 1_000_000
	case testing.Short():
		n = 200
	}
	var odd struct {
		before uint64
		t      oddMultiples
		after  uint64
	}
	var few [64]packedNiels
	var many [256]packedNiels
	for i := range n {
		var p packedPoint
		for c := range p {
			p[c] = weirdReduced(r)
		}
		given := p
		odd.before, odd.after = 11, 12
		var want oddMultiples
		oddMultiplesMULX(&odd.t, &p)
		oddMultiplesGeneric(&want, &p)
		if !sameNumbers(flatten(&odd.t), flatten(&want)) {
			t.Fatalf("multiples of %x: %x, not what the twin gives", p, odd.t)
		}
		if odd.before != 11 || odd.after != 12 || p != given {
			t.Fatalf("multiples of %x: written elsewhere", given)
		}

		// New entries now and then: there are many.
		for j := range few {
			for c := 0; c < 12 && i%64 == j; c += 4 {
				for k := range 4 {
					w, v := weirdNumber(r), weirdNumber(r)
					copy(few[j][c:], w[:])
					copy(many[4*j+k][c:], v[:])
				}
			}
		}
		for j := range odd.t {
			for c := 0; c < 16; c += 4 {
				w := weirdNumber(r)
				copy(odd.t[j][c:], w[:])
			}
		}
		check := func(wide bool) {
			t.Helper()
			var out struct {
				before uint64
				p      packedPoint
				after  uint64
			}
			out.before, out.after = 13, 14
			var want packedPoint
			list, n := weirdSteps(r, 8, 64)
			if wide {
				list, n = weirdSteps(r, 64, 256)
				varTimeWideDoubleBaseMULX(&out.p, &list, n, &few, &many)
				varTimeWideDoubleBaseGeneric(&want, &list, n, &few, &many)
			} else {
				varTimeDoubleBaseMULX(&out.p, &list, n, &odd.t, &few)
				varTimeDoubleBaseGeneric(&want, &list, n, &odd.t, &few)
			}
			if !sameNumbers(out.p[:], want[:]) {
				t.Fatalf("steps %x: %x, not what the twin gives", list[:n], out.p)
			}
			for c := range out.p {
				if !isReduced(&out.p[c]) {
					t.Fatalf("steps %x: coordinate %d is %x, out of bounds", list[:n], c, out.p[c])
				}
			}
			if out.before != 13 || out.after != 14 {
				t.Fatalf("steps %x: written elsewhere", list[:n])
			}
		}
		check(false)
		check(true)
	}
}

// A build without generic code refuses to compute where the kernels must not
// run.
func TestDoubleBaseRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { doubleBaseMULXRefused = r }(doubleBaseMULXRefused)
	A := NewGeneratorPoint()
	var p packedPoint
	A.pack(&p)
	doubleBaseMULXRefused = true
	for name, f := range map[string]func(){
		"multiples":   func() { oddMultiplesOf(new(oddMultiples), &p) },
		"double base": func() { varTimeDoubleBase(&p, new([maxSteps]uint32), 1, new(oddMultiples), &oddBaseTable) },
		"wide": func() {
			varTimeWideDoubleBase(&p, new([maxSteps]uint32), 1, new([64]packedNiels), &wideBaseTable)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
