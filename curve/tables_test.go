package curve

import (
	"testing"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// checkNiels compares an entry of a table with the point p, and that every
// coordinate is canonical.
func checkNiels(t *testing.T, name string, e *packedNiels, p *edwards25519.Point) {
	t.Helper()
	x, y, z, _ := p.ExtendedCoordinates()
	z.Invert(z)
	x.Multiply(x, z)
	y.Multiply(y, z)
	d2 := new(field.Element)
	if _, err := d2.SetBytes(feD2.Bytes()); err != nil {
		t.Fatal(err)
	}
	want := []*field.Element{
		new(field.Element).Add(y, x),
		new(field.Element).Subtract(y, x),
		new(field.Element).Multiply(d2, new(field.Element).Multiply(x, y)),
	}
	half := new(field.Element).Invert(new(field.Element).Mult32(new(field.Element).One(), 2))
	for i, w := range want {
		w.Multiply(w, half)
		var b [32]byte
		for j := range b {
			b[j] = byte(e[4*i+j/8] >> (8 * (j % 8)))
		}
		if [32]byte(w.Bytes()) != b {
			t.Fatalf("%s, coordinate %d: %x, want %x", name, i, b, w.Bytes())
		}
	}
}

func TestTables(t *testing.T) {
	q := edwards25519.NewGeneratorPoint()
	b2 := new(edwards25519.Point).Add(q, q)
	m := edwards25519.NewGeneratorPoint()
	for i := range oddBaseTable {
		checkNiels(t, "odd multiple", &oddBaseTable[i], m)
		m.Add(m, b2)
	}
	m.Set(q)
	for i := range wideBaseTable {
		if i%32 == 0 && i > 0 { // 2^32 times the point of the block before
			q.Set(b2)
			for range 31 {
				q.Add(q, q)
			}
			m.Set(q)
			b2.Add(q, q)
		}
		checkNiels(t, "wide", &wideBaseTable[i], m)
		m.Add(m, b2)
	}
	q = edwards25519.NewGeneratorPoint()
	for i := range fixedBaseTable {
		m.Set(q)
		for j := range fixedBaseTable[i] {
			if fixedBaseTable[i][j][8] > 1<<64-19 {
				t.Errorf("fixed base, entry %d of row %d: the kernel does not negate %#x", j, i, fixedBaseTable[i][j][8:])
			}
			checkNiels(t, "fixed base", &fixedBaseTable[i][j], m)
			m.Add(m, q)
		}
		for range 4 {
			q.Add(q, q)
		}
	}
}
