package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// A Tracker sends to groups and knows which devices hold our sender keys, so
// that each message carries the key for those that lack it and for no other,
// and so that who has left a group does not read what follows.
//
//   - A device needs no key if it and the primary device of its user, number 0,
//     hold it. The sender's own other devices get the key with every message:
//     they are never taken to hold it.
//   - A device holds the key once a stanza with its copy was delivered. A device
//     whose retry receipt came ([Tracker.Cool]) needs it again.
//   - The key is replaced, and sent to all, when there is none, at
//     [signal.RotationThreshold], when a device that it was sent to is not in
//     the roster any more, and when [Tracker.Rotate] asks for it.
//
// To whom a key was sent is written together with the key, before the stanza
// leaves, and who holds it after the stanza was delivered; so a crash between the
// two costs a second copy of the key, and never a reader who has left.
//
// Messages for which all have the key go out side by side. Those that
// distribute wait for each other, group by group, and look again when it is
// their turn: who finds nothing left to distribute sends as the others do.
//
// Several processes may share an account, each with one Tracker; within one, a
// group must be sent to through the same Tracker.
type Tracker struct {
	account TrackedAccount
	self    Self
	opts    TrackerOptions

	mu   sync.Mutex
	keys map[trackedName]*trackedKey

	retries retries
}

// TrackedAccount is what a [Tracker] works with; *[signal.Account] is one.
type TrackedAccount interface {
	StartingAccount
	RepairAccount

	// SenderKeyDevices says who was sent a sender key, and who holds it.
	SenderKeyDevices(ctx context.Context, name signal.SenderKeyName) (signal.SenderKeyDevices, error)

	// MarkSenderKeyDevices records that devices hold a sender key.
	MarkSenderKeyDevices(ctx context.Context, name signal.SenderKeyName, keyID uint32, devices []signal.Address) error

	// ForgetSenderKeyDevices records that devices need a sender key again.
	ForgetSenderKeyDevices(ctx context.Context, name signal.SenderKeyName, devices []signal.Address) error

	// DeleteSenderKey deletes a sender key.
	DeleteSenderKey(ctx context.Context, name signal.SenderKeyName) error
}

var _ TrackedAccount = (*signal.Account)(nil)

// TrackerOptions are the choices of a [Tracker]. The zero value is usable.
type TrackerOptions struct {
	// Sessions says how missing sessions come about.
	Sessions Sessions

	// MaxGroups bounds the groups that are kept in memory, 0 stands for 1024.
	// Others are read again when they are sent to.
	MaxGroups int

	// Now is the clock, nil for the system's.
	Now func() time.Time
}

func (o *TrackerOptions) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

const defaultMaxGroups = 1024

// NewTracker returns a Tracker of the account of self.
func NewTracker(a TrackedAccount, self Self, o TrackerOptions) *Tracker {
	if o.MaxGroups <= 0 {
		o.MaxGroups = defaultMaxGroups
	}
	return &Tracker{account: a, self: self, opts: o, keys: map[trackedName]*trackedKey{}}
}

// Deliver hands a stanza to the server and returns nil once it was accepted.
type Deliver func(ctx context.Context, s *GroupStanza) error

// ErrNotRecorded means that a stanza was delivered and what it did was not
// written: devices will get the key once more. The message must not be sent
// again.
var ErrNotRecorded = errors.New("send: delivered, but not recorded who holds the sender key")

// Group prepares a message to a group, delivers it, and records who holds our
// sender key. The tracker sets Self, Distribute, Rotate, the participant hash
// and Address of the message.
//
// Required of the message asks that every device that lacks the key gets it,
// or nothing is delivered; where none lacks it, it asks for nothing.
//
// If deliver fails its error is returned with the stanza, and nobody is taken
// to hold the key. Other errors come without a stanza, but for
// [ErrNotRecorded].
func (t *Tracker) Group(ctx context.Context, r *Roster, m *GroupMessage, deliver Deliver) (*GroupStanza, error) {
	k := t.use(trackedName{m.To.Key(), m.ByLID})
	defer t.leave(k)
	c := &call{message: *m, deliver: deliver}
	c.message.Self, c.message.PhashDevices = t.self, nil
	return t.send(ctx, k, r, c)
}

