package send

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// A RetryReceipt is what a device says that could not read a message of ours.
type RetryReceipt struct {
	Chat   binary.JID // the group, or the person
	Device binary.JID // that could not read
	ID     string     // of the message

	// Count is how often the device has asked, this time included.
	Count int

	// RegistrationID is that of the device, 0 if the receipt has none.
	RegistrationID uint32

	// Bundle is what is in the keys of the receipt, nil without them.
	Bundle *signal.Bundle

	// Listed says that the device is in the device list of its user.
	Listed bool
}

// A RetryVerdict says what is left to do about a receipt.
type RetryVerdict uint8

// The verdicts of [Tracker.Retry].
const (
	// RetryResend: look the message up, and send it to the device again.
	RetryResend RetryVerdict = iota

	// RetryUnknownDevice: nothing was done. The device is not listed, and
	// brought no keys.
	RetryUnknownDevice

	// RetryRepeated: nothing was done. The receipt, or a later one, was there
	// before.
	RetryRepeated

	// RetryExhausted: the session is repaired, and the device has asked for the
	// message too often.
	RetryExhausted

	// RetryLimited: the session is repaired, and the chat has asked for more
	// messages than are sent again: 20 at once, then 10 a minute.
	RetryLimited
)

// MaxRetries is how often a message is sent again to a device.
const MaxRetries = 4

// RepairAccount is what [Tracker.Retry] works with; *[signal.Account] is one.
type RepairAccount interface {
	// ProcessBundle starts a session in place of the current one.
	ProcessBundle(ctx context.Context, addr signal.Address, b *signal.Bundle) (identityChanged bool, err error)

	// DeleteSession deletes a session.
	DeleteSession(ctx context.Context, addr signal.Address) error

	// SaveBaseKey remembers which agreement the current session is of.
	SaveBaseKey(ctx context.Context, addr signal.Address, messageID string, now time.Time) error

	// HasBaseKey reports whether the current session is of the agreement that was
	// remembered for the message.
	HasBaseKey(ctx context.Context, addr signal.Address, messageID string) (bool, error)
}

var _ RepairAccount = (*signal.Account)(nil)

// Retry repairs what a receipt shows to be broken, and is to be called before
// the message is looked up, also if it is not there any more:
//
//   - the device needs our sender key of the group again;
//   - a bundle of the receipt starts a session, unless it has started the
//     current one already, of which nothing was heard yet;
//   - a session with another registration id than that of the device is deleted,
//     and so is one of which the device could not read the message twice. The
//     next message fetches a bundle.
//
// It is durable once it returns. After an error the receipt can be given again.
func (t *Tracker) Retry(ctx context.Context, r *RetryReceipt) (RetryVerdict, error) {
	if r.ID == "" || r.Count < 1 || r.Device.User == "" || r.Chat.User == "" {
		return 0, fmt.Errorf("%w: retry receipt without chat, device, id or count", ErrInvalid)
	}
	if !r.Listed && r.Bundle == nil {
		return RetryUnknownDevice, nil
	}
	// One at a time: receipts are few, and two of a device must not both find
	// that a session is missing.
	t.retries.mu.Lock()
	defer t.retries.mu.Unlock()
	if t.retries.repeated(r) {
		return RetryRepeated, nil
	}
	if r.Chat.Server == binary.ServerGroup || r.Chat.Server == binary.ServerBroadcast {
		if err := t.Cool(ctx, r.Chat, r.Device); err != nil {
			return 0, err
		}
	}
	if err := t.repair(ctx, r); err != nil {
		return 0, err
	}
	t.retries.remember(r)
	switch {
	case r.Count > MaxRetries:
		return RetryExhausted, nil
	case !t.retries.allow(r.Chat, t.opts.now()):
		return RetryLimited, nil
	}
	return RetryResend, nil
}

