package signal

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// An idSet is a set of prekey ids as ranges that ascend and do not touch. Ids
// are minted in runs and uploaded in runs, so that the set of those that were
// not uploaded is a few ranges, in one row, whatever their number.
type idSet []idRange

// idRange holds the ids from first to last, both included.
type idRange struct{ first, last uint32 }

// len returns the number of ids.
func (s idSet) len() (n int) {
	for _, r := range s {
		n += int(r.last-r.first) + 1
	}
	return n
}

// has reports whether id is in the set.
func (s idSet) has(id uint32) bool {
	i, _ := slices.BinarySearchFunc(s, id, func(r idRange, id uint32) int {
		if r.last < id {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i].first <= id
}

// with returns the set with ids, which are in no order.
func (s idSet) with(ids []uint32) idSet {
	all := make(idSet, 0, len(s)+1)
	all = append(all, s...)
	for _, id := range ids {
		if n := len(all); n > len(s) && all[n-1].last+1 == id {
			all[n-1].last = id // minted in a run
			continue
		}
		all = append(all, idRange{id, id})
	}
	slices.SortFunc(all, func(a, b idRange) int { return int(int64(a.first) - int64(b.first)) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && int64(r.first) <= int64(out[n-1].last)+1 {
			out[n-1].last = max(out[n-1].last, r.last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// without returns the set less ids, which are in no order.
func (s idSet) without(ids []uint32) idSet {
	ids = slices.Sorted(slices.Values(ids))
	var out idSet
	for _, r := range s {
		lo, empty := r.first, false
		at, _ := slices.BinarySearch(ids, lo)
		for ids = ids[at:]; len(ids) > 0 && ids[0] <= r.last; ids = ids[1:] {
			if ids[0] > lo {
				out = append(out, idRange{lo, ids[0] - 1})
			}
			if ids[0] >= lo {
				lo, empty = ids[0]+1, ids[0] == r.last
			}
		}
		if !empty {
			out = append(out, idRange{lo, r.last})
		}
	}
	return out
}

// from appends at most limit ids of the set to dst, in the order in which ids
// are issued when the next one is start: those from start on are the oldest.
func (s idSet) from(dst []uint32, start uint32, limit int) []uint32 {
	take := func(lo, hi uint32) {
		for _, r := range s {
			for id := max(lo, r.first); id <= min(hi, r.last) && limit > 0; id++ {
				dst = append(dst, id)
				limit--
			}
		}
	}
	take(start, MaxPreKeyID)
	if start > 0 {
		take(0, start-1)
	}
	return dst
}

// append appends the ranges: for each, how far its first id is from the one
// before, and how many more ids it has.
func (s idSet) append(dst []byte) []byte {
	end := uint32(0)
	for _, r := range s {
		dst = protowire.AppendVarint(dst, uint64(r.first-end))
		dst = protowire.AppendVarint(dst, uint64(r.last-r.first))
		end = r.last
	}
	return dst
}

// parseIDSet reads what append wrote; false if it is not that.
func parseIDSet(b []byte) (s idSet, ok bool) {
	end := uint64(0)
	for len(b) > 0 {
		gap, n := protowire.ConsumeVarint(b)
		if n < 0 || gap > MaxPreKeyID {
			return nil, false
		}
		b = b[n:]
		more, n := protowire.ConsumeVarint(b)
		if n < 0 || more > MaxPreKeyID {
			return nil, false
		}
		b = b[n:]
		first := end + gap
		if end = first + more; end > MaxPreKeyID || first == 0 || len(s) > 0 && gap < 2 {
			return nil, false
		}
		s = append(s, idRange{uint32(first), uint32(end)})
	}
	return s, true
}
