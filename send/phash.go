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
	// All texts stand in one buffer, so that a large list costs no allocation
	// per device, and a short one stays on the stack.
	size := 0
	for i := range devices {
		size += len(devices[i].User) + len(devices[i].Server) + len(".0:65535@")
	}
	var fewBytes [320]byte
	var fewTexts [8][]byte
	buf, texts := fewBytes[:0], fewTexts[:]
	if size > len(fewBytes) || len(devices) > len(fewTexts) {
		buf, texts = make([]byte, 0, size), make([][]byte, len(devices))
	}
	texts = texts[:len(devices)]
	for i := range devices {
		start := len(buf)
		buf = devices[i].AppendPhash(buf)
		texts[i] = buf[start:]
	}
	slices.SortFunc(texts, bytes.Compare)
	h := sha256.New()
	for _, t := range texts {
		h.Write(t)
	}
	var sum [sha256.Size]byte
	out := make([]byte, 2, 10)
	out[0], out[1] = '2', ':'
	return string(base64.RawStdEncoding.AppendEncode(out, h.Sum(sum[:0])[:6]))
}
