package send

import (
	"slices"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// Self is who sends: the sending device under its phone number and, if it has
// one, under its LID, and its identity.
type Self struct {
	PN, LID binary.JID

	// DeviceIdentity is the encoded ADVSignedDeviceIdentity. Stanzas with a
	// pkmsg carry it. Nil if there is none: see [ErrNoDeviceIdentity].
	DeviceIdentity []byte
}

// owns reports whether j is a device of the sender's own account. It compares
// users only: devices of one account differ in the server where some of them
// are hosted.
func (s *Self) owns(j binary.JID) bool {
	return j.User == s.PN.User && j.User != "" || j.User == s.LID.User && j.User != ""
}

// is reports whether j is the sending device itself.
func (s *Self) is(j binary.JID) bool {
	return j.User == s.PN.User && j.Device == s.PN.Device && j.User != "" ||
		j.User == s.LID.User && j.Device == s.LID.Device && j.User != ""
}

// SignalAddress returns the address under which a device has its session: the
// user, the device unless it is 0, and the server, where s.whatsapp.net is
// called c.us.
func SignalAddress(j binary.JID) signal.Address {
	server := j.Server
	if server == binary.ServerUser {
		server = binary.ServerLegacy
	}
	// A JID shows its agent on the legacy server; an address has none.
	return signal.Address{Name: binary.JID{User: j.User, Server: server, Device: j.Device}.String()}
}

// Addressing returns the address of a device's session. It is how a caller
// that knows the LID of a phone number uses the session of the LID while the
// stanza names the phone number. Nil stands for [SignalAddress].
type Addressing func(binary.JID) signal.Address

func (a Addressing) of(j binary.JID) signal.Address {
	if a == nil {
		return SignalAddress(j)
	}
	return a(j)
}

// unique returns the devices that keep lets pass, each once, in order.
func unique(devices []binary.JID, keep func(binary.JID) bool) []binary.JID {
	return appendUnique(make([]binary.JID, 0, len(devices)), devices, keep)
}

// appendUnique appends the devices that keep lets pass and that are not in dst
// yet, each once, in order.
func appendUnique(dst, devices []binary.JID, keep func(binary.JID) bool) []binary.JID {
	const few = 8 // to look for in dst itself
	if len(dst)+len(devices) <= few {
		for _, d := range devices {
			key := d.Key()
			if keep(d) && !slices.ContainsFunc(dst, func(o binary.JID) bool { return o.Key() == key }) {
				dst = append(dst, d)
			}
		}
		return dst
	}
	seen := make(map[binary.JID]bool, len(dst)+len(devices))
	for _, d := range dst {
		seen[d.Key()] = true
	}
	for _, d := range devices {
		if key := d.Key(); !seen[key] && keep(d) {
			seen[key] = true
			dst = append(dst, d)
		}
	}
	return dst
}
