package send

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// A trackedKey is one sender key of ours and what is known about the devices
// that it was sent to.
type trackedKey struct {
	name  signal.SenderKeyName
	self  *Self
	users int           // guarded by Tracker.mu
	guard chan struct{} // full while a message distributes

	// writing is held while what is stored about holders changes, and mu for a
	// moment only.
	writing sync.Mutex

	mu      sync.Mutex
	latest  *Roster  // the newest that was seen
	holders *holders // nil until they are read; others whenever they are read anew
	memo    memo

	flying bool                    // a stanza that distributes is being delivered
	cooled map[signal.Address]bool // devices that asked for the key since it is
}

// holders are the devices that a sender key was sent to.
type holders struct {
	keyID  uint32
	usable bool // the key exists and has not reached the threshold

	// holds has an entry for each device: whether it is known to hold the key.
	holds map[signal.Address]bool

	generation uint64 // raised by every change of holds
}

// A memo is the outcome of comparing a roster with the holders, where it is that
// nobody needs the key but devices of our own. It is valid while the roster and
// the holders are the same objects and the generation is the same; that the
// sending identity is the same is in the name of the key.
type memo struct {
	roster     *Roster
	holders    *holders
	generation uint64
	plan       *plan
}

// A plan is what a message has to do.
type plan struct {
	roster  *Roster
	holders *holders
	targets []binary.JID     // that get the key
	track   []signal.Address // of targets: those that were not sent it before; nil if all were
	rotate  bool
	warm    bool // targets are own devices, that were sent the key before
	ready   bool // there is a session with each target
}

// enter waits for the guard.
func (k *trackedKey) enter(ctx context.Context) error {
	select {
	case k.guard <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("send: wait for a distribution: %w", ctx.Err())
	}
}

func (k *trackedKey) exit() { <-k.guard }

// newest returns r or a later roster that was seen already: the message of a
// caller who was slow must not go to who has left meanwhile.
func (k *trackedKey) newest(r *Roster) *Roster {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.latest == nil || r.version > k.latest.version {
		k.latest = r
	}
	return k.latest
}

// warm returns the plan that is known to be right for a roster, or nil.
func (k *trackedKey) warm(r *Roster) *plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	m := &k.memo
	if m.plan != nil && m.roster == r && m.holders == k.holders && m.generation == k.holders.generation {
		return m.plan
	}
	return nil
}

// followed notes what a message after a memo found out: with a session for each
// own device nobody has to look for them again.
func (k *trackedKey) followed(p *plan, ready bool) {
	if p.ready == ready {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.memo.plan == p {
		again := *p
		again.ready = ready
		k.memo.plan = &again
	}
}

// forget makes the next message read anew what is known, unless that was done
// since h was; nil stands for any.
func (k *trackedKey) forget(h *holders) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if h == nil || h == k.holders {
		k.holders, k.memo = nil, memo{}
	}
}

// read returns the holders. It is called under the guard.
func (k *trackedKey) read(ctx context.Context, a TrackedAccount) (*holders, error) {
	k.mu.Lock()
	h := k.holders
	k.mu.Unlock()
	if h != nil {
		return h, nil
	}
	d, err := a.SenderKeyDevices(ctx, k.name)
	switch {
	case errors.Is(err, signal.ErrCorruptRecord):
		// Nothing is known: a fresh key for all is right in any case.
	case err != nil:
		return nil, fmt.Errorf("send: read who holds a sender key: %w", err)
	}
	h = &holders{
		keyID: d.KeyID, usable: err == nil && d.Exists && !d.NeedsRotation,
		holds: make(map[signal.Address]bool, len(d.Devices)+len(d.Sent)),
	}
	for _, addr := range d.Sent {
		h.holds[addr] = false
	}
	for _, addr := range d.Devices {
		h.holds[addr] = true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holders = h
	return h, nil
}

// plan compares a roster with the holders.
func (k *trackedKey) plan(r *Roster, h *holders) *plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := &plan{roster: r, holders: h, warm: true, rotate: !h.usable}
	for addr := range h.holds {
		if _, member := r.members[addr]; !member {
			p.rotate = true // it has left, and may have the key
		}
	}
	sent := 0
	for i, d := range r.devices {
		own := k.self.owns(d)
		if k.self.is(d) || !p.rotate && !own && h.holds[r.addrs[i]] && h.holds[r.primary(i)] {
			continue
		}
		addr := r.addrs[i]
		if _, before := h.holds[addr]; before && !p.rotate {
			addr = signal.Address{}
			sent++
		}
		p.warm = p.warm && own
		p.targets, p.track = append(p.targets, d), append(p.track, addr)
	}
	if len(h.holds) == 0 && len(p.targets) > 0 {
		p.rotate = true // who was sent the key before, if anybody, is not known
	}
	if sent == len(p.targets) {
		p.track = nil
	}
	p.warm = p.warm && p.track == nil && !p.rotate
	if p.warm {
		k.memo = memo{roster: r, holders: h, generation: h.generation, plan: p}
	}
	return p
}

// depart notes that a message was made and is about to be delivered.
func (k *trackedKey) depart(p *plan, a *Prepared) *holders {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flying, k.cooled = true, nil
	h := p.holders
	if p.rotate {
		h = &holders{keyID: a.keyID, usable: true, holds: make(map[signal.Address]bool, len(p.targets))}
		k.holders = h
	}
	for _, addr := range a.tracked {
		if _, before := h.holds[addr]; !before {
			h.holds[addr] = false
			h.generation++
		}
	}
	return h
}

// lost notes that a message was not delivered.
func (k *trackedKey) lost() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flying = false
}

// arrive records that a message was delivered, and that devices hold the key.
func (k *trackedKey) arrive(ctx context.Context, a TrackedAccount, h *holders, devices []binary.JID) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	k.mu.Lock()
	k.flying = false
	marked := make([]signal.Address, 0, len(devices))
	for _, d := range devices {
		addr := SignalAddress(d)
		if !h.holds[addr] && !k.cooled[addr] && !k.self.owns(d) {
			marked = append(marked, addr)
		}
	}
	k.mu.Unlock()
	if len(marked) == 0 {
		return nil
	}
	if err := a.MarkSenderKeyDevices(ctx, k.name, h.keyID, marked); err != nil {
		k.forget(h)
		return fmt.Errorf("%w: %w", ErrNotRecorded, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, addr := range marked {
		if k.cooled[addr] {
			continue // it asked while the mark was written
		}
		h.holds[addr] = true
		h.generation++
	}
	return nil
}

// cool records that devices need the key again.
func (k *trackedKey) cool(ctx context.Context, a TrackedAccount, devices []signal.Address) error {
	k.mu.Lock()
	for _, addr := range devices {
		if k.flying {
			if k.cooled == nil {
				k.cooled = map[signal.Address]bool{}
			}
			k.cooled[addr] = true
		}
		if h := k.holders; h != nil && h.holds[addr] {
			h.holds[addr] = false
			h.generation++
		}
	}
	k.mu.Unlock()
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := a.ForgetSenderKeyDevices(ctx, k.name, devices); err != nil {
		return fmt.Errorf("send: record who needs a sender key: %w", err)
	}
	return nil
}
