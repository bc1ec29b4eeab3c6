package binary

import (
	"strings"
	"testing"
)

// TestLiteral: literals of this program are known by their address, copies of
// them and parts of them are not, and nothing is known by the wrong token.
func TestLiteral(t *testing.T) {
	find := func(s string) *literal {
		if l := &literals[literalSlot(s)]; l.is(s) {
			return l
		}
		return nil
	}
	found := 0
	check := func(s string, size uint8, code uint16) {
		t.Helper()
		if l := find(s); l != nil {
			found++
			if l.size != size || l.code != code {
				t.Errorf("%q is written as %d bytes, %#x", s, l.size, l.code)
			}
		}
		if len(s) > 1 && (find(s[1:]) != nil && lookupToken(s[1:]) == 0 || find(s[:len(s)-1]) != nil && lookupToken(s[:len(s)-1]) == 0) {
			t.Errorf("a part of %q is known", s)
		}
	}
	for i, s := range singleTokens[1:tagDictionary0] {
		check(s, 1, uint16(i+1))
	}
	for k, d := range doubleTokens {
		for i, s := range d {
			check(s, 2, uint16(tagDictionary0+k)|uint16(i)<<8)
		}
	}
	if found < 1000 {
		t.Errorf("%d of 1259 tokens are found by their address", found)
	}
	for _, s := range []string{"to", "jid", "enc", "v", "type", "msg", "pkmsg", "participants", "message", "id"} {
		if find(s) == nil {
			t.Errorf("the literal %q is not the text of the dictionary", s)
		}
		if find(strings.Clone(s)) != nil {
			t.Errorf("a copy of %q is known by its address", s)
		}
	}
	if find("") != nil || find("no token") != nil {
		t.Error("what is no token is known")
	}
}
