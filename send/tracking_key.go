package send

import (
	"context"
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

	// writing is held while what is stored changes, and mu for a moment only.
	writing sync.Mutex

	mu     sync.Mutex
	latest *Roster // the newest that was seen

	// holds has an entry for each device that the key was sent to: whether it
	// is known to hold it. It is nil until it is read, and another map whenever
	// it is read anew.
	holds map[binary.JID]bool
	// gone are devices that hold a key before this one: they are still stored.
	gone map[binary.JID]bool
	// keyID is the key that holds is about, if known.
	keyID uint32
	known bool

	generation uint64 // raised by every change of holds, keyID and known
	memo       memo

	flying bool                // a stanza that distributes is being delivered
	cooled map[binary.JID]bool // devices that asked for the key since it is
}

// A memo is the outcome of comparing a roster with the holders, where it is that
// nobody needs the key but devices of our own. It is valid while the roster and
// the holders are the same objects and the generation is the same; that the
// sending identity is the same is in the name of the key.
type memo struct {
	roster     *Roster
	generation uint64
	plan       *plan
}

// A plan is what a message has to do.
type plan struct {
	roster  *Roster
	targets []binary.JID // that get the key
	rotate  bool
	keyID   uint32 // of the key that others have, unless rotate
	warm    bool   // nobody but own devices is a target, and all were before
	ready   bool   // there is a session with each target

	lookup *lookup // of targets, and which sessions exist
	there  []bool
}

// enter waits for the guard.
func (k *trackedKey) enter(ctx context.Context) error {
	select {
	case k.guard <- struct{}{}:
		return nil
	default:
	}
	select {
	case k.guard <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
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
	if m := &k.memo; m.plan != nil && m.roster == r && m.generation == k.generation {
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
		again.ready, again.lookup, again.there = ready, nil, nil
		k.memo.plan = &again
	}
}

// forget makes the next message read anew what is known, if a key that did not
// serve is still the one that is known.
func (k *trackedKey) forget(keyID uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known && k.keyID == keyID {
		k.forgetLocked()
	}
}

func (k *trackedKey) forgetAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgetLocked()
}

func (k *trackedKey) forgetLocked() {
	k.holds, k.gone, k.known, k.memo = nil, nil, false, memo{}
	k.generation++
}

// load reads the holders unless they are known.
func (k *trackedKey) load(ctx context.Context, h KeyHolders) error {
	k.mu.Lock()
	loaded, generation := k.holds != nil, k.generation
	k.mu.Unlock()
	if loaded {
		return nil
	}
	rows, err := h.Holders(ctx, k.name)
	if err != nil {
		return fmt.Errorf("send: read who holds a sender key: %w", err)
	}
	holds := make(map[binary.JID]bool, len(rows))
	for i := range rows {
		d, err := binary.ParseJID(rows[i].Device)
		if err != nil {
			return fmt.Errorf("send: read who holds a sender key: %w", err)
		}
		holds[d.Key()] = rows[i].Holds
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil && k.generation == generation {
		k.holds, k.memo = holds, memo{}
		k.generation++
	}
	return nil
}

// lacks reports whether a device needs the key.
func (k *trackedKey) lacks(d binary.JID) bool {
	if k.self.owns(d) || !k.holds[d] {
		return true
	}
	if d.Device != 0 {
		d.Device = 0
		return !k.holds[d]
	}
	return false
}

// plan compares a roster with the holders, under the guard.
func (t *Tracker) plan(ctx context.Context, k *trackedKey, r *Roster) (*plan, error) {
	for range 3 {
		if err := k.load(ctx, t.holders); err != nil {
			return nil, err
		}
		p, known := k.compare(r)
		if p == nil {
			continue // forgotten meanwhile
		}
		if known && p.warm {
			return p, nil
		}
		p.lookup = t.opts.Sessions.look(p.targets)
		info, there, err := t.account.GroupState(ctx, k.name, p.lookup.addrs)
		if err != nil {
			return nil, fmt.Errorf("send: look up a group: %w", err)
		}
		if !p.rotate && info.Exists && known && info.KeyID != p.keyID {
			k.forget(p.keyID) // somebody else has replaced the key
			continue
		}
		if !p.rotate && (!info.Exists || info.NeedsRotation) {
			p = k.all(r)
			p.lookup = t.opts.Sessions.look(p.targets)
			if _, there, err = t.account.GroupState(ctx, k.name, p.lookup.addrs); err != nil {
				return nil, fmt.Errorf("send: look up a group: %w", err)
			}
		}
		p.there = there
		if !p.rotate {
			p.keyID = info.KeyID
			if !k.learn(p, info.KeyID) {
				continue
			}
		}
		return p, nil
	}
	return nil, fmt.Errorf("send: holders of a sender key change all the time: %w", signal.ErrNoSenderKey)
}

// compare returns who needs the key, nil if it is not known who holds it, and
// whether the id of the key is known.
func (k *trackedKey) compare(r *Roster) (p *plan, known bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil {
		return nil, false
	}
	for d := range k.holds {
		if !r.Has(d) {
			return k.allLocked(r), k.known
		}
	}
	p = &plan{roster: r, keyID: k.keyID, warm: true}
	for _, d := range r.devices {
		if k.self.is(d) || !k.lacks(d) {
			continue
		}
		p.targets = append(p.targets, d)
		if _, sent := k.holds[d]; !sent || !k.self.owns(d) {
			p.warm = false
		}
	}
	if len(k.holds) == 0 && len(p.targets) > 0 {
		// Nobody is known to have been sent the key, if there is one.
		return k.allLocked(r), k.known
	}
	if p.warm && k.known {
		k.memo = memo{roster: r, generation: k.generation, plan: p}
	}
	return p, k.known
}

// all returns the plan to replace the key and send it to all.
func (k *trackedKey) all(r *Roster) *plan {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.allLocked(r)
}

func (k *trackedKey) allLocked(r *Roster) *plan {
	p := &plan{roster: r, rotate: true, targets: make([]binary.JID, 0, len(r.devices))}
	for _, d := range r.devices {
		if !k.self.is(d) {
			p.targets = append(p.targets, d)
		}
	}
	return p
}

// learn notes the id of the key that the holders hold. It reports whether the
// plan still holds.
func (k *trackedKey) learn(p *plan, id uint32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil {
		return false
	}
	if !k.known {
		k.keyID, k.known = id, true
		k.generation++
	}
	if p.warm {
		k.memo = memo{roster: p.roster, generation: k.generation, plan: p}
	}
	return true
}

// expose records that the targets of a plan are sent the key, before they are,
// and, if it is a fresh one, that nobody holds it.
func (k *trackedKey) expose(ctx context.Context, h KeyHolders, p *plan) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	var set []Holder
	k.mu.Lock()
	for d, holds := range k.holds {
		if holds && p.rotate {
			set = append(set, Holder{Device: d.String()})
		}
	}
	for _, d := range p.targets {
		if _, sent := k.holds[d]; !sent {
			set = append(set, Holder{Device: d.String()})
		}
	}
	k.mu.Unlock()
	if err := k.store(ctx, h, set, nil); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil {
		return fmt.Errorf("send: holders of a sender key were given up: %w", signal.ErrNoSenderKey)
	}
	if p.rotate {
		for d := range k.holds {
			k.holds[d] = false
		}
		k.known = false
	}
	for _, d := range p.targets {
		k.holds[d] = k.holds[d]
		delete(k.gone, d)
	}
	k.generation++
	return nil
}

