package send

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// A band is a group with a server that has the bundles of its devices, seen by
// the account that sends to it.
type band struct {
	testing.TB
	*signal.Account
	*Tracker
	rows    *store.Memory
	group   binary.JID
	name    signal.SenderKeyName
	bundles map[binary.JID]*signal.Bundle
	asked   atomic.Int32
}

var bandSelf = Self{
	PN:             binary.JID{User: "15550000001", Server: binary.ServerUser, Device: 7},
	DeviceIdentity: []byte("identity"),
}

func newBand(t testing.TB, o TrackerOptions) *band {
	t.Helper()
	b := &band{
		TB: t, rows: store.NewMemory(), bundles: map[binary.JID]*signal.Bundle{},
		group: binary.JID{User: "120363000000000001", Server: binary.ServerGroup},
	}
	b.name = signal.SenderKeyName{Group: b.group.String(), Sender: SignalAddress(bandSelf.PN)}
	var err error
	if b.Account, err = signal.CreateAccount(t.Context(), b.rows, "a", signal.AccountOptions{}); err != nil {
		t.Fatal(err)
	}
	o.Sessions.Source = BundleFunc(func(_ context.Context, devices []binary.JID) ([]BundleAnswer, error) {
		b.asked.Add(1)
		var out []BundleAnswer
		for _, d := range devices {
			if bundle := b.bundles[d]; bundle != nil {
				out = append(out, BundleAnswer{Device: d, Bundle: bundle})
			}
		}
		return out, nil
	})
	b.Tracker = NewTracker(b.Account, bandSelf, o)
	return b
}

// player returns a device of a user, which has a bundle unless it is mute.
func (b *band) player(user, device int) binary.JID {
	b.Helper()
	j := binary.JID{User: fmt.Sprint(15550000001 + int64(user)), Server: binary.ServerUser, Device: uint16(device)}
	if b.bundles[j] == nil {
		b.bundles[j] = freshBundle(b.TB)
	}
	return j
}

func freshBundle(t testing.TB) *signal.Bundle {
	t.Helper()
	identity, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signal.GenerateSignedPreKey(3, identity, 0)
	if err != nil {
		t.Fatal(err)
	}
	one, err := signal.GeneratePreKey(7)
	if err != nil {
		t.Fatal(err)
	}
	return &signal.Bundle{
		RegistrationID: 4711, Identity: identity.PublicKey(),
		SignedPreKeyID: signed.ID, SignedPreKey: signed.Public, Signature: signed.Signature,
		HasPreKey: true, PreKeyID: one.ID, PreKey: one.Public,
	}
}

func (b *band) message() *GroupMessage {
	return &GroupMessage{To: b.group, ID: messageID, Type: "text", Message: hello}
}

