package signal

import "strconv"

// Address names one device of the protocol layer. In WhatsApp's use Device is
// 0 and the device number is part of the name, as in "15550000001:5@c.us".
type Address struct {
	Name   string
	Device uint32
}

// String returns the printed form, Name and Device joined by a dot. It names a
// person: keep it out of logs and errors.
func (a Address) String() string {
	return a.Name + "." + strconv.FormatUint(uint64(a.Device), 10)
}
