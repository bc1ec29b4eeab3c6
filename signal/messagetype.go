package signal

import "fmt"

// MessageType says which kind of message a body is. The values are those of
// the protocol.
type MessageType uint8

// The message types, with their names in stanzas.
const (
	TypeSignal    MessageType = 2 // msg
	TypePreKey    MessageType = 3 // pkmsg
	TypeSenderKey MessageType = 7 // skmsg
)

// String returns the name in stanzas.
func (t MessageType) String() string {
	switch t {
	case TypeSignal:
		return "msg"
	case TypePreKey:
		return "pkmsg"
	case TypeSenderKey:
		return "skmsg"
	}
	return fmt.Sprintf("MessageType(%d)", uint8(t))
}

// MessageTypeOf returns the type of a name in stanzas: the attribute type of an
// enc node. ok is false for any other name.
func MessageTypeOf(name string) (t MessageType, ok bool) {
	switch name {
	case "msg":
		return TypeSignal, true
	case "pkmsg":
		return TypePreKey, true
	case "skmsg":
		return TypeSenderKey, true
	}
	return 0, false
}
