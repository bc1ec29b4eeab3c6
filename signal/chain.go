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
	k.set(&okm)
	clear(okm[:])
}

func (k *messageKeys) set(okm *[96]byte) {
	k.cipher, k.mac, k.iv = [32]byte(okm[:32]), [32]byte(okm[32:64]), [16]byte(okm[64:])
}

// deriveTwo is derive of two.
func deriveTwo(k0, k1 *messageKeys, seed0, seed1 *[32]byte) {
	var okm [2][96]byte
	messageKeysLabel.SeedKeys96Pair(&okm[0], &okm[1], seed0, seed1)
	k0.set(&okm[0])
	k1.set(&okm[1])
	okm = [2][96]byte{}
}

func (k *messageKeys) wipe() { *k = messageKeys{} }

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
