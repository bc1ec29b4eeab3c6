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
	var scratch []skippedKey
	for i := range items {
		item := &items[i]
		if item.Err != nil {
			continue
		}
		start := len(dst)
		w[i].skipped = scratch
		b, err := w[i].decrypt(dst)
		scratch = w[i].skipped[:0]
		if item.Err = err; err == nil {
			dst = b
			item.Plaintext = dst[start:len(dst):len(dst)]
		}
	}
	return dst
}