// play sends a message and returns the devices that got the key with it.
func (b *band) play(r *Roster) []binary.JID {
	b.Helper()
	s, err := b.Group(b.Context(), r, b.message(), func(context.Context, *GroupStanza) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
	return s.Distributed
}

func (b *band) want(what string, r *Roster, devices ...binary.JID) {
	b.Helper()
	if got := b.play(r); !slices.Equal(got, devices) {
		b.Errorf("%s: the key goes to %v, want %v", what, got, devices)
	}
}

func (b *band) holders() signal.SenderKeyDevices {
	b.Helper()
	d, err := b.SenderKeyDevices(b.Context(), b.name)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// TestPrimaryHolds: a companion has what it needs only if the primary has, and a
// primary only if it was encrypted for. A companion without a bundle counts as
// a holder until it asks.
func TestPrimaryHolds(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	p, c, other := b.player(1, 0), b.player(1, 4), b.player(2, 0)
	r := NewRoster([]binary.JID{p, c, other, bandSelf.PN})
	bundle := b.bundles[p]
	delete(b.bundles, p)
	b.want("no bundle of the primary", r, c, other)
	b.want("still none", r, c)
	b.bundles[p] = bundle
	b.want("a bundle of the primary", r, p, c)
	b.want("all hold it", r)

	b = newBand(t, TrackerOptions{})
	p, c = b.player(1, 0), b.player(1, 4)
	r = NewRoster([]binary.JID{p, c})
	bundle = b.bundles[c]
	delete(b.bundles, c)
	b.want("no bundle of the companion", r, p)
	b.want("it cannot be helped", r)
	b.bundles[c] = bundle
	b.want("nor does anybody look", r)
	if err := b.Cool(t.Context(), b.group, c); err != nil {
		t.Fatal(err)
	}
	b.want("it has asked", r, c)
	b.want("it has it", r)
}

// TestOwnCompanions: devices of our own get the key with every message, hold it
// never, and nobody looks for their sessions after they are there.
func TestOwnCompanions(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	phone, tablet, other := b.player(0, 0), b.player(0, 3), b.player(1, 0)
	r := NewRoster([]binary.JID{other, phone, tablet, bandSelf.PN})
	b.want("at first", r, other, phone, tablet)
	for range 3 {
		b.want("each time", r, phone, tablet)
	}
	d := b.holders()
	if !slices.Equal(d.Devices, []signal.Address{SignalAddress(other)}) || len(d.Sent) != 2 || b.asked.Load() != 1 {
		t.Errorf("holders %+v, bundles asked for %d times", d, b.asked.Load())
	}
	// A session that went away is missed once.
	if err := b.DeleteSession(t.Context(), SignalAddress(phone)); err != nil {
		t.Fatal(err)
	}
	b.want("a session is gone", r, tablet)
	b.want("it is started anew", r, phone, tablet)
	// One that leaves has had the key.
	r = NewRoster([]binary.JID{other, phone, bandSelf.PN})
	b.want("a companion is gone", r, other, phone)
	if fresh := b.holders(); fresh.KeyID == d.KeyID {
		t.Error("the key stays although a companion is gone")
	}
}

// TestWhoLeaves: whoever was sent the key makes it be replaced by leaving, also
// who is not known to hold it.
func TestWhoLeaves(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y, z := b.player(1, 0), b.player(2, 0), b.player(3, 0)
	all, two := NewRoster([]binary.JID{x, y, z}), NewRoster([]binary.JID{x, y})
	lost := errors.New("lost")
	if _, err := b.Group(t.Context(), all, b.message(), func(context.Context, *GroupStanza) error { return lost }); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if d := b.holders(); len(d.Devices) != 0 || len(d.Sent) != 3 {
		t.Fatalf("holders %+v", d)
	}
	key := b.holders().KeyID
	// The process ends here.
	b.Tracker = NewTracker(b.Account, bandSelf, b.opts)
	b.want("one has left", two, x, y)
	if b.holders().KeyID == key {
		t.Error("the key stays")
	}
	key = b.holders().KeyID
	b.want("nobody has", two)
	if b.holders().KeyID != key {
		t.Error("the key does not stay")
	}
	// A caller who was slow: the newer roster is the one that counts.
	b.want("an old roster", all)
	if err := b.Rotate(t.Context(), b.group); err != nil {
		t.Fatal(err)
	}
	b.want("on demand", two, x, y)
}

// TestWhoWasSentIt: what is known about who was sent a key is complete, however
// it came to them.
func TestWhoWasSentIt(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y, own := b.player(1, 0), b.player(2, 0), b.player(0, 3)
	all, two := NewRoster([]binary.JID{x, y, own}), NewRoster([]binary.JID{x, own})
	lost := errors.New("lost")
	replaced := func(what string, do func()) {
		t.Helper()
		key := b.holders().KeyID
		do()
		if b.holders().KeyID == key {
			t.Errorf("%s: the key stays", what)
		}
	}
	// A key that was not sent through a tracker may be anywhere.
	if _, err := b.CreateSenderKey(t.Context(), b.name); err != nil {
		t.Fatal(err)
	}
	replaced("a key from elsewhere", func() { b.want("a key from elsewhere", all, x, y, own) })
	// A fresh key that gets lost on its way to those who had the one before.
	if err := b.Rotate(t.Context(), b.group); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Group(t.Context(), all, b.message(), func(context.Context, *GroupStanza) error { return lost }); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if d := b.holders(); len(d.Sent) != 3 {
		t.Errorf("holders %+v", d)
	}
	replaced("one leaves who was sent the fresh key", func() { b.want("one leaves", two, x, own) })
	all, two = NewRoster(all.devices), NewRoster(two.devices)
	// Likewise where the key is replaced because somebody leaves.
	b.want("one comes back", all, y, own)
	if _, err := b.Group(t.Context(), two, b.message(), func(context.Context, *GroupStanza) error { return lost }); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	if d := b.holders(); len(d.Sent) != 2 {
		t.Errorf("holders %+v", d)
	}
	b.want("again", two, x, own)
	// A companion that comes when nobody else needs the key.
	tablet := b.player(0, 4)
	three := NewRoster([]binary.JID{x, own, tablet})
	b.want("a companion comes", three, own, tablet)
	if d := b.holders(); len(d.Sent) != 2 {
		t.Errorf("holders %+v", d)
	}
	replaced("the companion goes", func() { b.want("the companion goes", NewRoster([]binary.JID{x, own}), x, own) })
}

// TestDeliveredIsRecorded: who has the key is recorded although the caller has
// no time left.
func TestDeliveredIsRecorded(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x := b.player(1, 0)
	r := NewRoster([]binary.JID{x})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.Group(ctx, r, b.message(), func(context.Context, *GroupStanza) error {
		cancel()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := b.holders(); !d.Has(SignalAddress(x)) {
		t.Errorf("holders %+v", d)
	}
	b.want("it has the key", r)
}

// TestThreshold: a key that is used up is replaced.
func TestThreshold(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x := b.player(1, 0)
	r := NewRoster([]binary.JID{x})
	b.want("at first", r, x)
	key := b.holders().KeyID
	for i := range signal.RotationThreshold - 1 {
		if got := b.play(r); len(got) > 0 {
			t.Fatalf("message %d distributes", i+2)
		}
	}
	if b.holders().KeyID != key {
		t.Error("replaced too early")
	}
	b.want("at the threshold", r, x)
	if b.holders().KeyID == key {
		t.Error("not replaced")
	}
	b.want("after it", r)
}

// TestKeyChanges: a key that somebody else has replaced or deleted is noticed
// before a message goes out under it.
func TestKeyChanges(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y := b.player(1, 0), b.player(2, 0)
	r := NewRoster([]binary.JID{x, y})
	b.want("at first", r, x, y)
	if err := b.DeleteSenderKey(t.Context(), b.name); err != nil {
		t.Fatal(err)
	}
	b.want("deleted", r, x, y)
	other := NewTracker(b.Account, bandSelf, b.opts)
	if err := other.Rotate(t.Context(), b.group); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Group(t.Context(), r, b.message(), func(context.Context, *GroupStanza) error { return nil }); err != nil {
		t.Fatal(err)
	}
	b.want("replaced and distributed by another process", r)
	if err := other.Cool(t.Context(), b.group, y); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RotateSenderKey(t.Context(), b.name); err != nil {
		t.Fatal(err)
	}
	b.want("replaced and distributed to nobody", r, x, y)
	b.want("after that", r)
}

// TestAskedInFlight: a device that asks for the key while the stanza with it is
// being delivered needs it again.
func TestAskedInFlight(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y := b.player(1, 0), b.player(2, 0)
	r := NewRoster([]binary.JID{x, y})
	_, err := b.Group(t.Context(), r, b.message(), func(ctx context.Context, _ *GroupStanza) error {
		return b.Cool(ctx, b.group, y)
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := b.holders(); !slices.Equal(d.Devices, []signal.Address{SignalAddress(x)}) {
		t.Errorf("holders %+v", d)
	}
	b.want("it has asked", r, y)
	b.want("it has it", r)
	if err := b.Reset(t.Context(), b.group); err != nil {
		t.Fatal(err)
	}
	b.want("after a reset", r, x, y)
}

// TestMemo: what a message found out holds for the next one as long as the
// roster and the holders are the same objects and nothing about them changed.
func TestMemo(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x, y := b.player(1, 0), b.player(2, 0)
	devices := []binary.JID{x, y}
	r := NewRoster(devices)
	k := b.use(trackedName{group: b.group})
	defer b.leave(k)
	valid := func(what string, r *Roster, want bool) {
		t.Helper()
		if got := k.warm(r) != nil; got != want {
			t.Errorf("%s: memo valid %v, want %v", what, got, want)
		}
	}
	valid("before anything", r, false)
	b.play(r)
	valid("after the first message", r, true)
	same := NewRoster(devices)
	valid("an equal roster that is another object", same, false)
	b.want("nobody needs the key", same)
	valid("after a message to it", same, true)
	valid("the roster before", r, false)
	if err := b.Cool(t.Context(), b.group, b.player(3, 0)); err != nil {
		t.Fatal(err)
	}
	valid("a device that was not sent the key has asked for it", same, true)
	if err := b.Cool(t.Context(), b.group, y); err != nil {
		t.Fatal(err)
	}
	valid("a holder has asked", same, false)
	b.want("a holder has asked", same, y)
	valid("it has the key again", same, true)
	k.forget(k.holders)
	valid("holders that are read anew", same, false)
	b.want("nobody needs the key", same)
	valid("after a message", same, true)
	if err := b.Rotate(t.Context(), b.group); err != nil {
		t.Fatal(err)
	}
	valid("the key is to be replaced", same, false)
	// Under our other name it is another key.
	lid := NewTracker(b.Account, Self{PN: bandSelf.PN, LID: binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 7}}, b.opts)
	m := b.message()
	b.want("on demand", same, x, y)
	m.ByLID = true
	s, err := lid.Group(t.Context(), same, m, func(context.Context, *GroupStanza) error { return nil })
	if err != nil || len(s.Distributed) != 2 {
		t.Errorf("under the LID the key goes to %d devices, %v", len(s.Distributed), err)
	}
}

// TestAtOnce: of messages that all find that the key has to be distributed, one
// does, and the others wait for it and go out without.
func TestAtOnce(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	var devices []binary.JID
	for i := range 9 {
		devices = append(devices, b.player(1+i/3, i%3))
	}
	for round := range 5 {
		r := NewRoster(devices[:5+round])
		var copies, inside atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 5 {
					s, err := b.Group(t.Context(), r, b.message(), func(_ context.Context, s *GroupStanza) error {
						if len(s.Distributed) > 0 {
							if inside.Add(1) > 1 {
								t.Error("two distribute at once")
							}
							defer inside.Add(-1)
						}
						return nil
					})
					if err != nil {
						t.Error(err)
						return
					}
					copies.Add(int32(len(s.Distributed)))
				}
			})
		}
		wg.Wait()
		want := int32(1)
		if round == 0 {
			want = 5
		}
		if copies.Load() != want {
			t.Errorf("round %d: %d copies of the key, want %d", round, copies.Load(), want)
		}
	}
	// Who waits stops waiting with its context.
	ctx, cancel := context.WithCancel(t.Context())
	r := NewRoster(devices[:3])
	_, err := b.Group(t.Context(), r, b.message(), func(context.Context, *GroupStanza) error {
		cancel()
		if _, err := b.Group(ctx, r, b.message(), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled wait: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestManyGroups: groups that are not kept in memory are read again.
func TestManyGroups(t *testing.T) {
	b := newBand(t, TrackerOptions{MaxGroups: 2})
	x := b.player(1, 0)
	r := NewRoster([]binary.JID{x})
	for round := range 3 {
		for i := range 6 {
			b.group.User = fmt.Sprint(120363000000000001 + int64(i))
			if got := len(b.play(r)); got != 1 && round == 0 || got != 0 && round > 0 {
				t.Errorf("round %d: the key goes to %d devices", round, got)
			}
		}
	}
	if len(b.keys) > 2 {
		t.Errorf("%d groups in memory", len(b.keys))
	}
}

// TestNobody: a group of nobody but the sender is sent to without a copy.
func TestNobody(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	r := NewRoster([]binary.JID{bandSelf.PN})
	b.want("at first", r)
	key := b.holders().KeyID
	b.want("then", r)
	if d := b.holders(); !d.Exists || d.KeyID != key {
		t.Errorf("the key changes: %+v", d)
	}
}

// TestUnreadableHolders: what cannot be read any more costs a fresh key.
func TestUnreadableHolders(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x := b.player(1, 0)
	r := NewRoster([]binary.JID{x})
	b.want("at first", r, x)
	info, err := b.rows.OpenAccount(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var batch store.Batch
	batch.Put(store.SenderKeyDevice(b.name.String()), []byte{0xff})
	if _, err := b.rows.Apply(t.Context(), info.ID, &batch); err != nil {
		t.Fatal(err)
	}
	b.Tracker = NewTracker(b.Account, bandSelf, b.opts)
	b.want("unreadable", r, x)
	b.want("mended", r)
}

// TestRetryVerdicts: what is left to do about a receipt.
func TestRetryVerdicts(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newBand(t, TrackerOptions{Now: func() time.Time { return now }})
	x := b.player(1, 0)
	verdict := func(what string, r RetryReceipt, want RetryVerdict) {
		t.Helper()
		r.Chat, r.Device = b.group, x
		if got, err := b.Retry(t.Context(), &r); err != nil || got != want {
			t.Errorf("%s: verdict %d, %v; want %d", what, got, err, want)
		}
	}
	verdict("not listed, no keys", RetryReceipt{ID: "a", Count: 1}, RetryUnknownDevice)
	verdict("not listed, with keys", RetryReceipt{ID: "a", Count: 1, Bundle: b.bundles[x]}, RetryResend)
	verdict("again", RetryReceipt{ID: "a", Count: 1, Listed: true}, RetryRepeated)
	for n := 2; n <= MaxRetries; n++ {
		verdict("asked again", RetryReceipt{ID: "a", Count: n, Listed: true}, RetryResend)
	}
	verdict("asked too often", RetryReceipt{ID: "a", Count: MaxRetries + 1, Listed: true}, RetryExhausted)
	verdict("an earlier one", RetryReceipt{ID: "a", Count: 2, Listed: true}, RetryRepeated)
	for i := range bucketSize - MaxRetries {
		verdict("other messages", RetryReceipt{ID: fmt.Sprint("b", i), Count: 1, Listed: true}, RetryResend)
	}
	verdict("too many", RetryReceipt{ID: "c", Count: 1, Listed: true}, RetryLimited)
	now = now.Add(6 * time.Second)
	verdict("one more after 6 s", RetryReceipt{ID: "d", Count: 1, Listed: true}, RetryResend)
	verdict("too many", RetryReceipt{ID: "e", Count: 1, Listed: true}, RetryLimited)
	now = now.Add(time.Hour)
	for i := range bucketSize {
		verdict("after an hour", RetryReceipt{ID: fmt.Sprint("f", i), Count: 1, Listed: true}, RetryResend)
	}
	verdict("too many", RetryReceipt{ID: "g", Count: 1, Listed: true}, RetryLimited)
	for _, r := range []*RetryReceipt{
		{Chat: b.group, Device: x, Count: 1, Listed: true},
		{Chat: b.group, Device: x, ID: "a", Listed: true},
		{Device: x, ID: "a", Count: 1},
		{Chat: b.group, ID: "a", Count: 1},
	} {
		if _, err := b.Retry(t.Context(), r); !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	// What is remembered is bounded.
	for i := range 2 * maxRememberedRetries {
		b.retries.remember(&RetryReceipt{Chat: b.group, Device: x, ID: fmt.Sprint(i), Count: 1})
		b.retries.allow(binary.JID{User: fmt.Sprint(i), Server: binary.ServerGroup}, now)
	}
	if len(b.retries.seen) != maxRememberedRetries || len(b.retries.buckets) > maxBuckets {
		t.Errorf("%d receipts and %d chats are remembered", len(b.retries.seen), len(b.retries.buckets))
	}
	verdict("the empty bucket is not the one that is forgotten", RetryReceipt{ID: "h", Count: 1, Listed: true}, RetryLimited)
}

// TestRetryRepairs: what a receipt does to the session.
func TestRetryRepairs(t *testing.T) {
	b := newBand(t, TrackerOptions{})
	x := b.player(1, 0)
	r := NewRoster([]binary.JID{x})
	b.want("at first", r, x)
	addr := SignalAddress(x)
	session := func() signal.SessionInfo {
		t.Helper()
		info, err := b.SessionInfo(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	n := 0
	retry := func(receipt RetryReceipt) error {
		t.Helper()
		n++
		receipt.Chat, receipt.Device, receipt.Listed = b.group, x, true
		if receipt.ID == "" {
			receipt.ID = fmt.Sprint("message ", n)
		}
		v, err := b.Retry(t.Context(), &receipt)
		if err == nil && v != RetryResend {
			t.Errorf("verdict %d", v)
		}
		return err
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before := session()
	check(retry(RetryReceipt{Count: 1}))
	if session() != before {
		t.Error("a first receipt without keys changes the session")
	}
	b.want("after a receipt", r, x)
	before = session()

	// The bundle that the session was started from, which nobody answered.
	check(retry(RetryReceipt{Count: 1, Bundle: b.bundles[x]}))
	if session() != before {
		t.Error("the same bundle starts another session")
	}
	b.want("after a receipt", r, x)
	fresh := *b.bundles[x]
	one, err := signal.GeneratePreKey(8)
	check(err)
	fresh.PreKeyID, fresh.PreKey = one.ID, one.Public
	check(retry(RetryReceipt{Count: 1, Bundle: &fresh}))
	if got := session(); got.Archived != 1 || got.PreKeyID != 8 || got.SenderCounter != 0 {
		t.Errorf("another bundle: %+v", got)
	}

	// A bad bundle is an error, and the receipt can be given again.
	bad := fresh
	bad.PreKeyID++
	bad.Signature[0] ^= 1
	before = session()
	for range 2 {
		if err := retry(RetryReceipt{ID: "bad", Count: 1, Bundle: &bad}); !errors.Is(err, signal.ErrBadSignature) {
			t.Errorf("a bad bundle: %v", err)
		}
	}
	if session() != before {
		t.Error("a bad bundle changes the session")
	}
	b.want("the key is sent all the same", r, x)

	// The third receipt for a message, with the session of the second.
	check(retry(RetryReceipt{ID: "stuck", Count: 2}))
	check(retry(RetryReceipt{ID: "stuck", Count: 3}))
	if session().Exists {
		t.Error("a session stays that could not be read twice")
	}
	b.want("with a bundle", r, x)
	check(retry(RetryReceipt{ID: "mended", Count: 2}))
	check(retry(RetryReceipt{ID: "other", Count: 1, Bundle: &fresh}))
	before = session()
	check(retry(RetryReceipt{ID: "mended", Count: 3}))
	if session() != before {
		t.Error("a session is deleted that was replaced since the second receipt")
	}

	// Another registration id: the device was set up anew.
	check(retry(RetryReceipt{Count: 1, RegistrationID: fresh.RegistrationID}))
	if session() != before {
		t.Error("the same registration id changes the session")
	}
	check(retry(RetryReceipt{Count: 1, RegistrationID: fresh.RegistrationID + 1}))
	if session().Exists {
		t.Error("the session of another registration id stays")
	}
	b.want("with a bundle", r, x)
	anew := freshBundle(t)
	anew.RegistrationID = 9
	check(retry(RetryReceipt{Count: 1, Bundle: anew}))
	if got := session(); got.RemoteRegistrationID != 9 || got.Archived != 0 {
		t.Errorf("set up anew: %+v", got)
	}

	// A record that does not parse is replaced.
	info, err := b.rows.OpenAccount(t.Context(), "a")
	check(err)
	var batch store.Batch
	batch.Put(store.Session(addr.String()), []byte{0xff})
	_, err = b.rows.Apply(t.Context(), info.ID, &batch)
	check(err)
	check(retry(RetryReceipt{Count: 1, Bundle: anew}))
	if got := session(); !got.Pending || got.RemoteRegistrationID != 9 {
		t.Errorf("after a corrupt record: %+v", got)
	}

	// A direct message has no sender key to give again.
	check(retry(RetryReceipt{Count: 1}))
	b.want("after a receipt", r, x)
	if _, err := b.Retry(t.Context(), &RetryReceipt{Chat: x.NonAD(), Device: x, ID: "direct", Count: 1, Listed: true}); err != nil {
		t.Fatal(err)
	}
	b.want("after one for a direct message", r)
}
