//go:build !purego

package field

import (
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/testvec"
)

func invertAssembly() []invertKernel {
	if !cpu.MULX {
		return nil
	}
	return []invertKernel{{"mulx", invertMULX}}
}

func invertMULXMutant(f func(out, a *[4]uint64)) (noticed, differs bool) {
	r := rand.New(rand.NewPCG(1, 4))
	for range mutantRounds / 2 {
		var a, got, want [4]uint64
		for i := range a {
			a[i] = testvec.WeirdUint64(r)
		}
		f(&got, &a)
		invertMULX(&want, &a)
		differs = differs || got != want
	}
	return !selfTestInvert(f), differs
}

func TestInvertSelfTest(t *testing.T) {
	if cpu.MULX {
		if noticed, differs := invertMULXMutant(invertMULX); noticed || differs {
			t.Error("the kernel fails")
		}
	}
	if !selfTestInvert(invertGeneric) {
		t.Error("the twin fails")
	}
	for name, f := range map[string]func(out, a *[4]uint64){
		"nothing": func(_, _ *[4]uint64) {},
		"zero":    func(out, _ *[4]uint64) { *out = [4]uint64{} },
		"not canonical": func(out, a *[4]uint64) {
			invertGeneric(out, a)
			if *out == [4]uint64{1} {
				*out = [4]uint64{1<<64 - 18, 1<<64 - 1, 1<<64 - 1, 1<<63 - 1}
			}
		},
		"zero has an inverse": func(out, a *[4]uint64) {
			if invertGeneric(out, a); *out == [4]uint64{} {
				out[0] = 1
			}
		},
		"a carry into word 3 is lost": func(out, a *[4]uint64) {
			b := *a
			if b[0]&b[1]&b[2] == 1<<64-1 && b[3] == 1<<63 {
				b[3]--
			}
			invertGeneric(out, &b)
		},
	} {
		if selfTestInvert(f) {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// A build without generic code refuses to compute where the kernel must not
// run.
func TestInvertRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { invertMULXRefused = r }(invertMULXRefused)
	invertMULXRefused = true
	v := new(Element).One()
	mustPanic(t, "Invert", func() { v.Invert(v) })
}
