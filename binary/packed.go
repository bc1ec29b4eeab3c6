package binary

// maxPacked is the length in characters up to which texts are classified at
// all; longer ones are always written raw.
const maxPacked = 127

// Classes of the characters that packed texts are made of.
const (
	classNibble = 1 << iota
	classHex
	classAt
)

// charClass tells for each byte which packed alphabets have it.
var charClass = func() (t [256]uint8) {
	for c := '0'; c <= '9'; c++ {
		t[c] = classNibble | classHex
	}
	t['-'], t['.'] = classNibble, classNibble
	for c := 'A'; c <= 'F'; c++ {
		t[c] = classHex
	}
	return t
}()

// packedValue is the nibble of a character. The two alphabets agree where they
// overlap.
var packedValue = func() (t [256]uint8) {
	for c := range uint8(10) {
		t['0'+c] = c
	}
	for c := range uint8(6) {
		t['A'+c] = 10 + c
	}
	t['-'], t['.'] = 10, 11
	return t
}()

const (
	nibbleChars = "0123456789-.\x00\x00\x00\x00" // 12 to 14 are refused, 15 is the filler
	hexChars    = "0123456789ABCDEF"
)

// appendPacked appends the body of a packed text: count and nibbles.
func appendPacked(dst []byte, s string) []byte {
	n := byte(len(s)+1) / 2
	if len(s)%2 != 0 {
		n |= 0x80
	}
	dst = append(dst, n)
	for ; len(s) >= 2; s = s[2:] {
		dst = append(dst, packedValue[s[0]]<<4|packedValue[s[1]])
	}
	if len(s) == 1 {
		dst = append(dst, packedValue[s[0]]<<4|15)
	}
	return dst
}

// appendUnpacked appends the characters of n nibbles.
func appendUnpacked(dst, packed []byte, n int, chars string) []byte {
	for i := range n {
		v := packed[i/2]
		if i%2 == 0 {
			v >>= 4
		}
		dst = append(dst, chars[v&15])
	}
	return dst
}
