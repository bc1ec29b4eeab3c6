package binary

import (
	"fmt"
	"testing"
)

// BenchmarkLookupToken looks up all tokens, texts of everyday stanzas that are
// none, and what a message to many devices has, and does the same in a map.
func BenchmarkLookupToken(b *testing.B) {
	codes := map[string]uint16{}
	var hits []string
	for i, s := range singleTokens[1:tagDictionary0] {
		codes[s] = uint16(i + 1)
		hits = append(hits, s)
	}
	for k, d := range doubleTokens {
		for i, s := range d {
			codes[s] = uint16(k+1)<<8 | uint16(i)
			hits = append(hits, s)
		}
	}
	var misses []string
	for i := range 80 {
		misses = append(misses,
			fmt.Sprintf("15551%07d", i), fmt.Sprintf("3EB0%018X", uint64(i)*0x9e3779b1),
			fmt.Sprintf("1717%06d", i*7919), fmt.Sprintf("2:%08x", uint32(i)*0x9e3779b1))
	}
	fanOut := []string{"to", "jid", "100000000000001", "lid", "enc", "v", "2", "type", "msg"}
	for _, c := range []struct {
		name  string
		texts []string
		found bool
	}{{"hits", hits, true}, {"misses", misses, false}, {"fanout", fanOut, true}} {
		for _, by := range []struct {
			name   string
			lookup func(string) uint16
		}{{"table", lookupToken}, {"map", func(s string) uint16 { return codes[s] }}} {
			b.Run(fmt.Sprintf("%s/by=%s", c.name, by.name), func(b *testing.B) {
				var sum int
				for b.Loop() {
					for _, s := range c.texts {
						sum += int(by.lookup(s))
					}
				}
				if (sum != 0) != c.found {
					b.Fatal("wrong codes")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.texts)), "ns/text")
			})
		}
	}
}
