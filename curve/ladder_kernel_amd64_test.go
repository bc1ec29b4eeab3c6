//go:build !purego

package curve

import (
	"bytes"
	"crypto/ecdh"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/cpu"
	"github.com/sigcore/sigcore/internal/testvec"
)

func ladderAssembly() []ladderKernel {
	if !cpu.MULX {
		return nil
	}
	return []ladderKernel{{"mulx", ladderMULX}}
}

func ladderMULXMutant(f func(x, z *[4]uint64, k, u *[32]byte)) (noticed, differs bool) {
	low := testvec.LowOrderU()
	r := rand.New(rand.NewPCG(2, 3))
	for range mutantRounds / 5 {
		k, u := testvec.WeirdBytes32(r), testvec.WeirdBytes32(r)
		clamp(&k)
		var got, want [2][4]uint64
		f(&got[0], &got[1], &k, &u)
		ladderMULX(&want[0], &want[1], &k, &u)
		differs = differs || got != want && !slices.Contains(low, u)
	}
	return !selfTestLadder(f), differs
}

func TestLadderSelfTest(t *testing.T) {
	if cpu.MULX {
		if noticed, differs := ladderMULXMutant(ladderMULX); noticed || differs {
			t.Error("the kernel fails")
		}
	}
	if !selfTestLadder(ladderGeneric) {
		t.Error("the twin fails")
	}
	for name, f := range map[string]func(x, z *[4]uint64, k, u *[32]byte){
		"z is zero":      func(_, _ *[4]uint64, _, _ *[32]byte) {},
		"another bit":    func(x, z *[4]uint64, k, u *[32]byte) { ladderGeneric(x, z, k, u); x[2] ^= 1 << 40 },
		"another scalar": func(x, z *[4]uint64, k, u *[32]byte) { l := *k; l[17] ^= 4; ladderGeneric(x, z, &l, u) },
		"another point":  func(x, z *[4]uint64, k, u *[32]byte) { v := *u; v[23] &= 0x7f; ladderGeneric(x, z, k, &v) },
	} {
		if selfTestLadder(f) {
			t.Errorf("%s: not noticed", name)
		}
	}
	for i, v := range ladderVectors {
		var u, want [32]byte
		for j := range 4 {
			binary.LittleEndian.PutUint64(u[8*j:], v.u[j])
			binary.LittleEndian.PutUint64(want[8*j:], v.v[j])
		}
		priv, err := ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{v.k}, 32))
		if err != nil {
			t.Fatal(err)
		}
		pub, err := ecdh.X25519().NewPublicKey(u[:])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := priv.ECDH(pub); err != nil || [32]byte(got) != want {
			t.Errorf("vector %d: crypto/ecdh gives %x (%v), not %x", i, got, err, want)
		}
	}
}

// A build without generic code refuses to compute where the kernel must not
// run.
func TestLadderRefused(t *testing.T) {
	if !cpu.V3 {
		t.Skip("this build has generic code")
	}
	defer func(r bool) { ladderMULXRefused = r }(ladderMULXRefused)
	ladderMULXRefused = true
	defer func() {
		if recover() == nil {
			t.Error("X25519: no panic")
		}
	}()
	var k, u [32]byte
	X25519(&k, &k, &u)
}
