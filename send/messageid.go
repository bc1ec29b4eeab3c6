package send

import (
	"crypto/sha256"
	stdbinary "encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/random"
)

// MessageID returns an id for a message of own, which may be the zero JID,
// sent now. It has 22 characters and draws 16 bytes.
func MessageID(now time.Time, own binary.JID) (string, error) {
	var r [16]byte
	if err := random.Read(r[:]); err != nil {
		return "", fmt.Errorf("send: message id: %w", err)
	}
	b := stdbinary.BigEndian.AppendUint64(make([]byte, 0, 64), uint64(now.Unix()))
	if own.User != "" {
		b = append(b, own.User...)
		b = append(b, "@"+binary.ServerLegacy...)
	}
	sum := sha256.Sum256(append(b, r[:]...))
	return "3EB0" + strings.ToUpper(hex.EncodeToString(sum[:9])), nil
}