// repair repairs the session with the device of a receipt.
func (t *Tracker) repair(ctx context.Context, r *RetryReceipt) error {
	addr, err := t.addressOf(ctx, r.Device)
	if err != nil {
		return err
	}
	info, err := t.account.SessionInfo(ctx, addr)
	corrupt := errors.Is(err, signal.ErrCorruptRecord)
	if err != nil && !corrupt {
		return fmt.Errorf("send: look up a session to repair: %w", err)
	}
	registration := r.RegistrationID
	if r.Bundle != nil {
		registration = r.Bundle.RegistrationID
	}
	stale := info.Exists && registration != 0 && info.RemoteRegistrationID != registration
	if info.Exists && !stale {
		switch {
		case r.Count == 2:
			err = t.account.SaveBaseKey(ctx, addr, r.ID, t.opts.now())
		case r.Count > 2:
			stale, err = t.account.HasBaseKey(ctx, addr, r.ID)
		}
		if err != nil && !errors.Is(err, signal.ErrNoSession) {
			return fmt.Errorf("send: base key of a session to repair: %w", err)
		}
	}
	if r.Bundle != nil && !stale && !corrupt && startedFrom(&info, r.Bundle) {
		return nil
	}
	if stale || corrupt {
		if err := t.account.DeleteSession(ctx, addr); err != nil {
			return fmt.Errorf("send: delete a session to repair: %w", err)
		}
	}
	if r.Bundle != nil {
		if _, err := t.account.ProcessBundle(ctx, addr, r.Bundle); err != nil {
			return fmt.Errorf("send: repair a session: %w", err)
		}
	}
	return nil
}

// addressOf returns the address of the session with a device.
func (t *Tracker) addressOf(ctx context.Context, device binary.JID) (signal.Address, error) {
	l := t.opts.Sessions.look([]binary.JID{device})
	if l.lid[0] == 0 {
		return l.addrs[0], nil
	}
	need, err := t.account.NeedBundles(ctx, l.addrs)
	if err != nil {
		return signal.Address{}, fmt.Errorf("send: look up a session to repair: %w", err)
	}
	if need[0] || !need[1] {
		return l.addrs[1], nil
	}
	return l.addrs[0], nil
}

// startedFrom reports whether a session was started from a bundle, and not
// answered. Starting another one would use the one-time prekey twice.
func startedFrom(info *signal.SessionInfo, b *signal.Bundle) bool {
	return info.Pending && info.RemoteIdentity == b.Identity && info.RemoteRegistrationID == b.RegistrationID &&
		info.SignedPreKeyID == b.SignedPreKeyID && info.HasPreKey == b.HasPreKey && info.PreKeyID == b.PreKeyID
}

// retries remembers receipts and bounds what is sent again.
type retries struct {
	mu    sync.Mutex
	seen  map[retryKey]int // the highest count
	order []retryKey       // of seen, a ring
	next  int

	buckets map[binary.JID]*bucket
}

type retryKey struct {
	chat, device binary.JID
	id           string
}

const (
	maxRememberedRetries = 4096
	maxBuckets           = 1024
	bucketSize           = 20
	bucketRefill         = time.Minute / 10
)

func (r *RetryReceipt) key() retryKey { return retryKey{r.Chat.Key(), r.Device.Key(), r.ID} }

func (s *retries) repeated(r *RetryReceipt) bool { return s.seen[r.key()] >= r.Count }

func (s *retries) remember(r *RetryReceipt) {
	if s.seen == nil {
		s.seen = map[retryKey]int{}
	}
	key := r.key()
	if _, ok := s.seen[key]; !ok {
		if len(s.order) < maxRememberedRetries {
			s.order = append(s.order, key)
		} else {
			delete(s.seen, s.order[s.next])
			s.order[s.next] = key
			s.next = (s.next + 1) % len(s.order)
		}
	}
	s.seen[key] = r.Count
}

// A bucket holds what a chat may have sent again. It was full some time before
// it was made.
type bucket struct {
	tokens int
	since  time.Time // of the last token that was put in
}

// allow takes a token out of the bucket of a chat.
func (s *retries) allow(chat binary.JID, now time.Time) bool {
	if s.buckets == nil {
		s.buckets = map[binary.JID]*bucket{}
	}
	chat = chat.Key()
	b := s.buckets[chat]
	if b == nil {
		if len(s.buckets) >= maxBuckets {
			s.dropBucket(now)
		}
		b = &bucket{bucketSize, now}
		s.buckets[chat] = b
	}
	b.fill(now)
	if b.tokens == 0 {
		return false
	}
	b.tokens--
	return true
}

func (b *bucket) fill(now time.Time) {
	if n := int(now.Sub(b.since) / bucketRefill); n > 0 {
		b.tokens = min(bucketSize, b.tokens+n)
		b.since = b.since.Add(time.Duration(n) * bucketRefill)
	}
	if b.tokens == bucketSize {
		b.since = now
	}
}

// dropBucket forgets the fullest bucket: the one that it matters least for.
func (s *retries) dropBucket(now time.Time) {
	var (
		fullest binary.JID
		most    = -1
	)
	for chat, b := range s.buckets {
		if b.fill(now); b.tokens > most {
			fullest, most = chat, b.tokens
		}
	}
	delete(s.buckets, fullest)
}
