package send

import (
	"fmt"

	"github.com/sigcore/sigcore/binary"
)

// checkExtra refuses extra nodes that a stanza makes itself, or that it may have
// only once and would have twice.
func checkExtra(extra []binary.Node) error {
	var biz, bot bool
	for i := range extra {
		switch tag := extra[i].Tag; tag {
		case "enc", "participants", "device-identity", "plaintext":
			return fmt.Errorf("%w: extra node %s", ErrInvalid, tag)
		case "biz":
			if biz {
				return fmt.Errorf("%w: extra node %s twice", ErrInvalid, tag)
			}
			biz = true
		case "bot":
			if bot {
				return fmt.Errorf("%w: extra node %s twice", ErrInvalid, tag)
			}
			bot = true
		}
	}
	return nil
}