// A call is one message on its way.
type call struct {
	message GroupMessage
	account Prepared
	deliver Deliver
}

// build makes the stanza as a plan says, once the account is prepared.
func (c *call) build(ctx context.Context, k *trackedKey, p *plan) (*GroupStanza, error) {
	m := c.message
	m.Distribute, m.Rotate = p.targets, p.rotate
	m.Required = m.Required && len(p.targets) > 0
	if m.To.Server == binary.ServerGroup {
		m.Phash = p.roster.Phash(m.sender())
	}
	if len(p.targets) > 0 {
		m.Address = c.account.Address
	}
	return m.send(ctx, &c.account, k.name)
}

func (t *Tracker) send(ctx context.Context, k *trackedKey, r *Roster, c *call) (*GroupStanza, error) {
	for retried := false; ; {
		var (
			s    *GroupStanza
			done bool
			err  error
		)
		r = k.newest(r)
		p := k.warm(r)
		if p != nil {
			if s, err = t.follow(ctx, k, p, c); err == nil {
				return s, c.deliver(ctx, s)
			}
		} else {
			if s, p, done, err = t.distribute(ctx, k, r, c); done {
				return s, err
			}
			if err == nil {
				continue // whoever was before left nothing to distribute
			}
		}
		if retried || !errors.Is(err, signal.ErrNoSenderKey) {
			return nil, err
		}
		// The key is not the one that the devices have: somebody else has
		// replaced or deleted it, or it is used up.
		retried = true
		k.forget(p.holders)
	}
}

// follow makes a message that nobody needs the key for, but for devices of our
// own.
func (t *Tracker) follow(ctx context.Context, k *trackedKey, p *plan, c *call) (*GroupStanza, error) {
	if err := t.prepare(ctx, p, &c.account); err != nil {
		return nil, err
	}
	s, err := c.build(ctx, k, p)
	if err != nil {
		return nil, err
	}
	k.followed(p, len(s.Failures) == 0)
	return s, nil
}

// distribute sends a message that some devices need the key for. done is false
// on an error before anything was delivered, or without one if there turned out
// to be no such device.
func (t *Tracker) distribute(ctx context.Context, k *trackedKey, r *Roster, c *call) (s *GroupStanza, p *plan, done bool, err error) {
	if err := k.enter(ctx); err != nil {
		return nil, nil, false, err
	}
	defer k.exit()
	h, err := k.read(ctx, t.account)
	if err != nil {
		return nil, nil, false, err
	}
	p = k.plan(k.newest(r), h)
	if p.warm {
		return nil, p, false, nil
	}
	if err := t.prepare(ctx, p, &c.account); err != nil {
		return nil, p, false, err
	}
	if s, err = c.build(ctx, k, p); err != nil {
		k.forget(nil) // the account may have gone on
		return nil, p, false, err
	}
	h = k.depart(p, &c.account)
	if err := c.deliver(ctx, s); err != nil {
		k.lost()
		return s, p, true, err
	}
	// The stanza is out: recording it does not end with the caller's context.
	err = k.arrive(context.WithoutCancel(ctx), t.account, h, s.holders())
	k.plan(p.roster, h) // so that the next message finds a memo
	return s, p, true, err
}

