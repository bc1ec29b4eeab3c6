package signal

import (
	"slices"
)

// A skippedKey is what is kept for a message that has not arrived: the seed of
// its keys. Records of other implementations may have the keys and no seed.
type skippedKey struct {
	counter uint32
	used    bool // it has no key any more
	seed    [32]byte
	keys    *messageKeys
}

func (k *skippedKey) messageKeys(out *messageKeys) {
	if k.keys != nil {
		*out = *k.keys
		return
	}
	out.derive(&k.seed)
}

func (k *skippedKey) wipe() {
	if k.keys != nil {
		k.keys.wipe()
	}
	*k = skippedKey{counter: k.counter, used: true}
}

// A seedForm is how a record stores skipped keys: each is a field 4 with the
// counter in field 1 and the seed behind this tag and length.
type seedForm string

const (
	sessionSeed   seedForm = "\xa2\x06\x20" // field 100
	senderKeySeed seedForm = "\x12\x20"     // field 2
)

// skippedKeys are the skipped keys of one chain in ascending order of their
// counters, so that the oldest are in front. Those of a loaded record stay as
// they are stored until they are looked at for the second time: most messages
// do not need them, and a record may have 80 kB of them.
type skippedKeys struct {
	list []skippedKey
	used int // of list

	// Keys of counters below floor that are not here were never here, or were
	// discarded, unless they were used.
	floor uint32

	stored []byte // in place of list; never written to, so that copies share it
	count  int    // of stored
	last   uint32 // counter in stored
	form   seedForm
	looked bool
}

// len returns the number of keys.
func (s *skippedKeys) len() int { return len(s.list) - s.used + s.count }

// storedKey reads the first key of b, which is stored the way that this
// package writes it, and returns its length, or 0.
func (f seedForm) storedKey(b []byte, counter *uint32) (seed []byte, n int) {
	if len(b) < 2 || b[0] != 4<<3|2 || int(b[1]) > len(b)-2 || b[1] > 127 {
		return nil, 0
	}
	n = 2 + int(b[1])
	head := n - 32 - len(f)
	if head < 4 || b[2] != 1<<3 || string(b[head:n-32]) != string(f) {
		return nil, 0
	}
	v := uint64(b[head-1])
	if v > 127 || v == 0 && head > 4 || head > 8 {
		return nil, 0
	}
	for i := head - 2; i >= 3; i-- {
		if b[i] < 128 {
			return nil, 0
		}
		v = v<<7 | uint64(b[i]&127)
	}
	if v > 1<<32-1 {
		return nil, 0
	}
	*counter = uint32(v)
	return b[n-32 : n], n
}

// take takes the keys at the start of b over as they are stored, as far as they
// are what this package writes and in ascending order, and returns the rest of
// b.
func (s *skippedKeys) take(b []byte, f seedForm) []byte {
	if len(s.list) > 0 || s.count > 0 {
		return b
	}
	s.form = f
	end := 0
	for {
		var counter uint32
		_, n := f.storedKey(b[end:], &counter)
		if n == 0 || s.count > 0 && counter <= s.last {
			break
		}
		end += n
		s.last = counter
		s.count++
	}
	if end > 0 {
		s.stored = slices.Clone(b[:end])
	}
	return b[end:]
}

// load moves the keys from their stored form to the list.
func (s *skippedKeys) load() {
	if s.stored == nil {
		return
	}
	s.list = make([]skippedKey, 0, s.count+1)
	for b := s.stored; len(b) > 0; {
		var k skippedKey
		seed, n := s.form.storedKey(b, &k.counter)
		k.seed = [32]byte(seed)
		s.list = append(s.list, k)
		b = b[n:]
	}
	s.stored, s.count, s.looked = nil, 0, false
}

// find returns the position of the key of counter. It holds until the keys
// change or another one is looked for.
func (s *skippedKeys) find(counter uint32) (int, bool) {
	if s.stored != nil && !s.looked {
		s.looked = true
		for at := 0; at < len(s.stored); {
			var c uint32
			_, n := s.form.storedKey(s.stored[at:], &c)
			if c >= counter {
				return at, c == counter
			}
			at += n
		}
		return 0, false
	}
	s.load()
	i, ok := slices.BinarySearchFunc(s.list, counter, func(k skippedKey, c uint32) int {
		switch {
		case k.counter < c:
			return -1
		case k.counter > c:
			return 1
		}
		return 0
	})
	return i, ok && !s.list[i].used
}

// at returns the key at a position.
func (s *skippedKeys) at(i int) (k skippedKey) {
	if s.stored == nil {
		return s.list[i]
	}
	seed, _ := s.form.storedKey(s.stored[i:], &k.counter)
	k.seed = [32]byte(seed)
	return k
}

