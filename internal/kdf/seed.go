package kdf

import "encoding/binary"

// maxLabel is the longest info of a Label, in bytes: with the block before it,
// the number of the step and the padding it fills a block.
const maxLabel = blockSize - size - 1 - 1 - 8

// A Label is the info of an HKDF over seeds, prepared.
type Label struct {
	info   string
	blocks [3][blockSize]byte // what each step hashes behind the pad
}

// NewLabel returns the label of info, at most 22 bytes.
func NewLabel(info string) *Label {
	if len(info) > maxLabel {
		panic("kdf: label too long")
	}
	l := &Label{info: info}
	for i := range l.blocks {
		b := l.blocks[i][:]
		n := 0
		if i > 0 {
			n = size // the block before
		}
		n += copy(b[n:], info)
		b[n], b[n+1] = byte(i+1), 0x80
		binary.BigEndian.PutUint64(b[blockSize-8:], 8*uint64(blockSize+n+1))
	}
	return l
}

// SeedKeys64 sets okm to HKDF-SHA256 of a message's seed with the label and
// without a salt.
func (l *Label) SeedKeys64(okm *[64]byte, seed *[32]byte) {
	var b [96]byte
	seedKeys(&b, seed, l, 2)
	*okm = [64]byte(b[:64])
	clear(b[:])
}

// SeedKeys96 is SeedKeys64 for 96 bytes.
func (l *Label) SeedKeys96(okm *[96]byte, seed *[32]byte) { seedKeys(okm, seed, l, 3) }

// seedKeysGeneric sets the first 32·n bytes of okm.
func seedKeysGeneric(okm *[96]byte, seed *[32]byte, l *Label, n int) {
	var prk [size]byte
	sum(&prk, &zeroInner, &zeroOuter, seed[:])
	var info [maxLabel]byte
	expand(okm[:size*n], &prk, info[:copy(info[:], l.info)])
	clear(prk[:])
}
