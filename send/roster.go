package send

import (
	"sync"
	"sync/atomic"

	"github.com/sigcore/sigcore/binary"
)

// A Roster is the devices of a group at one time: those of all members, the
// sender included. It does not change; when a member or a device comes or goes,
// make another one. That the same Roster is given again is what makes a message
// to a group cost nothing per member. Safe for concurrent use.
type Roster struct {
	devices []binary.JID
	has     map[binary.JID]struct{}
	version uint64 // of two rosters, the later one has the higher version

	mu     sync.Mutex
	sender binary.JID // of the hash
	phash  string
}

var rosters atomic.Uint64

// NewRoster makes a roster. Repeated devices and hosted ones, which do not take
// part in sender keys, are left out. In a group that addresses members by LID
// the devices are LIDs as far as they are known.
func NewRoster(devices []binary.JID) *Roster {
	r := &Roster{version: rosters.Add(1)}
	r.devices = unique(devices, func(d binary.JID) bool { return !d.IsHosted() })
	r.has = make(map[binary.JID]struct{}, len(r.devices))
	for i, d := range r.devices {
		r.devices[i] = d.Key()
		r.has[r.devices[i]] = struct{}{}
	}
	return r
}

// Devices returns the devices, each once. They must not be modified.
func (r *Roster) Devices() []binary.JID { return r.devices }

// Has reports whether a device is in the roster.
func (r *Roster) Has(device binary.JID) bool {
	_, ok := r.has[device.Key()]
	return ok
}

// Phash returns the participant hash of a message that sender sends to the
// group: over the devices and the sending one. It is computed once.
func (r *Roster) Phash(sender binary.JID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sender = sender.Key(); r.phash == "" || r.sender != sender {
		devices := r.devices
		if _, ok := r.has[sender]; !ok {
			devices = append(devices[:len(devices):len(devices)], sender)
		}
		r.sender, r.phash = sender, ParticipantHash(devices)
	}
	return r.phash
}
