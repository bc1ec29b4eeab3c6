package signal

import (
	"math"
	"slices"

	"github.com/sigcore/sigcore/internal/kdf"
)

// A chainKey is the key of the message index, from which the keys of all later
// ones follow. It is not wiped by copying: whoever replaces one overwrites it.
type chainKey struct {
	key   [32]byte
	index uint32
}

// step derives the seed of the message c.index and moves c to the one after.
// A chain ends one message before its counter would wrap: ErrChainEnd.
func (c *chainKey) step(seed *[32]byte) error {
	if c.index == math.MaxUint32 {
		return ErrChainEnd
	}
	kdf.ChainStep(seed, &c.key, &c.key)
	c.index++
	return nil
}

// messageKeys are the keys of one message. They are wiped after use.
type messageKeys struct {
	cipher, mac [32]byte
	iv          [16]byte
}

var messageKeysLabel = kdf.NewLabel("WhisperMessageKeys")

// derive expands a message seed. In pairwise messages the IV comes last, in
// group messages first.
func (k *messageKeys) derive(seed *[32]byte) {
	var okm [96]byte
	messageKeysLabel.SeedKeys96(&okm, seed)
	k.cipher, k.mac, k.iv = [32]byte(okm[:32]), [32]byte(okm[32:64]), [16]byte(okm[64:])
	clear(okm[:])
}

func (k *messageKeys) wipe() { *k = messageKeys{} }

// A skippedKey is what is kept for a message that has not arrived: the seed of
// its keys. Records of other implementations may have the keys and no seed.
type skippedKey struct {
	counter uint32
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

// skippedKeys are the skipped keys of one chain in ascending order of their
// counters, so that the oldest are in front.
type skippedKeys []skippedKey

// find returns the position of the key of counter.
func (s skippedKeys) find(counter uint32) (int, bool) {
	return slices.BinarySearchFunc(s, counter, func(k skippedKey, c uint32) int {
		switch {
		case k.counter < c:
			return -1
		case k.counter > c:
			return 1
		}
		return 0
	})
}

// remove deletes the key at position i.
func (s *skippedKeys) remove(i int) {
	if keys := (*s)[i].keys; keys != nil {
		keys.wipe()
	}
	*s = slices.Delete(*s, i, i+1) // which zeroes what it vacates
}

// add appends keys, which come after all there are unless a loaded record was
// odd, and prunes: once more than MaxSkippedKeys+pruneSlack are held, the
// oldest go until MaxSkippedKeys remain.
func (s *skippedKeys) add(keys []skippedKey) {
	odd := len(keys) > 0 && len(*s) > 0 && (*s)[len(*s)-1].counter >= keys[0].counter
	*s = append(*s, keys...)
	if odd {
		s.sort()
	}
	s.prune()
}

func (s *skippedKeys) prune() {
	if n := len(*s); n > MaxSkippedKeys+pruneSlack {
		*s = slices.Delete(*s, 0, n-MaxSkippedKeys)
	}
}

// sort puts the keys of a loaded record in order.
func (s skippedKeys) sort() {
	byCounter := func(a, b skippedKey) int {
		switch {
		case a.counter < b.counter:
			return -1
		case a.counter > b.counter:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(s, byCounter) {
		slices.SortStableFunc(s, byCounter)
	}
}

func (s skippedKeys) clone() skippedKeys {
	c := slices.Clone(s)
	for i := range c {
		if keys := c[i].keys; keys != nil {
			k := *keys
			c[i].keys = &k
		}
	}
	return c
}

// advance moves c to the message counter, which must not be before it, and
// derives its seed. It appends the seeds of the messages it passes to skipped,
// only those that adding would keep, and returns it.
func (c *chainKey) advance(counter uint32, seed *[32]byte, skipped []skippedKey) ([]skippedKey, error) {
	if jump := counter - c.index; jump > 0 {
		skipped = slices.Grow(skipped, int(min(jump, MaxSkippedKeys)))
	}
	for c.index < counter {
		i := c.index
		if err := c.step(seed); err != nil {
			return skipped, err
		}
		if counter-i <= MaxSkippedKeys {
			skipped = append(skipped, skippedKey{counter: i, seed: *seed})
		}
	}
	return skipped, c.step(seed)
}