// remove deletes the key at a position.
func (s *skippedKeys) remove(i int) {
	if s.stored != nil {
		var c uint32
		_, n := s.form.storedKey(s.stored[i:], &c)
		s.stored = slices.Concat(s.stored[:i], s.stored[i+n:])
		if s.count--; s.count == 0 {
			s.stored = nil
		}
		return
	}
	s.list[i].wipe()
	s.used++
	// What is used stays until it is at an end or half of all: to close the gap
	// at once would move 50 bytes for every key behind it.
	for len(s.list) > 0 && s.list[0].used {
		s.list = s.list[1:]
		s.used--
	}
	for n := len(s.list); n > 0 && s.list[n-1].used; n-- {
		s.list = s.list[:n-1]
		s.used--
	}
	if s.used > len(s.list)/2 {
		s.compact()
	}
}

func (s *skippedKeys) compact() {
	s.list = slices.DeleteFunc(s.list, func(k skippedKey) bool { return k.used })
	s.used = 0
}

// pass takes in what a chain skipped that was at from and used counter: keys, of
// the last counters that were skipped.
func (s *skippedKeys) pass(from, counter uint32, keys []skippedKey) {
	if first := counter - uint32(len(keys)); first > from {
		s.floor = max(s.floor, first)
	}
	s.add(keys)
}

// add appends keys, which come after all there are unless a loaded record was
// odd, and prunes: once more than MaxSkippedKeys+pruneSlack are held, the
// oldest go until MaxSkippedKeys remain.
func (s *skippedKeys) add(keys []skippedKey) {
	if len(keys) == 0 {
		return
	}
	s.load()
	odd := len(s.list) > 0 && s.list[len(s.list)-1].counter >= keys[0].counter
	s.list = append(s.list, keys...)
	if odd {
		s.sort()
	}
	s.prune()
}

func (s *skippedKeys) prune() {
	if s.len() <= MaxSkippedKeys+pruneSlack {
		return
	}
	s.load()
	s.compact()
	n := len(s.list) - MaxSkippedKeys
	s.floor = max(s.floor, s.list[n-1].counter+1)
	clear(s.list[:n])
	s.list = s.list[n:]
}

// sort puts the keys of a loaded record in order.
func (s *skippedKeys) sort() {
	byCounter := func(a, b skippedKey) int {
		switch {
		case a.counter < b.counter:
			return -1
		case a.counter > b.counter:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(s.list, byCounter) {
		slices.SortStableFunc(s.list, byCounter)
	}
}

func (s *skippedKeys) clone() skippedKeys {
	c := *s
	c.list = slices.Clone(s.list)
	for i := range c.list {
		if keys := c.list[i].keys; keys != nil {
			k := *keys
			c.list[i].keys = &k
		}
	}
	return c
}

// size is the length of what append appends.
func (s *skippedKeys) size(f form, seeds seedForm) int {
	if s.stored != nil && f == compact {
		return len(s.stored)
	}
	n := 0
	s.each(func(k *skippedKey) { n += bytesFieldSize(k.size(f, seeds)) })
	return n
}

// append appends the keys as fields of a record.
func (s *skippedKeys) append(dst []byte, f form, seeds seedForm) []byte {
	if s.stored != nil && f == compact {
		return append(dst, s.stored...)
	}
	s.each(func(k *skippedKey) { dst = k.append(appendBytesTag(dst, 4, k.size(f, seeds)), f, seeds) })
	return dst
}

// each calls f for every key.
func (s *skippedKeys) each(f func(k *skippedKey)) {
	for i := range s.list {
		if !s.list[i].used {
			f(&s.list[i])
		}
	}
	for at := 0; at < len(s.stored); {
		k := s.at(at)
		f(&k)
		at += 2 + int(s.stored[at+1])
	}
}

func (k *skippedKey) size(f form, seeds seedForm) int {
	n := uintFieldSize(k.counter)
	if f == portable || k.keys != nil {
		return n + 2*bytesFieldSize(32) + bytesFieldSize(16)
	}
	return n + len(seeds) + 32
}

func (k *skippedKey) append(dst []byte, f form, seeds seedForm) []byte {
	dst = appendUintField(dst, 1, k.counter)
	if f == portable || k.keys != nil {
		var keys messageKeys
		k.messageKeys(&keys)
		dst = appendBytesField(dst, 2, keys.cipher[:])
		dst = appendBytesField(dst, 3, keys.mac[:])
		dst = appendBytesField(dst, 4, keys.iv[:])
		keys.wipe()
		return dst
	}
	return append(append(dst, seeds...), k.seed[:]...)
}

// parseSeeds reads the keys in the rest of b, as far as they can be taken over
// as they are, for a reader that comes to a field 4 there.
func (s *skippedKeys) parseSeeds(r *fieldReader, f seedForm) {
	if len(r.b) > 0 && r.b[0] == 4<<3|2 {
		r.b = s.take(r.b, f)
	}
}

// push appends a key that was read.
func (s *skippedKeys) push(k skippedKey, capacity int) {
	s.load()
	if s.list == nil {
		s.list = make([]skippedKey, 0, capacity)
	}
	s.list = append(s.list, k)
}
