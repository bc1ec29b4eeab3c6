package send

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"

	"github.com/sigcore/sigcore/binary"
)

// ParticipantHash returns the hash, version 2, over a list of devices in any
// order: "2:" and eight characters of standard base64. Duplicates count: it is
// for the caller to remove them.
func ParticipantHash(devices []binary.JID) string {
	h := sha256.New()
	const few = 8
	if len(devices) <= few {
		// On the stack, where what a slice of texts names would not be.
		var room [few * 40]byte
		var end [few + 1]int // of text i-1
		var order [few]int
		buf := room[:0]
		text := func(i int) []byte { return buf[end[i]:end[i+1]] }
		for i := range devices {
			buf = devices[i].AppendPhash(buf)
			end[i+1] = len(buf)
			k := i
			for ; k > 0 && bytes.Compare(text(i), text(order[k-1])) < 0; k-- {
				order[k] = order[k-1]
			}
			order[k] = i
		}
		for i := range devices {
			h.Write(text(order[i]))
		}
	} else {
		// All texts stand in one buffer, so that a large list costs no
		// allocation per device.
		size := 0
		for i := range devices {
			size += len(devices[i].User) + len(devices[i].Server) + len(".0:65535@")
		}
		buf, texts := make([]byte, 0, size), make([][]byte, len(devices))
		for i := range devices {
			start := len(buf)
			buf = devices[i].AppendPhash(buf)
			texts[i] = buf[start:]
		}
		slices.SortFunc(texts, bytes.Compare)
		for _, t := range texts {
			h.Write(t)
		}
	}
	var sum [sha256.Size]byte
	out := make([]byte, 2, 10)
	out[0], out[1] = '2', ':'
	return string(base64.RawStdEncoding.AppendEncode(out, h.Sum(sum[:0])[:6]))
}
