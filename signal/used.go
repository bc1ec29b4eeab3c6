package signal

import "encoding/binary"

// usedWindow is how many of the last counters of a chain have a mark.
const usedWindow = 16

// usedCounters has a mark of the message that used each of the last counters of
// a chain, so that a message that comes again can be told from another one with
// its counter, which a sender makes that was put back to an earlier state. A mark
// of 0 is for no message, or one of which nothing is known.
type usedCounters [usedWindow]uint16

// markOf is the mark of a message, from bytes that differ in every message: its
// MAC or its signature.
func markOf(tag []byte) uint16 { return max(binary.LittleEndian.Uint16(tag), 1) }

// of returns the mark of a counter of a chain that is at next.
func (u *usedCounters) of(next, counter uint32) uint16 {
	if next-counter > usedWindow {
		return 0
	}
	return u[counter%usedWindow]
}

// use marks a counter of a chain that is at next.
func (u *usedCounters) use(next, counter uint32, mark uint16) {
	if next-counter <= usedWindow {
		u[counter%usedWindow] = mark
	}
}

// pass is for a chain that was at from and is behind counter now, which it used.
func (u *usedCounters) pass(from, counter uint32, mark uint16) {
	for i := from; i < counter && i-from < usedWindow; i++ {
		u[i%usedWindow] = 0
	}
	u[counter%usedWindow] = mark
}

// refused returns why the key of a counter is not among the kept keys of a chain
// that is at next: a message with this mark came before, or another one with
// its counter, or no key was ever had, or it was discarded unused.
func (u *usedCounters) refused(kept *skippedKeys, next, counter uint32, mark uint16) error {
	switch known := u.of(next, counter); {
	case known != 0 && known != mark:
		return &RolledBackError{Next: next, Counter: counter}
	case known == 0 && counter < kept.floor:
		return &NoMessageKeyError{Next: next, Counter: counter}
	}
	return &DuplicateError{Next: next, Counter: counter}
}

// The stored form is two bytes for each counter, the last one at the end, from
// the first that has a mark.

func (u *usedCounters) stored(next uint32) int {
	n := min(next, usedWindow)
	for n > 0 && u[(next-n)%usedWindow] == 0 {
		n--
	}
	return 2 * int(n)
}

func (u *usedCounters) append(dst []byte, next uint32) []byte {
	for n := uint32(u.stored(next) / 2); n > 0; n-- {
		dst = binary.LittleEndian.AppendUint16(dst, u[(next-n)%usedWindow])
	}
	return dst
}

// parse reads the stored form. What is not one says nothing: at worst a message
// counts as a duplicate.
func (u *usedCounters) parse(b []byte, next uint32) {
	*u = usedCounters{}
	if len(b)%2 != 0 || len(b) > 2*usedWindow || uint64(len(b)/2) > uint64(next) {
		return
	}
	for n := uint32(len(b) / 2); n > 0; n, b = n-1, b[2:] {
		u[(next-n)%usedWindow] = binary.LittleEndian.Uint16(b)
	}
}