// depart notes that a message was made, under the key of that id, and is about
// to be delivered.
func (k *trackedKey) depart(p *plan, keyID uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flying, k.cooled = true, nil
	k.keyID, k.known = keyID, true
	k.generation++
	if !p.rotate {
		return
	}
	for d := range k.holds {
		if !p.roster.Has(d) { // it holds the key before this one
			if k.gone == nil {
				k.gone = map[binary.JID]bool{}
			}
			k.gone[d] = true
			delete(k.holds, d)
		}
	}
}

// lost notes that a message was not delivered.
func (k *trackedKey) lost() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.flying = false
}

// arrive records that a message was delivered, and that devices hold the key.
func (k *trackedKey) arrive(ctx context.Context, h KeyHolders, devices []binary.JID) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	var (
		set    []Holder
		remove []string
	)
	k.mu.Lock()
	k.flying = false
	marked := make([]binary.JID, 0, len(devices))
	for _, d := range devices {
		d = d.Key()
		if holds, sent := k.holds[d]; sent && !holds && !k.cooled[d] && !k.self.owns(d) {
			marked, set = append(marked, d), append(set, Holder{Device: d.String(), Holds: true})
		}
	}
	for d := range k.gone {
		remove = append(remove, d.String())
	}
	k.mu.Unlock()
	if err := k.store(ctx, h, set, remove); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.holds == nil {
		return nil
	}
	k.gone = nil
	for _, d := range marked {
		k.holds[d] = true
		k.generation++
	}
	return nil
}

// cool records that devices, or all if devices is nil, need the key again.
func (k *trackedKey) cool(ctx context.Context, h KeyHolders, devices []binary.JID) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.load(ctx, h); err != nil {
		return err
	}
	var set []Holder
	k.mu.Lock()
	if devices == nil {
		devices = make([]binary.JID, 0, len(k.holds))
		for d := range k.holds {
			devices = append(devices, d)
		}
	}
	for _, d := range devices {
		d = d.Key()
		if k.flying {
			if k.cooled == nil {
				k.cooled = map[binary.JID]bool{}
			}
			k.cooled[d] = true
		}
		if k.holds[d] {
			k.holds[d] = false
			k.generation++
			set = append(set, Holder{Device: d.String()})
		}
	}
	k.mu.Unlock()
	if err := k.store(ctx, h, set, nil); err != nil {
		k.forgetAll()
		return err
	}
	return nil
}

// store writes changes of the holders.
func (k *trackedKey) store(ctx context.Context, h KeyHolders, set []Holder, remove []string) error {
	if len(set) == 0 && len(remove) == 0 {
		return nil
	}
	if err := h.ChangeHolders(ctx, k.name, set, remove); err != nil {
		return fmt.Errorf("send: record who holds a sender key: %w", err)
	}
	return nil
}
