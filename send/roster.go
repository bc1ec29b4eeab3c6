package send

import (
	"sync"
	"sync/atomic"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// A Roster is the devices of a group at one time: those of all members, the
// sender included. It does not change; when a member or a device comes or goes,
// make another one. That the same Roster is given again is what makes a message
// to a group cost nothing per member. Safe for concurrent use.
type Roster struct {
	devices []binary.JID
	addrs   []signal.Address       // of devices
	members map[signal.Address]int // the index of each
	version uint64                 // that of the later one of two is higher

	mu     sync.Mutex
	sender binary.JID // of the hash
	phash  string
}

var rosters atomic.Uint64

// NewRoster makes a roster. Repeated devices and hosted ones, which do not take
// part in sender keys, are left out. In a group that addresses members by LID
// the devices are LIDs as far as they are known.
func NewRoster(devices []binary.JID) *Roster { return newRoster(rosters.Add(1), devices) }

// newRoster makes the roster of what was known when the version was drawn.
func newRoster(version uint64, devices []binary.JID) *Roster {
	r := &Roster{version: version}
	r.devices = unique(devices, func(d binary.JID) bool { return !d.IsHosted() })
	r.addrs = make([]signal.Address, len(r.devices))
	r.members = make(map[signal.Address]int, len(r.devices))
	for i, d := range r.devices {
		r.addrs[i] = SignalAddress(d)
		r.members[r.addrs[i]] = i
	}
	return r
}

// primary returns the address of the primary device of the user of a device.
func (r *Roster) primary(i int) signal.Address {
	d := r.devices[i]
	if d.Device == 0 {
		return r.addrs[i]
	}
	d.Device = 0
	return SignalAddress(d)
}

// Devices returns the devices, each once. They must not be modified.
func (r *Roster) Devices() []binary.JID { return r.devices }

// Has reports whether a device is in the roster.
func (r *Roster) Has(device binary.JID) bool {
	_, ok := r.members[SignalAddress(device)]
	return ok
}

// same reports whether two rosters have the same devices.
func (r *Roster) same(o *Roster) bool {
	if len(r.devices) != len(o.devices) {
		return false
	}
	for addr := range o.members {
		if _, ok := r.members[addr]; !ok {
			return false
		}
	}
	return true
}

// Phash returns the participant hash of a message that sender sends to the
// group: over the devices and the sending one. It is computed once.
func (r *Roster) Phash(sender binary.JID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sender = sender.Key(); r.phash == "" || r.sender != sender {
		devices := r.devices
		if !r.Has(sender) {
			devices = append(devices[:len(devices):len(devices)], sender)
		}
		r.sender, r.phash = sender, ParticipantHash(devices)
	}
	return r.phash
}
