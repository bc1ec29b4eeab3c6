//go:build !purego

package curve

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/field"
	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/impl/impltest"
	"github.com/sigcore/sigcore/internal/testvec"
)

// weirdTable returns a table of coordinates as the kernel takes them, many of
// them near the limits of words and of the field. They are of no points: the
// formulas are polynomials, on which the kernel and its twin agree whatever goes
// in.
func weirdTable(r *rand.Rand) *[64][8]packedNiels {
	t := new([64][8]packedNiels)
	for i := range t {
		for j := range t[i] {
			for c := 0; c < 12; c += 4 {
				b := testvec.WeirdBytes32(r)
				b[31] &= 0x7f
				e, err := new(field.Element).SetBytes(b[:])
				if err != nil {
					panic(err)
				}
				w := e.Words()
				if c == 8 {
					w[0] = min(w[0], 1<<64-19)
				}
				copy(t[i][j][c:], w[:])
			}
		}
	}
	return t
}

// By name, and so also where a build has compiled the choice in.
func TestFixedBaseMULX(t *testing.T) {
	if !cpu.MULX {
		if impltest.Required("mulx") {
			t.Fatal("mulx is required: " + cpu.Reason("mulx"))
		}
		t.Skip(cpu.Reason("mulx"))
	}
	r := rand.New(rand.NewPCG(11, 12))
	check := func(table *[64][8]packedNiels, d radix16) {
		t.Helper()
		var out [4][4]uint64
		fixedBaseMULX(&out, table, (*[4]uint64)(&d))
		for _, w := range out {
			if w[3] >= 1<<63+1<<7 {
				t.Fatalf("digits %x: a coordinate of %x is not below 2^255 + 2^199", d, out)
			}
		}
		var got, want Point
		got.setWords(&out)
		fixedBaseGeneric(&want, table, &d)
		if !got.sameCoordinates(&want) {
			t.Fatalf("digits %x: %x, not what the twin gives", d, out)
		}
	}
	weird := weirdTable(r)
	for digit := range uint64(16) { // the same digit everywhere
		w := digit * 0x1111111111111111
		d := radix16{w, w, w, w}
		if digit > 8 {
			d[3] = w&^(0xf<<60) | 8<<60
		}
		check(&fixedBaseTable, d)
		check(weird, d)
	}
	n := 300
	switch {
	case longTests():
		n = 500_000
	case testing.Short():
		n = 30
	}
	for i := range n {
		if i%100 == 99 {
			weird = weirdTable(r)
		}
		d := radix16{testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r), testvec.WeirdUint64(r)}
		d[3] = d[3]&^(0xf<<60) | r.Uint64N(9)<<60
		check(weird, d)
		check(&fixedBaseTable, d)
	}
	if noticed, differs := fixedBaseMULXMutant(fixedBaseMULX); noticed || differs {
		t.Error("the self-test fails")
	}
}

func fixedBaseMULXMutant(f func(out *[4][4]uint64, table *[64][8]packedNiels, digits *[4]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(2, 4))
	for range mutantRounds / 5 {
		d := mutantWords(r)
		d[3] = d[3]&^(0xf<<60) | r.Uint64N(9)<<60
		var got, want [4][4]uint64
		f(&got, &fixedBaseTable, &d)
		fixedBaseMULX(&want, &fixedBaseTable, &d)
		differs = differs || got != want
	}
	return !selfTestFixedBase(f), differs
}

// A kernel that lies in one bit, for one digit only, does not pass the self-test.
func TestFixedBaseSelfTestSeesALie(t *testing.T) {
	if !cpu.MULX {
		t.Skip(cpu.Reason("mulx"))
	}
	lie := func(out *[4][4]uint64, table *[64][8]packedNiels, digits *[4]uint64) {
		fixedBaseMULX(out, table, digits)
		if digits[0] == 0 {
			out[2][3] ^= 1
		}
	}
	if noticed, _ := fixedBaseMULXMutant(lie); !noticed {
		t.Error("the self-test passes a kernel whose results are wrong")
	}
}
