package cpu

import "testing"

func TestAddFlags(t *testing.T) {
	for i, p := range presets {
		if got := addFlags(p[0], p[1]); got != uint64(i) {
			t.Errorf("flags of %#x + %#x are %b, want %b", p[0], p[1], got, i)
		}
	}
}

// The probe must see each way in which a translator can damage the result.
func TestProbeCatchesFaults(t *testing.T) {
	type kernel = func(a, b, x, y uint64) (r, s, flags uint64)
	damage := func(k kernel, change func(r, s, flags uint64) (uint64, uint64, uint64)) kernel {
		return func(a, b, x, y uint64) (uint64, uint64, uint64) { return change(k(a, b, x, y)) }
	}
	for name, k := range map[string]kernel{"mulx": mulxFlagsGeneric, "adx": adxFlagsGeneric} {
		if !agree(k, k) {
			t.Errorf("%s: a right kernel is refused", name)
		}
		for fault, change := range map[string]func(r, s, flags uint64) (uint64, uint64, uint64){
			"CF cleared":        func(r, s, f uint64) (uint64, uint64, uint64) { return r, s, f &^ flagCF },
			"CF set":            func(r, s, f uint64) (uint64, uint64, uint64) { return r, s, f | flagCF },
			"OF cleared":        func(r, s, f uint64) (uint64, uint64, uint64) { return r, s, f &^ flagOF },
			"OF set":            func(r, s, f uint64) (uint64, uint64, uint64) { return r, s, f | flagOF },
			"results exchanged": func(r, s, f uint64) (uint64, uint64, uint64) { return s, r, f },
			"top bit lost":      func(r, s, f uint64) (uint64, uint64, uint64) { return r &^ (1 << 63), s, f },
			"bottom bit lost":   func(r, s, f uint64) (uint64, uint64, uint64) { return r, s &^ 1, f },
		} {
			if agree(damage(k, change), k) {
				t.Errorf("%s: not noticed: %s", name, fault)
			}
		}
	}
}
