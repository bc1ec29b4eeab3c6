package send

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// Encode returns the encoded form of a message, for the Message of what is
// prepared. Any type will do whose fields have the numbers of WhatsApp's Message,
// such as whatsmeow's.
func Encode(m proto.Message) ([]byte, error) {
	b, err := proto.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("send: encode a message: %w", err)
	}
	return b, nil
}
