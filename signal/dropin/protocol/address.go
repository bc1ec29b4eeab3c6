package protocol

import "strconv"

// ADDRESS_SEPARATOR stands between the parts of an address.
const ADDRESS_SEPARATOR = ":"

// A SignalAddress is a device of a user.
type SignalAddress struct {
	name     string
	deviceID uint32
}

// NewSignalAddress returns the address of a device.
func NewSignalAddress(name string, deviceID uint32) *SignalAddress {
	return &SignalAddress{name, deviceID}
}

// Name returns the name of the user.
func (s *SignalAddress) Name() string { return s.name }

// DeviceID returns the id of the device.
func (s *SignalAddress) DeviceID() uint32 { return s.deviceID }

// String returns name:device, the key of rows in a database.
func (s *SignalAddress) String() string {
	return s.name + ADDRESS_SEPARATOR + strconv.FormatUint(uint64(s.deviceID), 10)
}

// A SenderKeyName is a sender in a group.
type SenderKeyName struct {
	groupID string
	sender  *SignalAddress
}

// NewSenderKeyName returns the name of a sender in a group.
func NewSenderKeyName(groupID string, sender *SignalAddress) *SenderKeyName {
	return &SenderKeyName{groupID, sender}
}

// GroupID returns the id of the group.
func (n *SenderKeyName) GroupID() string { return n.groupID }

// Sender returns the address of the sender.
func (n *SenderKeyName) Sender() *SignalAddress { return n.sender }