// prepare makes the account of a stanza, with the sessions of a plan. Where
// bundles cannot be had the message goes out without them.
func (t *Tracker) prepare(ctx context.Context, p *plan, a *Prepared) error {
	*a = Prepared{StartingAccount: t.account, known: !p.rotate, keyID: p.holders.keyID}
	if len(p.targets) == 0 || p.ready {
		return nil
	}
	var failed *fetchError
	if err := t.opts.Sessions.prepare(ctx, a, p.targets); err != nil && (!errors.As(err, &failed) || ctx.Err() != nil) {
		return err
	}
	if p.track != nil {
		a.track = make(map[signal.Address]signal.Address, len(p.targets))
		for i, d := range p.targets {
			a.track[a.Address(d)] = p.track[i]
		}
	}
	return nil
}

// Rotate has the sender key of a group replaced at the next message, and sent
// to all. It is for a membership or device change that means that somebody must
// not read on, and is durable once it returns: nobody has to wait for the next
// roster. A message that is distributing the key is waited for.
func (t *Tracker) Rotate(ctx context.Context, group binary.JID) error {
	return t.each(group, func(k *trackedKey) error {
		if err := k.enter(ctx); err != nil {
			return err
		}
		defer k.exit()
		if err := t.account.DeleteSenderKey(ctx, k.name); err != nil {
			return fmt.Errorf("send: delete a sender key: %w", err)
		}
		k.forget(nil)
		return nil
	})
}

// Cool records that devices need our sender key of a group again, as their
// retry receipts say. It is durable once it returns.
func (t *Tracker) Cool(ctx context.Context, group binary.JID, devices ...binary.JID) error {
	addrs := make([]signal.Address, len(devices))
	for i, d := range devices {
		addrs[i] = SignalAddress(d)
	}
	return t.each(group, func(k *trackedKey) error { return k.cool(ctx, t.account, addrs) })
}

// Reset records that all devices need our sender key of a group again. It is
// what a status message calls for whose acknowledgement has another participant
// hash; in a group, resolve the members anew instead.
func (t *Tracker) Reset(ctx context.Context, group binary.JID) error {
	return t.each(group, func(k *trackedKey) error {
		d, err := t.account.SenderKeyDevices(ctx, k.name)
		if err != nil {
			return fmt.Errorf("send: read who holds a sender key: %w", err)
		}
		return k.cool(ctx, t.account, d.Devices)
	})
}

// each calls f for our sender keys of a group, under either of our names.
func (t *Tracker) each(group binary.JID, f func(*trackedKey) error) error {
	for _, byLID := range []bool{false, true} {
		if t.sender(byLID).User == "" {
			continue
		}
		k := t.use(trackedName{group.Key(), byLID})
		err := f(k)
		t.leave(k)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tracker) sender(byLID bool) binary.JID {
	if byLID {
		return t.self.LID
	}
	return t.self.PN
}

// A trackedName tells our sender keys apart.
type trackedName struct {
	group binary.JID
	byLID bool
}

// use returns the state of a sender key, for which leave must be called.
func (t *Tracker) use(name trackedName) *trackedKey {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.keys[name]
	if k == nil {
		if len(t.keys) >= t.opts.MaxGroups {
			for old, other := range t.keys {
				if other.users == 0 {
					delete(t.keys, old)
					break
				}
			}
		}
		k = &trackedKey{
			name: signal.SenderKeyName{Group: name.group.String(), Sender: SignalAddress(t.sender(name.byLID))},
			self: &t.self, guard: make(chan struct{}, 1),
		}
		t.keys[name] = k
	}
	k.users++
	return k
}

func (t *Tracker) leave(k *trackedKey) {
	t.mu.Lock()
	k.users--
	t.mu.Unlock()
}

// holders returns the devices that hold the key once the stanza was delivered:
// those that it was encrypted for, and companions of which the server has no
// bundle. Those cannot be helped, and must not make every message distribute;
// a retry receipt brings their bundle.
func (s *GroupStanza) holders() []binary.JID {
	out := slices.Clip(s.Distributed)
	for _, f := range s.Failures {
		if f.Device.Device != 0 && errors.Is(f.Err, ErrNoBundle) {
			out = append(out, f.Device)
		}
	}
	return out
}
