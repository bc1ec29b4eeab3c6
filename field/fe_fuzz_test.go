package field

import (
	"encoding/binary"
	"math/big"
	"testing"
)

// FuzzElement takes ten limbs and a count, and compares every tier and every
// operation with math/big.
func FuzzElement(f *testing.F) {
	for _, x := range edges()[:40] {
		var b []byte
		for range 2 {
			for _, l := range x.l {
				b = binary.LittleEndian.AppendUint64(b, l)
			}
		}
		f.Add(b, uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint8) {
		var x, y Element
		for i := range 10 {
			var l uint64
			if len(b) >= 8*i+8 {
				l = binary.LittleEndian.Uint64(b[8*i:]) & maxLimb
			}
			if i < 5 {
				x.l[i] = l
			} else {
				y.l[i-5] = l
			}
		}
		checkPair(t, &x, &y)
		checkOne(t, &x)
		for _, k := range kernels() {
			checkKernelMul(t, k, &x.l, &y.l)
			checkKernelOne(t, k, &y.l)
			m := 1 + int(n)
			var got Element
			k.squareN(&got.l, &x.l, m)
			e := new(big.Int).Lsh(big.NewInt(1), uint(m))
			if got.value().Cmp(e.Exp(x.value(), e, p)) != 0 {
				t.Fatalf("%s: squareN(%x, %d) = %x", k.name, x.l, m, got.l)
			}
		}
	})
}

// FuzzDecode compares the decoders with math/big on any bytes.
func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(make([]byte, 64))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n := littleEndian(b)
		v, err := new(Element).SetBytes(b)
		if (err == nil) != (len(b) == 32) {
			t.Fatal(err)
		}
		if err == nil {
			low := new(big.Int).SetBit(n, 255, 0)
			if v.value().Cmp(low.Mod(low, p)) != 0 {
				t.Fatalf("SetBytes(%x) = %x", b, v.l)
			}
		}
		v, err = new(Element).SetCanonicalBytes(b)
		if (err == nil) != (len(b) == 32 && littleEndian(b).Cmp(p) < 0) {
			t.Fatal(err)
		}
		if err == nil && string(v.Bytes()) != string(b) {
			t.Fatalf("SetCanonicalBytes(%x) encodes as %x", b, v.Bytes())
		}
		v, err = new(Element).SetWideBytes(b)
		if (err == nil) != (len(b) == 64) {
			t.Fatal(err)
		}
		if err == nil && v.value().Cmp(new(big.Int).Mod(littleEndian(b), p)) != 0 {
			t.Fatalf("SetWideBytes(%x) = %x", b, v.l)
		}
	})
}
