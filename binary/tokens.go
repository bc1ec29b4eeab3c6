package binary

// DictVersion is the version of the token dictionary, the fourth byte of the
// header that opens a connection.
const DictVersion = 3

// maxTokenLen is the length of the longest token in bytes.
const maxTokenLen = 48

// hashToken maps a text of 1 to maxTokenLen bytes to its first slot in
// tokenIndex. Two words and the length tell most texts apart; the rest is up
// to the comparison in lookupToken.
func hashToken(s string) uint32 {
	var h uint32
	switch n := len(s); {
	case n >= 4:
		h = word(s)
		if n > 4 {
			h = h<<11 | h>>21
			h ^= word(s[n-4:])
			h ^= uint32(n) * 0x9e3779b1
		}
	case n == 3:
		h = uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16
	case n == 2:
		h = uint32(s[0]) | uint32(s[1])<<8
	default:
		h = uint32(s[0])
	}
	return h * tokenHashMul >> 20
}

func word(s string) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// lookupToken returns the code of a token: 1..235 for one byte,
// (dictionary+1)<<8|index for two, 0 if s is none.
func lookupToken(s string) uint16 {
	if len(s) == 0 || len(s) > maxTokenLen {
		return 0
	}
	h := hashToken(s)
	for i := range uint32(maxTokenProbe) {
		v := tokenIndex[(h+i)%uint32(len(tokenIndex))]
		if v == 0 {
			return 0
		}
		if tokenText(v) == s {
			return v
		}
	}
	return 0
}

func tokenText(v uint16) string {
	if v < 256 {
		return singleTokens[v]
	}
	return doubleTokens[v>>8-1][v&0xff]
}
