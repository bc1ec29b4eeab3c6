//go:build !purego

package curve

// A wordWalk is a sequence of words for self-tests; its state is any number. Half
// of the words are at the limits of words, where carries occur that others do
// not have.
type wordWalk uint64

func (w *wordWalk) next() uint64 {
	const ones = 1<<64 - 1
	limits := [...]uint64{ones, 0, ones - 1, 1, 1 << 63, 1<<63 - 1, 1<<32 - 1, 1 << 32}
	*w = *w*6364136223846793005 + 1442695040888963407 // of Knuth's MMIX
	if n := *w >> 60; n < wordWalk(len(limits)) {
		return limits[n]
	}
	return uint64(*w ^ *w>>31)
}

// number returns four words, one time in eight those of a number just below 2^255
// or 2^256.
func (w *wordWalk) number() [4]uint64 {
	const ones = 1<<64 - 1
	if n := w.next(); n>>5&7 == 0 {
		return [4]uint64{ones - n&31, ones, ones, ones >> (n >> 8 & 1)}
	}
	return [4]uint64{w.next(), w.next(), w.next(), w.next()}
}
