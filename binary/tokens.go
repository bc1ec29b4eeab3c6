package binary

import "math/bits"

// DictVersion is the version of the token dictionary, the fourth byte of the
// header that opens a connection.
const DictVersion = 3

// tokenSlot is a token: its first eight bytes, its code and its length.
type tokenSlot struct {
	head uint64
	code uint16
	n    uint8
}

// lookupToken returns the code of a token: 1..235 for one byte,
// (dictionary+1)<<8|index for two, 0 if s is none.
//
// Most texts that are no token are found out by their first byte and length.
// The rest has one slot to look at: the hash is perfect for the dictionary.
// Its table is fixed and keyed by what the program itself writes; nobody can
// make it slow.
func lookupToken(s string) uint16 {
	n := len(s)
	if n == 0 || n > maxTokenLen || tokenLengths[s[0]]>>(n&63)&1 == 0 {
		return 0
	}
	var head, tail uint64
	switch {
	case n > 8:
		head, tail = word8(s), word8(s[n-8:])+word8(s[(n-8)/2:])
	case n == 8:
		head = word8(s)
	default:
		head = shortWord(s)
	}
	h := mixToken(head, tail, n)
	slot := &tokenSlots[(h>>32^uint64(tokenShifts[h>>55]))%uint64(len(tokenSlots))]
	if slot.head != head || int(slot.n) != n || n > 8 && tokenText(slot.code) != s {
		return 0
	}
	return slot.code
}

// mixToken hashes the first eight bytes of a text and, of a longer one, the sum
// of the last and the middle eight. Two of the
// dictionary with the same result cannot be, or the table would not exist.
func mixToken(head, tail uint64, n int) uint64 {
	return (head ^ bits.RotateLeft64(tail, 29) + uint64(n)) * tokenMul
}

// word8 returns the first eight bytes of s, the first one lowest.
func word8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func word4(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// shortWord is word8 for a text of 1 to 7 bytes, with zeros behind it.
func shortWord(s string) uint64 {
	n := len(s)
	switch {
	case n >= 4:
		return word4(s) | word4(s[n-4:])<<(8*uint(n-4)&63)
	case n >= 2:
		return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[n-1])<<(8*uint(n-1)&63)
	}
	return uint64(s[0])
}

func tokenText(code uint16) string {
	if code < 256 {
		return singleTokens[code]
	}
	return doubleTokens[code>>8-1][code&0xff]
}
