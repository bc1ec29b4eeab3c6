package signal

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIDSetModel compares a set with a map over random changes.
func TestIDSetModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, top := range []uint32{12, 300, MaxPreKeyID} {
		var s idSet
		model := map[uint32]bool{}
		for step := range 400 {
			var ids []uint32
			run := rng.IntN(3) == 0
			at := 1 + rng.Uint32N(top)
			for range rng.IntN(9) {
				if run {
					at = min(at+1, top)
				} else {
					at = 1 + rng.Uint32N(top)
					if top == MaxPreKeyID {
						at = top - rng.Uint32N(40)
					}
				}
				ids = append(ids, at)
			}
			before := slices.Clone(ids)
			old := slices.Clone(s)
			was := s
			if rng.IntN(2) == 0 {
				s = s.with(ids)
				for _, id := range ids {
					model[id] = true
				}
			} else {
				s = s.without(ids)
				for _, id := range ids {
					delete(model, id)
				}
			}
			if !slices.Equal(ids, before) || !slices.Equal(old, was) {
				t.Fatalf("step %d changed its arguments", step)
			}
			want := slices.Sorted(maps.Keys(model))
			if got := s.from(nil, 0, 1<<30); !slices.Equal(got, want) || s.len() != len(want) {
				t.Fatalf("top %d, step %d: %v, want %v", top, step, got, want)
			}
			start := 1 + rng.Uint32N(top)
			i, _ := slices.BinarySearch(want, start)
			if got := s.from(nil, start, 5); !slices.Equal(got, append(slices.Clone(want[i:]), want[:i]...)[:min(5, len(want))]) {
				t.Fatalf("step %d: from %d: %v of %v", step, start, got, want)
			}
			for id := start; id < start+20; id++ {
				if s.has(id) != model[id] {
					t.Fatalf("step %d: has(%d) is %v", step, id, s.has(id))
				}
			}
			back, ok := parseIDSet(s.append(nil))
			if !ok || !slices.Equal(back, s) {
				t.Fatalf("step %d: %v read back as %v, %v", step, s, back, ok)
			}
		}
	}
}

func TestParseIDSet(t *testing.T) {
	for _, b := range [][]byte{
		{0, 0},                               // id 0
		{1},                                  // half a range
		{1, 0, 1, 0},                         // ranges that touch
		{1, 0, 0, 0},                         // the same twice
		{0x80},                               // a cut number
		{0x80, 0x80, 0x80, 0x08, 0},          // past the last id
		{1, 0xff, 0xff, 0xff, 0x07, 1, 0},    // a range over all ids and more
		{0xff, 0xff, 0xff, 0x07, 0, 2, 0},    // a range after the last id
		{1, 0x80, 0x80, 0x80, 0x80, 0x80, 8}, // a length of more than 32 bits
	} {
		if s, ok := parseIDSet(b); ok {
			t.Errorf("% x was read as %v", b, s)
		}
	}
	if s, ok := parseIDSet([]byte{0xff, 0xff, 0xff, 0x07, 0}); !ok || !s.has(MaxPreKeyID) || s.len() != 1 {
		t.Errorf("the last id: %v, %v", s, ok)
	}
}
