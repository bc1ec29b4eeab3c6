package binary

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// plainPacked is the packed form of s, character by character, nil if there is
// none.
func plainPacked(s string) []byte {
	for _, a := range []struct {
		tag   byte
		chars string
	}{{tagNibble8, nibbleChars[:12]}, {tagHex8, hexChars}} {
		out := []byte{a.tag, byte(len(s)+1)/2 | byte(len(s)%2)<<7}
		high := true
		for _, c := range []byte(s) {
			v := strings.IndexByte(a.chars, c)
			if v < 0 {
				out = nil
				break
			}
			if high {
				out = append(out, byte(v)<<4|15)
			} else {
				out[len(out)-1] &= byte(v) | 0xf0
			}
			high = !high
		}
		if out != nil {
			return out
		}
	}
	return nil
}

// TestPacked compares what works on words with what works on characters: all
// single characters at every place, and random texts of all lengths.
func TestPacked(t *testing.T) {
	var dst [3 + packedRoom]byte
	check := func(s string) {
		t.Helper()
		want := plainPacked(s)
		if got := dst[:putPacked(dst[:], s)]; !bytes.Equal(got, want) {
			t.Fatalf("%q is packed as %x, want %x", s, got, want)
		}
		if all := alphabets(s); (all != 0) != (want != nil) || want != nil && (all&alphabetNibble != 0) != (want[0] == tagNibble8) {
			t.Fatalf("%q is in the alphabets %b", s, all)
		}
		if len(s) < 5 {
			return
		}
		if strings.Trim(s, "0123456789") != "" {
			want = nil
		}
		if got := dst[:putDigits(dst[:], s)]; !bytes.Equal(got, want) {
			t.Fatalf("the digits %q are packed as %x, want %x", s, got, want)
		}
	}
	for n := 1; n <= 25; n++ {
		for _, fill := range []byte("0A-") {
			for at := range n {
				for c := range 256 {
					s := bytes.Repeat([]byte{fill}, n)
					s[at] = byte(c)
					check(string(s))
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(9, 10))
	for n := 1; n <= maxPacked; n++ {
		for _, alphabet := range []string{nibbleChars[:12], hexChars, "0123456789"} {
			for range 20 {
				s := make([]byte, n)
				for i := range s {
					s[i] = alphabet[r.IntN(len(alphabet))]
				}
				check(string(s))
			}
		}
	}
}
