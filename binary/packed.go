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

// A check collects which alphabets have all the characters seen. Bit 7 of each
// byte of a sum tells whether the character is at least the one subtracted from
// 0x80; there is no carry from byte to byte as long as all characters are ASCII.
type check struct{ nibble, hex, other uint64 }

// add looks at eight characters.
func (c *check) add(w uint64) {
	digit := (w + each*(0x80-'0')) &^ (w + each*(0x80-'9'-1))
	letter := (w + each*(0x80-'A')) &^ (w + each*(0x80-'F'-1))
	point := (w + each*(0x80-'-')) &^ (w + each*(0x80-'.'-1))
	c.nibble |= ^(digit | point)
	c.hex |= ^(digit | letter)
	c.other |= w
}

// alphabets returns the result.
func (c *check) alphabets() (all uint8) {
	if (c.nibble|c.other)&(each*0x80) == 0 {
		all = alphabetNibble
	}
	if (c.hex|c.other)&(each*0x80) == 0 {
		all |= alphabetHex
	}
	return all
}

// alphabets returns which alphabets have all the characters of s.
func alphabets(s string) uint8 {
	var c check
	for ; len(s) >= 8; s = s[8:] {
		c.add(word8(s))
	}
	if len(s) > 0 {
		c.add(shortWord(s) | missing(len(s)))
	}
	return c.alphabets()
}

// isASCII reports whether s, which has at least one character, has no other
// than those of ASCII.
func isASCII(s string) bool {
	var all uint64
	for ; len(s) >= 8; s = s[8:] {
		all |= word8(s)
	}
	if len(s) > 0 {
		all |= shortWord(s)
	}
	return all&(each*0x80) == 0
}

// missing completes a word of n characters with '0'.
func missing(n int) uint64 { return each * '0' << (8 * uint(n) & 63) }

// packSlack is how many bytes putPacked may write behind the packed text.
const packSlack = 4

// putPacked writes the packed form of s, which has 1 to 127 characters: tag,
// count and nibbles. It returns the length, or 0 if no alphabet has all the
// characters; dst has changed then too.
func putPacked(dst []byte, s string) int {
	n := len(s)
	if !startsPacked[s[0]] {
		return 0
	}
	var c check
	i := 2
	rest := s
	for ; len(rest) >= 8; rest = rest[8:] {
		w := word8(rest)
		c.add(w)
		binary.LittleEndian.PutUint32(dst[i:], packWord(w))
		i += 4
	}
	if r := len(rest); r > 0 {
		var w uint64
		if n >= 8 {
			w = word8(s[n-8:]) >> ((64 - 8*uint(r)) & 63)
		} else {
			w = shortWord(s)
		}
		w |= missing(r)
		c.add(w)
		binary.LittleEndian.PutUint32(dst[i:], packWord(w)|filler(r))
		i += (r + 1) / 2
	}
	switch all := c.alphabets(); {
	case all&alphabetNibble != 0:
		dst[0] = tagNibble8
	case all != 0:
		dst[0] = tagHex8
	default:
		return 0
	}
	dst[1] = byte(n+1)/2 | byte(n)<<7
	return i
}

// filler is the nibble 15 behind an odd number of characters, r in this word.
func filler(r int) uint32 { return uint32(r&1*15) << (4 * uint(r-1) & 31) }

// putDigits is putPacked for digits only, of which there are at least 5.
func putDigits(dst []byte, s string) int {
	n := len(s)
	bad := uint64(0)
	i := 2
	rest := s
	for ; len(rest) >= 8; rest = rest[8:] {
		v := word8(rest) ^ each*'0'
		bad |= v | (v + each*6)
		binary.LittleEndian.PutUint32(dst[i:], packValues(v))
		i += 4
	}
	if r := len(rest); r > 0 {
		absent := (64 - 8*uint(r)) & 63
		var w uint64
		if n >= 8 {
			w = word8(s[n-8:]) >> absent
		} else {
			w = shortWord(s)
		}
		v := w ^ each*'0'>>absent
		bad |= v | (v + each*6)
		binary.LittleEndian.PutUint32(dst[i:], packValues(v)|filler(r))
		i += (r + 1) / 2
	}
	if bad&(each*0xf0) != 0 {
		return 0
	}
	dst[0], dst[1] = tagNibble8, byte(n+1)/2|byte(n)<<7
	return i
}

// startsPacked tells which bytes are in one of the alphabets.
var startsPacked = func() (t [256]bool) {
	for _, c := range []byte("0123456789ABCDEF-.") {
		t[c] = true
	}
	return t
}()

// packWord packs eight characters of one alphabet into four bytes.
// The low half of a digit is its value; for a letter (bit 6) it is 9 less, for
// '-' and '.' (neither bit 6 nor bit 4) 3 more.
func packWord(w uint64) uint32 {
	letter := w >> 6 & each
	point := ^(w>>6 | w>>4) & each
	return packValues(w&(each*15) + 9*letter - 3*point)
}

// packValues packs the values of eight nibbles.
func packValues(v uint64) uint32 {
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
	rest := packed
	for ; len(rest) > 4; rest = rest[4:] {
		v := unpackWord(binary.LittleEndian.Uint32(rest))
		suspect |= v + each*4
		binary.LittleEndian.PutUint64(dst, v+each*'0'-(v+each*6)>>4&each*correct)
		dst = dst[8:]
	}
	var x uint32
	if len(packed) >= 4 {
		x = binary.LittleEndian.Uint32(packed[len(packed)-4:]) >> ((32 - 8*uint(len(rest))) & 31)
	} else {
		for i, b := range rest {
			x |= uint32(b) << (8 * i)
		}
	}
	// Nobody looks at the last nibble of an odd text.
	x &^= uint32(n&1*15) << (8 * (len(rest) - 1) & 31)
	v := unpackWord(x)
	suspect |= v + each*4
	binary.LittleEndian.PutUint64(dst, v+each*'0'-(v+each*6)>>4&each*correct)
	return hex || suspect&(each*16) == 0
}

// nibbleAt returns the nibble of a character.
func nibbleAt(packed []byte, i int) byte {
	return packed[i/2] >> (4 * (^uint(i) & 1)) & 15
}
