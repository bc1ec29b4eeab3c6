package serialize

import (
	"encoding/json"

	group "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/state/record"
)

// What ciphers do with records does not come by here: see package internal/live.
// These are for programs that take structures in hand.

// marshal returns the JSON of a structure, which always has one.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

func unmarshal[T any](serialized []byte) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(serialized, v); err != nil {
		return nil, err
	}
	return v, nil
}

// JSONSignalMessageSerializer has the JSON of messages of sessions.
type JSONSignalMessageSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSignalMessageSerializer) Serialize(signalMessage *protocol.SignalMessageStructure) []byte {
	return marshal(signalMessage)
}

// Deserialize reads the JSON.
func (j *JSONSignalMessageSerializer) Deserialize(serialized []byte) (*protocol.SignalMessageStructure, error) {
	return unmarshal[protocol.SignalMessageStructure](serialized)
}

// JSONPreKeySignalMessageSerializer has the JSON of messages that start sessions.
type JSONPreKeySignalMessageSerializer struct{}

// Serialize returns the JSON.
func (j *JSONPreKeySignalMessageSerializer) Serialize(signalMessage *protocol.PreKeySignalMessageStructure) []byte {
	return marshal(signalMessage)
}

// Deserialize reads the JSON.
func (j *JSONPreKeySignalMessageSerializer) Deserialize(serialized []byte) (*protocol.PreKeySignalMessageStructure, error) {
	return unmarshal[protocol.PreKeySignalMessageStructure](serialized)
}

// JSONSenderKeyMessageSerializer has the JSON of messages to groups.
type JSONSenderKeyMessageSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSenderKeyMessageSerializer) Serialize(message *protocol.SenderKeyMessageStructure) []byte {
	return marshal(message)
}

// Deserialize reads the JSON.
func (j *JSONSenderKeyMessageSerializer) Deserialize(serialized []byte) (*protocol.SenderKeyMessageStructure, error) {
	return unmarshal[protocol.SenderKeyMessageStructure](serialized)
}

// JSONSenderKeyDistributionMessageSerializer has the JSON of distribution messages.
type JSONSenderKeyDistributionMessageSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSenderKeyDistributionMessageSerializer) Serialize(message *protocol.SenderKeyDistributionMessageStructure) []byte {
	return marshal(message)
}

// Deserialize reads the JSON.
func (j *JSONSenderKeyDistributionMessageSerializer) Deserialize(serialized []byte) (*protocol.SenderKeyDistributionMessageStructure, error) {
	return unmarshal[protocol.SenderKeyDistributionMessageStructure](serialized)
}

// JSONPreKeyRecordSerializer has the JSON of one-time prekeys.
type JSONPreKeyRecordSerializer struct{}

// Serialize returns the JSON.
func (j *JSONPreKeyRecordSerializer) Serialize(preKey *record.PreKeyStructure) []byte {
	return marshal(preKey)
}

// Deserialize reads the JSON.
func (j *JSONPreKeyRecordSerializer) Deserialize(serialized []byte) (*record.PreKeyStructure, error) {
	return unmarshal[record.PreKeyStructure](serialized)
}

// JSONSignedPreKeyRecordSerializer has the JSON of signed prekeys.
type JSONSignedPreKeyRecordSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSignedPreKeyRecordSerializer) Serialize(signedPreKey *record.SignedPreKeyStructure) []byte {
	return marshal(signedPreKey)
}

// Deserialize reads the JSON.
func (j *JSONSignedPreKeyRecordSerializer) Deserialize(serialized []byte) (*record.SignedPreKeyStructure, error) {
	return unmarshal[record.SignedPreKeyStructure](serialized)
}

// JSONStateSerializer has the JSON of states of sessions.
type JSONStateSerializer struct{}

// Serialize returns the JSON.
func (j *JSONStateSerializer) Serialize(state *record.StateStructure) []byte { return marshal(state) }

// Deserialize reads the JSON.
func (j *JSONStateSerializer) Deserialize(serialized []byte) (*record.StateStructure, error) {
	return unmarshal[record.StateStructure](serialized)
}

// JSONSessionSerializer has the JSON of sessions.
type JSONSessionSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSessionSerializer) Serialize(session *record.SessionStructure) []byte {
	return marshal(session)
}

// Deserialize reads the JSON.
func (j *JSONSessionSerializer) Deserialize(serialized []byte) (*record.SessionStructure, error) {
	return unmarshal[record.SessionStructure](serialized)
}

// JSONSenderKeyStateSerializer has the JSON of sender keys.
type JSONSenderKeyStateSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSenderKeyStateSerializer) Serialize(state *group.SenderKeyStateStructure) []byte {
	return marshal(state)
}

// Deserialize reads the JSON.
func (j *JSONSenderKeyStateSerializer) Deserialize(serialized []byte) (*group.SenderKeyStateStructure, error) {
	return unmarshal[group.SenderKeyStateStructure](serialized)
}

// JSONSenderKeySessionSerializer has the JSON of records of sender keys.
type JSONSenderKeySessionSerializer struct{}

// Serialize returns the JSON.
func (j *JSONSenderKeySessionSerializer) Serialize(session *group.SenderKeyStructure) []byte {
	return marshal(session)
}

// Deserialize reads the JSON.
func (j *JSONSenderKeySessionSerializer) Deserialize(serialized []byte) (*group.SenderKeyStructure, error) {
	return unmarshal[group.SenderKeyStructure](serialized)
}
