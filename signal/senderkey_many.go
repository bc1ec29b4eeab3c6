package signal

import "slices"

// A GroupDecryption is one message of [DecryptGroupMany].
type GroupDecryption struct {
	Key     *SenderKey
	Message []byte

	// What DecryptGroupMany sets: the plaintext, which is a part of what it
	// returns, or the reason why there is none.
	Plaintext []byte
	Err       error
}

// groupChunk is how many signatures are checked together.
const groupChunk = 64

// DecryptGroupMany appends the plaintexts of many group messages, of one sender
// or of several, to dst, one behind the other: the results are those of
// [SenderKey.Decrypt] of each item in order, errors and records too. Signatures
// are checked together. dst's capacity must not overlap a message.
func DecryptGroupMany(dst []byte, items []GroupDecryption) []byte {
	size := 0
	for i := range items {
		size += len(items[i].Message)
	}
	dst = slices.Grow(dst, size)
	w := make([]groupOpening, min(len(items), groupChunk))
	for len(items) > 0 {
		n := min(len(items), groupChunk)
		dst = decryptGroupChunk(dst, items[:n], w[:n])
		items = items[n:]
	}
	return dst
}

func decryptGroupChunk(dst []byte, items []GroupDecryption, w []groupOpening) []byte {
	for i := range items {
		w[i] = groupOpening{}
		items[i].Plaintext, items[i].Err = nil, w[i].find(items[i].Key, items[i].Message)
	}
	verifyGroup(items, w)
	var scratch [2][]skippedKey
	for i := 0; i < len(items); i++ {
		if items[i].Err != nil {
			continue
		}
		first, k := i, i+1
		w[i].skipped = scratch[0]
		for k < len(items) && items[k].Err != nil {
			k++
		}
		if k < len(items) {
			w[k].skipped = scratch[1]
		}
		if k < len(items) && w[i].selectTwo(&w[k]) {
			// The keys of the second message hold if the first one is read, or
			// has another sender key.
			deriveGroupTwo(&w[i].keys, &w[k].keys, &w[i].seed, &w[k].seed)
			dst = items[i].take(dst, w[i].open)
			if items[i].Err == nil || w[i].st != w[k].st {
				dst = items[k].take(dst, w[k].open)
				i = k
			}
			w[first].wipe()
			w[k].wipe()
			scratch[1] = w[k].skipped[:0]
		} else {
			dst = items[i].take(dst, w[i].decrypt)
		}
		scratch[0] = w[first].skipped[:0]
	}
	return dst
}

// take sets what came of the message.
func (d *GroupDecryption) take(dst []byte, open func(dst []byte) ([]byte, error)) []byte {
	b, err := open(dst)
	if d.Err = err; err != nil {
		return dst
	}
	d.Plaintext = b[len(dst):len(b):len(b)]
	return b
}

// selectTwo finds or derives the seeds of two messages, the second one as it is
// once the first one is read. It reports whether that is possible; otherwise
// nothing is known of either.
func (o *groupOpening) selectTwo(second *groupOpening) bool {
	if o.selectSeed(o.st.chain) != nil {
		return false
	}
	chain := second.st.chain
	if second.st == o.st {
		if o.stored >= 0 || second.m.Iteration < o.next.index {
			return false
		}
		chain = o.next
	}
	return second.selectSeed(chain) == nil
}
