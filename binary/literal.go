package binary

import "unsafe"

// literal is a token of the dictionary with where its text lies in memory and
// the bytes that it is written as.
type literal struct {
	data *byte
	n    uint8
	size uint8
	code uint16 // in the order of the bytes, the first one lowest
}

const literalSlots = 4096

// literals has the tokens by the address of their text. The linker keeps each
// string literal once, so that most tags, keys and values of a node that a
// program builds, and all tokens of one that was decoded, are the very texts of
// the dictionary. These never move and never change: who has the address and
// the length has the token, without a look at the text.
var literals [literalSlots]literal

func init() {
	for i := range literals {
		literals[i].n = 255 // nothing, and not the empty text either
	}
	insert := func(s string, l literal) {
		l.data, l.n = unsafe.StringData(s), uint8(len(s))
		// A token whose place is taken is found by its text.
		if slot := &literals[literalSlot(s)]; slot.data == nil {
			*slot = l
		}
	}
	for i, s := range singleTokens[1:tagDictionary0] {
		insert(s, literal{size: 1, code: uint16(i + 1)})
	}
	for k := range doubleTokens {
		for i, s := range doubleTokens[k] {
			insert(s, literal{size: 2, code: uint16(tagDictionary0+k) | uint16(i)<<8})
		}
	}
}

// literalSlot returns the only place where s can be.
func literalSlot(s string) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.StringData(s)))) * 0x9e3779b97f4a7c15 >> 52
}

// is reports whether s is the literal itself.
func (l *literal) is(s string) bool { return l.data == unsafe.StringData(s) && int(l.n) == len(s) }
