package signal

import (
	"errors"
	"slices"
	"testing"
)

func TestUnusedIDs(t *testing.T) {
	const last = MaxPreKeyID
	for _, c := range []struct {
		stored []uint32
		next   uint32
		want   []uint32
		after  uint32
	}{
		{nil, 1, []uint32{1, 2, 3}, 4},
		{[]uint32{0, 2, 5}, 1, []uint32{1, 3, 4}, 5},
		{[]uint32{1, 2, 3}, 2, []uint32{4, 5, 6}, 7},
		{nil, last, []uint32{last, 1, 2}, 3},
		{[]uint32{0, 1, 3, last - 1}, last - 1, []uint32{last, 2, 4}, 5},
		{[]uint32{1, 2, last}, last, []uint32{3, 4, 5}, 6},
		{nil, last - 2, []uint32{last - 2, last - 1, last}, 1},
	} {
		got, after, err := unusedIDs(c.stored, c.next, len(c.want))
		if err != nil || !slices.Equal(got, c.want) || after != c.after {
			t.Errorf("%v from %d: %v, %d, %v; want %v, %d", c.stored, c.next, got, after, err, c.want, c.after)
		}
	}
	stored := make([]uint32, 0, last)
	for id := range uint32(last) {
		stored = append(stored, id) // 0 to last-1: one id is left
	}
	if got, after, err := unusedIDs(stored, 7, 1); err != nil || got[0] != last || after != 1 {
		t.Errorf("the only id left: %v, %d, %v", got, after, err)
	}
	if _, _, err := unusedIDs(stored, 7, 2); !errors.Is(err, ErrPreKeyIDsInUse) {
		t.Errorf("more ids than are left: %v", err)
	}
}
