package send

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sigcore/sigcore/binary"
)

// GroupInfo is what a client knows about a group. It must not change once it
// was given away: when anything of it does, make another one.
type GroupInfo struct {
	JID   binary.JID
	ByLID bool // members are addressed by LID

	// Participants are the users, without device. Whether the sender is among
	// them does not matter.
	Participants []binary.JID

	// PhoneNumbers has the phone numbers of LIDs, as far as they are known. Device
	// lists are asked for by phone number where there is one.
	PhoneNumbers map[binary.JID]binary.JID
}

// DeviceLists knows the devices of users.
type DeviceLists interface {
	// Devices returns the devices of users, each of which is named once, asking
	// the server for what is not known. The order is free.
	Devices(ctx context.Context, users []binary.JID) ([]binary.JID, error)

	// Generation changes whenever an answer of Devices may.
	Generation() uint64
}

// A Resolver makes the rosters of groups and keeps them as long as they hold:
// until another GroupInfo of the group is given, or the generation of the device
// lists is another one. Safe for concurrent use.
type Resolver struct {
	lists DeviceLists
	self  Self

	mu   sync.Mutex
	memo map[binary.JID]resolution
}

// A resolution is a roster and what it was made from.
type resolution struct {
	info       *GroupInfo
	generation uint64
	version    uint64 // drawn before the lists were asked for
	roster     *Roster
}

// maxResolutions bounds the groups that a Resolver keeps.
const maxResolutions = 4096

// NewResolver returns a Resolver for the account of self.
func NewResolver(lists DeviceLists, self Self) *Resolver {
	return &Resolver{lists: lists, self: self, memo: map[binary.JID]resolution{}}
}

// Roster returns the devices of a group: those of its participants and of the
// sender, under the names that the group addresses them by. Where the devices
// turn out to be those of the roster before, it is the same Roster.
func (r *Resolver) Roster(ctx context.Context, g *GroupInfo) (*Roster, error) {
	// First of all: after a change while the lists are asked for, the next message
	// resolves again, and of two that ask at once the one that began later wins.
	generation, version := r.lists.Generation(), rosters.Add(1)
	key := g.JID.Key()
	r.mu.Lock()
	m := r.memo[key]
	r.mu.Unlock()
	if m.info == g && m.generation == generation {
		return m.roster, nil
	}
	users, lids := r.users(g)
	devices, err := r.lists.Devices(ctx, users)
	if err != nil {
		return nil, fmt.Errorf("send: devices of %d users: %w", len(users), err)
	}
	if g.ByLID {
		devices = slices.Clone(devices)
		for i, d := range devices {
			if lid, ok := lids[d.NonAD()]; ok && d.Server == binary.ServerUser {
				lid.Device = d.Device
				devices[i] = lid
			}
		}
	}
	roster := newRoster(version, devices)

	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.memo[key]
	switch {
	case old.roster == nil:
		if len(r.memo) >= maxResolutions {
			for other := range r.memo {
				delete(r.memo, other)
				break
			}
		}
	case old.version > version:
		return roster, nil
	case old.roster.same(roster):
		roster = old.roster
	}
	r.memo[key] = resolution{g, generation, version, roster}
	return roster, nil
}

// users returns the users to ask for, each once, and the LIDs of those that are
// asked for by phone number.
func (r *Resolver) users(g *GroupInfo) (users []binary.JID, lids map[binary.JID]binary.JID) {
	self := r.self.PN
	if self.User == "" {
		self = r.self.LID
	}
	lids = make(map[binary.JID]binary.JID, len(g.Participants)+1)
	if r.self.PN.User != "" && r.self.LID.User != "" {
		lids[r.self.PN.NonAD()] = r.self.LID.NonAD()
	}
	all := make([]binary.JID, 0, len(g.Participants)+1)
	for _, p := range g.Participants {
		p = p.NonAD()
		if pn, ok := g.PhoneNumbers[p]; ok && g.ByLID {
			pn = pn.NonAD()
			lids[pn] = p
			p = pn
		}
		if r.self.owns(p) {
			p = self.NonAD() // under one name, so that it is asked for once
		}
		all = append(all, p)
	}
	all = append(all, self.NonAD())
	return unique(all, func(binary.JID) bool { return true }), lids
}
