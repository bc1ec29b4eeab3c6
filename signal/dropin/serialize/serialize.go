// Package serialize has the wire form of messages and the stored form of records.
package serialize

import (
	group "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/internal/live"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/state/record"
)

// A Serializer has a form of everything.
type Serializer struct {
	SenderKeyRecord              group.SenderKeySerializer
	SenderKeyState               group.SenderKeyStateSerializer
	SignalMessage                protocol.SignalMessageSerializer
	PreKeySignalMessage          protocol.PreKeySignalMessageSerializer
	SenderKeyMessage             protocol.SenderKeyMessageSerializer
	SenderKeyDistributionMessage protocol.SenderKeyDistributionMessageSerializer
	SignedPreKeyRecord           record.SignedPreKeySerializer
	PreKeyRecord                 record.PreKeySerializer
	State                        record.StateSerializer
	Session                      record.SessionSerializer
}

func init() {
	live.IsJSON = func(serializer any) bool {
		switch serializer.(type) {
		case *JSONSessionSerializer, *JSONSenderKeySessionSerializer:
			return true
		}
		return false
	}
}

// NewSerializer returns a serializer without anything in it.
func NewSerializer() *Serializer { return new(Serializer) }

// NewProtoBufSerializer returns the serializer that devices and databases
// understand: messages in protobuf, records in JSON.
func NewProtoBufSerializer() *Serializer {
	s := NewJSONSerializer()
	s.SignalMessage = &ProtoBufSignalMessageSerializer{}
	s.PreKeySignalMessage = &ProtoBufPreKeySignalMessageSerializer{}
	s.SenderKeyMessage = &ProtoBufSenderKeyMessageSerializer{}
	s.SenderKeyDistributionMessage = &ProtoBufSenderKeyDistributionMessageSerializer{}
	return s
}

// NewJSONSerializer returns a serializer with everything in JSON. Only this
// module reads its messages.
func NewJSONSerializer() *Serializer {
	return &Serializer{
		SenderKeyRecord:              &JSONSenderKeySessionSerializer{},
		SenderKeyState:               &JSONSenderKeyStateSerializer{},
		SignalMessage:                &JSONSignalMessageSerializer{},
		PreKeySignalMessage:          &JSONPreKeySignalMessageSerializer{},
		SenderKeyMessage:             &JSONSenderKeyMessageSerializer{},
		SenderKeyDistributionMessage: &JSONSenderKeyDistributionMessageSerializer{},
		SignedPreKeyRecord:           &JSONSignedPreKeyRecordSerializer{},
		PreKeyRecord:                 &JSONPreKeyRecordSerializer{},
		State:                        &JSONStateSerializer{},
		Session:                      &JSONSessionSerializer{},
	}
}
