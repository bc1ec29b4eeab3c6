package binary

import "encoding/binary"

// maxPacked is the length in characters up to which texts are classified at
// all; longer ones are always written raw.
const maxPacked = 127

// The alphabets of packed texts: 0-9, '-' and '.'; 0-9 and A-F.
const (
	alphabetNibble = 1 << iota
	alphabetHex
)

// each returns a word with b in each of its eight bytes.
const each = 0x0101010101010101

// alphabets returns which alphabets have all the characters of s, which has at
// least one. It looks at eight characters at a time.
func alphabets(s string) uint8 {
	if len(s) < 8 {
		// The missing characters count as '0'.
		return alphabetsOf(shortWord(s) | each*'0'<<(8*uint(len(s))&63))
	}
	all := alphabetsOf(word8(s[len(s)-8:]))
	for ; len(s) > 8 && all != 0; s = s[8:] {
		all &= alphabetsOf(word8(s))
	}
	return all
}

// alphabetsOf is alphabets for the eight characters of w. Bit 7 of each byte of
// a sum tells whether the character is at least the one subtracted from 0x80;
// there is no carry from byte to byte as long as all characters are ASCII.
func alphabetsOf(w uint64) (all uint8) {
	const high = each * 0x80
	if w&high != 0 {
		return 0
	}
	digit := (w + each*(0x80-'0')) &^ (w + each*(0x80-'9'-1))
	letter := (w + each*(0x80-'A')) &^ (w + each*(0x80-'F'-1))
	point := (w + each*(0x80-'-')) &^ (w + each*(0x80-'.'-1))
	if (digit|point)&high == high {
		all = alphabetNibble
	}
	if (digit|letter)&high == high {
		all |= alphabetHex
	}
	return all
}

// packedLen is the length of a packed text of n characters, tag included.
func packedLen(n int) int { return 2 + (n+1)/2 }

// putPacked writes the packed form of s after its tag: count and nibbles. It
// may write up to four bytes more, which mean nothing, and returns the length.
func putPacked(dst []byte, s string) int {
	n := len(s)
	dst[0] = byte(n+1)/2 | byte(n)<<7
	i := 1
	for ; len(s) >= 8; s = s[8:] {
		binary.LittleEndian.PutUint32(dst[i:], packWord(word8(s)))
		i += 4
	}
	if len(s) > 0 {
		// '?' becomes the filler nibble 15.
		w := shortWord(s) | each*'?'<<(8*uint(len(s))&63)
		binary.LittleEndian.PutUint32(dst[i:], packWord(w))
		i += (len(s) + 1) / 2
	}
	return i
}

// packWord packs eight characters of one alphabet, or '?', into four bytes.
// The low half of a digit is its value; for a letter (bit 6) it is 9 less, for
// '-' and '.' (neither bit 6 nor bit 4) 3 more.
func packWord(w uint64) uint32 {
	letter := w >> 6 & each
	point := ^(w>>6 | w>>4) & each
	v := w&(each*15) + 9*letter - 3*point
	v = (v<<4 | v>>8) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return uint32(v | v>>16)
}

// unpackWord is the reverse: the eight nibbles of x as values, high ones first.
func unpackWord(x uint32) uint64 {
	v := uint64(x)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	return v>>4&0x000f000f000f000f | v&0x000f000f000f000f<<8
}

// unpackSlack is how many bytes unpackText may write behind the text.
const unpackSlack = 8

// unpackText writes the n characters of packed, which has at least one byte and
// no nibble too many but the filler, to dst, which is unpackSlack bytes longer.
// It reports false if a nibble of the nibble alphabet is above 11.
func unpackText(dst, packed []byte, n int, hex bool) bool {
	correct := uint64(13)
	if hex {
		correct = ^uint64(6) // minus 7
	}
	suspect := uint64(0)
	for ; len(packed) > 4; packed = packed[4:] {
		v := unpackWord(binary.LittleEndian.Uint32(packed))
		suspect |= v + each*4
		binary.LittleEndian.PutUint64(dst, v+each*'0'-(v+each*6)>>4&each*correct)
		dst = dst[8:]
	}
	var x uint32
	if len(packed) == 4 {
		x = binary.LittleEndian.Uint32(packed)
	} else {
		for i, b := range packed {
			x |= uint32(b) << (8 * i)
		}
	}
	// Nobody looks at the last nibble of an odd text.
	x &^= uint32(n&1*15) << (8 * (len(packed) - 1) & 31)
	v := unpackWord(x)
	suspect |= v + each*4
	binary.LittleEndian.PutUint64(dst, v+each*'0'-(v+each*6)>>4&each*correct)
	return hex || suspect&(each*16) == 0
}

// nibbleAt returns the nibble of a character.
func nibbleAt(packed []byte, i int) byte {
	return packed[i/2] >> (4 * (^uint(i) & 1)) & 15
}
