package binary

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSameAsPlain decodes random nodes, whole, cut off and damaged.
func TestSameAsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	arena, strict := new(Arena), &Arena{Strict: true}
	count := 10000
	if testing.Short() {
		count = 1000
	}
	for range count {
		n := randomNode(r, 3)
		data, err := Marshal(&n)
		if err != nil {
			continue
		}
		data = data[1:]
		sameAsPlain(t, arena, strict, data)
		sameAsPlain(t, arena, strict, data[:r.IntN(len(data)+1)])
		for range 5 {
			damaged := bytes.Clone(data)
			at := r.IntN(len(data))
			switch r.IntN(3) {
			case 0:
				damaged[at] = byte(r.Uint32())
			case 1: // the tag bytes above the tokens
				damaged[at] = byte(tagDictionary0 + r.IntN(256-tagDictionary0))
			case 2:
				damaged = append(damaged[:at], damaged[min(len(data), at+1+r.IntN(4)):]...)
			}
			sameAsPlain(t, arena, strict, damaged)
		}
	}
}
