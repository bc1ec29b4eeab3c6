package send

import (
	"context"
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// A BundleSource asks the server for the bundles of devices. It is what a
// client has to bring so that messages reach devices that it has no session
// with.
type BundleSource interface {
	// Bundles requests the bundles of devices, each of which is named once. The
	// answers may have any order; a device without an answer has no bundle. It
	// is called at most once for a stanza, with all devices that lack a session;
	// a source whose server bounds the size of a request cuts it. An error means
	// that nothing is known about any device.
	Bundles(ctx context.Context, devices []binary.JID) ([]BundleAnswer, error)
}

// BundleFunc is a function that is a [BundleSource].
type BundleFunc func(ctx context.Context, devices []binary.JID) ([]BundleAnswer, error)

// Bundles calls f.
func (f BundleFunc) Bundles(ctx context.Context, devices []binary.JID) ([]BundleAnswer, error) {
	return f(ctx, devices)
}

// BundleAnswer is what the server says about one device: its bundle, or why
// there is none.
type BundleAnswer struct {
	Device binary.JID // as requested
	Bundle *signal.Bundle
	Err    error
}

// ErrNoBundle means that the server has no bundle of a device, or did not
// answer for it.
var ErrNoBundle = errors.New("send: no bundle of the device")

// ErrUnregistered means that the server does not know a device, or one of those
// that were asked for: the device list that it is from is out of date. It is in
// the chain of a [RejectedError] with the code 406. A [BundleSource] that is
// refused as a whole with that code returns an error with ErrUnregistered in its
// chain: the stanza goes out to those that there are sessions with.
var ErrUnregistered = errors.New("send: device is not registered")

// codeUnregistered is the server's code for a device that it does not know.
const codeUnregistered = 406

// A RejectedError is what a [BundleAnswer] has if the server answers for a
// device with an error of that code.
type RejectedError struct{ Code uint16 }

func (e *RejectedError) Error() string {
	return fmt.Sprintf("send: the server refuses the bundle with code %d", e.Code)
}

// Is reports whether target is ErrNoBundle or, with the code 406,
// ErrUnregistered.
func (e *RejectedError) Is(target error) bool {
	return target == ErrNoBundle || target == ErrUnregistered && e.Code == codeUnregistered
}

// StartingAccount is an [Account] that starts sessions while it encrypts;
// *[signal.Account] is one.
type StartingAccount interface {
	Account

	// EncryptManyFrom is EncryptMany that starts the sessions that are missing.
	EncryptManyFrom(ctx context.Context, items []signal.Outgoing, start *signal.Start) ([]signal.EncryptResult, []signal.BundleResult, error)

	// NeedBundles says which sessions a bundle would start.
	NeedBundles(ctx context.Context, addrs []signal.Address) ([]bool, error)
}

var _ StartingAccount = (*signal.Account)(nil)

// Sessions says how a stanza comes by the sessions that it needs. The zero
// value uses those that are there.
type Sessions struct {
	// Source is asked for the bundles of devices without a session. Nil: such
	// devices are failures.
	Source BundleSource

	// LID returns the LID of a device that is known by its phone number, with
	// the same device number. A session of the LID is preferred, and a new one
	// is started for it; the stanza goes on naming the device as it was given.
	// Nil: no LID is known.
	LID func(device binary.JID) (lid binary.JID, ok bool)

	// Workers bounds the goroutines that set up sessions and encrypt; see
	// [signal.Start].
	Workers int
}

// For looks up the sessions with devices, in one read, and requests the bundles
// that are missing, in one request, and returns an account for one stanza to
// those devices. Sessions are started when the stanza is encrypted, in the
// write that the stanza needs anyway. The addresses of the stanza are those of
// [Prepared.Address].
func (s *Sessions) For(ctx context.Context, a StartingAccount, devices []binary.JID) (*Prepared, error) {
	p := &Prepared{StartingAccount: a}
	if err := s.prepare(ctx, p, unique(devices, func(binary.JID) bool { return true })); err != nil {
		return nil, err
	}
	return p, nil
}

// A lookup is the sessions that devices may have: addrs begins with the address
// of each device; lid is the index of the address of its LID, or 0.
type lookup struct {
	devices []binary.JID
	addrs   []signal.Address
	lid     []int
}

func (s *Sessions) look(devices []binary.JID) *lookup {
	l := &lookup{devices: devices, addrs: make([]signal.Address, len(devices), 2*len(devices)), lid: make([]int, len(devices))}
	for i, d := range devices {
		l.addrs[i] = SignalAddress(d)
		if s.LID == nil || d.Server != binary.ServerUser && d.Server != binary.ServerHosted {
			continue
		}
		if lid, ok := s.LID(d); ok {
			l.lid[i] = len(l.addrs)
			l.addrs = append(l.addrs, SignalAddress(lid))
		}
	}
	return l
}

// A fetchError is that the bundles could not be requested: the message can go
// out without them.
type fetchError struct {
	devices int
	err     error
}

func (e *fetchError) Error() string {
	return fmt.Sprintf("send: request %d bundles: %v", e.devices, e.err)
}

func (e *fetchError) Unwrap() error { return e.err }

// prepare looks up sessions and requests what is missing.
func (s *Sessions) prepare(ctx context.Context, p *Prepared, devices []binary.JID) error {
	p.start.Workers = s.Workers
	l := s.look(devices)
	need, err := p.NeedBundles(ctx, l.addrs)
	if err != nil {
		return fmt.Errorf("send: look up %d sessions: %w", len(devices), err)
	}
	var missing []binary.JID
	for i, d := range l.devices {
		at := i
		if k := l.lid[i]; k > 0 && (need[i] || !need[k]) {
			// Also a session that is started now is that of the LID.
			at = k
			p.override(d, l.addrs[k])
		}
		if need[at] {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 || s.Source == nil {
		return nil
	}
	p.reasons = make(map[signal.Address]error, len(missing))
	p.devices = make(map[signal.Address]binary.JID, len(missing))
	for _, d := range missing {
		addr := p.Address(d)
		p.reasons[addr], p.devices[addr] = ErrNoBundle, d
	}
	answers, err := s.Source.Bundles(ctx, missing)
	if err != nil {
		for addr := range p.reasons {
			p.reasons[addr] = err
		}
		if errors.Is(err, ErrUnregistered) {
			return nil // these devices are skipped this time
		}
		return &fetchError{len(missing), err}
	}
	bundles := make(map[signal.Address]*signal.Bundle, len(answers))
	for i := range answers {
		addr := p.Address(answers[i].Device)
		switch _, asked := p.reasons[addr]; {
		case !asked:
		case answers[i].Err != nil:
			p.reasons[addr] = answers[i].Err
		case answers[i].Bundle != nil:
			bundles[addr] = answers[i].Bundle
		}
	}
	// In the order of the devices, whatever that of the answers.
	for _, d := range missing {
		addr := p.Address(d)
		if b := bundles[addr]; b != nil {
			p.start.Bundles = append(p.start.Bundles, signal.AddressedBundle{Addr: addr, Bundle: b})
		}
	}
	return nil
}

// Prepared is an [Account] for one stanza: it starts the sessions that the
// stanza needs and that were missing.
type Prepared struct {
	StartingAccount

	start   signal.Start
	address map[binary.JID]signal.Address // of devices whose session is that of the LID
	reasons map[signal.Address]error      // why there is no session with a device
	devices map[signal.Address]binary.JID // those of reasons
	changed []binary.JID

	// The sender key that the group has, if known, and after the message the one
	// that it went out under.
	known bool
	keyID uint32

	// The names under which devices are tracked, by the address of the session,
	// and after the message those of the devices that were sent the key.
	track   map[signal.Address]signal.Address
	tracked []signal.Address
}

// Address returns the address of the session with a device. It is the
// [Addressing] of the stanza.
func (p *Prepared) Address(device binary.JID) signal.Address {
	if p.address != nil {
		if addr, ok := p.address[device.Key()]; ok {
			return addr
		}
	}
	return SignalAddress(device)
}

func (p *Prepared) override(device binary.JID, addr signal.Address) {
	if p.address == nil {
		p.address = map[binary.JID]signal.Address{}
	}
	p.address[device.Key()] = addr
}

// IdentityChanged returns the devices of which another identity was known
// before their session was started, once the stanza is encrypted.
func (p *Prepared) IdentityChanged() []binary.JID { return p.changed }

// EncryptMany implements [Account].
func (p *Prepared) EncryptMany(ctx context.Context, items []signal.Outgoing) ([]signal.EncryptResult, error) {
	results, started, err := p.EncryptManyFrom(ctx, items, &p.start)
	if err != nil {
		return nil, err
	}
	p.see(started)
	for i := range results {
		results[i].Err = p.reason(items[i].To, results[i].Err)
	}
	return results, nil
}

// SendGroup implements [Account].
func (p *Prepared) SendGroup(ctx context.Context, g *signal.GroupSend) (*signal.GroupResult, error) {
	g.Start = &p.start
	if p.known {
		g.Known = &p.keyID
	}
	if p.track != nil {
		g.Track = make([]signal.Address, len(g.Distribute))
		for i, addr := range g.Distribute {
			g.Track[i] = p.track[addr]
		}
	}
	result, err := p.StartingAccount.SendGroup(ctx, g)
	if err != nil {
		return nil, err
	}
	for i, addr := range g.Track {
		if addr != (signal.Address{}) && result.Recipients[i].Err == nil {
			p.tracked = append(p.tracked, addr)
		}
	}
	p.see(result.Started)
	for i := range result.Recipients {
		result.Recipients[i].Err = p.reason(g.Distribute[i], result.Recipients[i].Err)
	}
	p.keyID = result.KeyID
	return result, nil
}

// see notes whose identity has changed.
func (p *Prepared) see(started []signal.BundleResult) {
	for i := range started {
		if started[i].IdentityChanged {
			p.changed = append(p.changed, p.devices[p.start.Bundles[i].Addr])
		}
	}
}

// reason returns why a device was not encrypted for: that it has no session
// says less than why it has none.
func (p *Prepared) reason(addr signal.Address, err error) error {
	if err != nil && errors.Is(err, signal.ErrNoSession) {
		if why := p.reasons[addr]; why != nil {
			return why
		}
	}
	return err
}
