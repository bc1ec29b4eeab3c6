package send_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// countingStore is a backend that counts.
type countingStore struct {
	store.Backend
	reads, writes, rows atomic.Int32
}

func (c *countingStore) Read(ctx context.Context, id store.AccountID, keys []store.Key) ([]store.Record, uint64, error) {
	c.reads.Add(1)
	return c.Backend.Read(ctx, id, keys)
}

func (c *countingStore) List(ctx context.Context, id store.AccountID, q store.Query) ([]store.Key, error) {
	c.reads.Add(1)
	return c.Backend.List(ctx, id, q)
}

func (c *countingStore) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	c.writes.Add(1)
	c.rows.Add(int32(b.Len()))
	return c.Backend.Apply(ctx, id, b)
}

// counts returns the counts and begins anew.
func (c *countingStore) counts() (reads, writes, rows int32) {
	return c.reads.Swap(0), c.writes.Swap(0), c.rows.Swap(0)
}

// published returns the bundle of a fresh device.
func published(t testing.TB) *signal.Bundle {
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

// A crowd is a group of devices that nobody has a session with, and a server
// that has their bundles and counts requests.
type crowd struct {
	devices  []binary.JID
	bundles  map[binary.JID]*signal.Bundle
	errs     map[binary.JID]error
	requests atomic.Int32
}

func newCrowd(t testing.TB, users, devices int) *crowd {
	t.Helper()
	c := &crowd{bundles: map[binary.JID]*signal.Bundle{}, errs: map[binary.JID]error{}}
	for u := range users {
		for d := range devices {
			j := binary.JID{User: fmt.Sprint(100000000000100 + int64(u)), Server: binary.ServerLID, Device: uint16(d)}
			c.devices = append(c.devices, j)
			c.bundles[j] = published(t)
		}
	}
	return c
}

// Bundles answers in another order than it is asked.
func (c *crowd) Bundles(_ context.Context, devices []binary.JID) ([]send.BundleAnswer, error) {
	c.requests.Add(1)
	out := make([]send.BundleAnswer, 0, len(devices))
	for _, d := range slices.Backward(devices) {
		if b := c.bundles[d]; b != nil || c.errs[d] != nil {
			out = append(out, send.BundleAnswer{Device: d, Bundle: b, Err: c.errs[d]})
		}
	}
	return out, nil
}

var (
	coldSelf = send.Self{
		LID:            binary.JID{User: "100000000000001", Server: binary.ServerLID, Device: 7},
		DeviceIdentity: []byte("identity"),
	}
	coldGroup = binary.JID{User: "120363000000000001", Server: binary.ServerGroup}
)

func coldMessage() *send.GroupMessage {
	return &send.GroupMessage{To: coldGroup, ID: "3EB0A1B2C3D4E5F60718", Type: "text", ByLID: true, Message: []byte("\x0a\x05Hello")}
}

func accepted(context.Context, *send.GroupStanza) error { return nil }

// named returns the devices that a stanza has copies for.
func named(n *binary.Node) []binary.JID {
	list := n.Child("participants")
	if list == nil {
		return nil
	}
	var out []binary.JID
	for _, to := range list.Content.Nodes() {
		v, _ := to.Attr("jid")
		j, _ := v.JID()
		out = append(out, j)
	}
	return out
}

// TestThousandDevices: a first message costs a fixed number of calls, whatever
// the number of devices, and the second one no work per device. Workers do not
// show in what goes out.
func TestThousandDevices(t *testing.T) {
	c := newCrowd(t, 350, 3)
	var first [2][]byte
	for i, workers := range []int{1, 8} {
		restore := random.Install(rand.NewChaCha8([32]byte{9}))
		defer restore()
		rows := &countingStore{Backend: store.NewMemory()}
		a, err := signal.CreateAccount(t.Context(), rows, "a", signal.AccountOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: send.Sessions{Source: c, Workers: workers}})
		roster := send.NewRoster(c.devices)
		rows.counts()
		c.requests.Store(0)
		var prepared [2]int32
		s, err := tracker.Group(t.Context(), roster, coldMessage(), func(context.Context, *send.GroupStanza) error {
			prepared[0], prepared[1], _ = rows.counts()
			return nil
		})
		if err != nil || len(s.Failures) > 0 {
			t.Fatal(err, len(s.Failures))
		}
		_, marked, _ := rows.counts()
		if prepared[0] > 3 || prepared[1]+marked > 2 || c.requests.Load() != 1 {
			t.Errorf("%d reads, %d writes and %d after the delivery, %d requests", prepared[0], prepared[1], marked, c.requests.Load())
		}
		if got := named(s.Node); !slices.Equal(got, c.devices) {
			t.Errorf("copies for %d devices, not those of the roster in their order", len(got))
		}
		if first[i], err = binary.Marshal(s.Node); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if s, err = tracker.Group(t.Context(), roster, coldMessage(), accepted); err != nil {
				t.Fatal(err)
			}
			r, w, n := rows.counts()
			if r > 1 || w != 1 || n != 1 || c.requests.Load() != 1 || named(s.Node) != nil {
				t.Errorf("a warm message: %d reads, %d writes of %d rows, %d requests, %d copies", r, w, n, c.requests.Load()-1, len(named(s.Node)))
			}
		}
	}
	if !bytes.Equal(first[0], first[1]) {
		t.Error("the stanza by one worker is not the stanza by eight")
	}
}

// TestWarmIsFlat: a message that nobody needs the key for allocates the same in
// a group of 8 and of 512, with and without companions, and at most 8 times from
// a leased account without. One more or less is what a pool that the collector has
// emptied makes of the average.
func TestWarmIsFlat(t *testing.T) {
	if send.RaceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, durability := range []signal.Durability{signal.Durable, signal.Leased} {
		for _, companions := range []int{0, 2} {
			var got [2]float64
			for i, n := range []int{8, 512} {
				got[i] = warmAllocations(t, durability, n, companions)
			}
			if math.Abs(got[0]-got[1]) > 1 {
				t.Errorf("%d companions: %.0f allocations in a group of 8, %.0f in one of 512", companions, got[0], got[1])
			}
			if durability == signal.Leased && companions == 0 && got[0] > 8 {
				t.Errorf("%.0f allocations", got[0])
			}
		}
	}
}

// warmAllocations returns what one more message and its frame, in memory that is
// there, allocates.
func warmAllocations(t *testing.T, durability signal.Durability, members, companions int) float64 {
	t.Helper()
	c := newCrowd(t, members, 1)
	for d := range companions {
		j := binary.JID{User: coldSelf.LID.User, Server: binary.ServerLID, Device: uint16(d)}
		c.devices, c.bundles[j] = append(c.devices, j), published(t)
	}
	a, err := signal.CreateAccount(t.Context(), store.NewMemory(), "a", signal.AccountOptions{
		OpenOptions: signal.OpenOptions{Durability: durability},
	})
	if err != nil {
		t.Fatal(err)
	}
	tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: send.Sessions{Source: c}})
	roster, m := send.NewRoster(c.devices), coldMessage()
	frame := make([]byte, 0, 1<<20)
	copies := 0
	deliver := func(_ context.Context, s *send.GroupStanza) error {
		copies = len(s.Distributed)
		frame, err = binary.AppendMarshal(frame[:0], s.Node)
		return err
	}
	one := func() {
		if _, err := tracker.Group(t.Context(), roster, m, deliver); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		one()
	}
	if copies != companions {
		t.Fatalf("%d copies for %d companions", copies, companions)
	}
	return testing.AllocsPerRun(40, one)
}

// rotten makes a crowd of ten in which three devices cannot be encrypted for:
// the bundle of one has a bad signature, that of one does not parse, and of one
// there is a session record that does not parse.
func rotten(t *testing.T) (*crowd, *signal.Account, [3]binary.JID) {
	t.Helper()
	c := newCrowd(t, 5, 2)
	rows := store.NewMemory()
	a, err := signal.CreateAccount(t.Context(), rows, "a", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bad := [3]binary.JID{c.devices[2], c.devices[5], c.devices[7]}
	c.bundles[bad[0]].Signature[0] ^= 1
	c.bundles[bad[1]], c.errs[bad[1]] = nil, fmt.Errorf("no signed prekey: %w", signal.ErrMalformed)
	info, err := rows.OpenAccount(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var b store.Batch
	b.Put(store.Session(send.SignalAddress(bad[2]).String()), []byte{0xff, 0xff})
	if _, err := rows.Apply(t.Context(), info.ID, &b); err != nil {
		t.Fatal(err)
	}
	return c, a, bad
}

func checkRotten(t *testing.T, c *crowd, s *send.Stanza, bad [3]binary.JID) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(c.devices), func(d binary.JID) bool { return slices.Contains(bad[:], d) })
	if got := named(s.Node); !slices.Equal(got, want) {
		t.Errorf("copies for %v, want %v", got, want)
	}
	reasons := [3]error{signal.ErrBadSignature, signal.ErrMalformed, signal.ErrCorruptRecord}
	if len(s.Failures) != 3 {
		t.Fatalf("failures %v", s.Failures)
	}
	for i, f := range s.Failures {
		if f.Device != bad[i] || !errors.Is(f.Err, reasons[i]) {
			t.Errorf("failure %v, want %v of %v", f, reasons[i], bad[i])
		}
	}
	if !s.PrimaryFailed() {
		t.Error("a primary device is among the failures")
	}
	if c.requests.Load() != 1 {
		t.Errorf("%d requests", c.requests.Load())
	}
}

// TestRottenBundle: what is wrong with one device costs that device.
func TestRottenBundle(t *testing.T) {
	c, a, bad := rotten(t)
	sessions := send.Sessions{Source: c}
	p, err := sessions.For(t.Context(), a, c.devices)
	if err != nil {
		t.Fatal(err)
	}
	s, err := send.Direct(t.Context(), p, &send.DirectMessage{
		Self: coldSelf, To: binary.JID{User: "100000000000100", Server: binary.ServerLID}, ID: "3EB0", Type: "text",
		Message: []byte("\x0a\x05Hello"), Devices: c.devices, Address: p.Address,
	})
	if err != nil {
		t.Fatal(err)
	}
	checkRotten(t, c, s, bad)

	c, a, bad = rotten(t)
	tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: send.Sessions{Source: c}})
	g, err := tracker.Group(t.Context(), send.NewRoster(c.devices), coldMessage(), accepted)
	if err != nil {
		t.Fatal(err)
	}
	checkRotten(t, c, &g.Stanza, bad)
	name := signal.SenderKeyName{Group: coldGroup.String(), Sender: send.SignalAddress(coldSelf.LID)}
	d, err := a.SenderKeyDevices(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range c.devices {
		if addr := send.SignalAddress(j); d.Has(addr) == slices.Contains(bad[:], j) {
			t.Errorf("%v holds the key: %v", j, d.Has(addr))
		}
	}
}

// TestRequired: a message that all must be able to read does not go out
// otherwise.
func TestRequired(t *testing.T) {
	c, a, bad := rotten(t)
	tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: send.Sessions{Source: c}})
	m := coldMessage()
	m.Required = true
	deliver := func(context.Context, *send.GroupStanza) error {
		t.Error("it was delivered")
		return nil
	}
	var missed *send.DistributionError
	if _, err := tracker.Group(t.Context(), send.NewRoster(c.devices), m, deliver); !errors.As(err, &missed) || len(missed.Failures) != 3 {
		t.Fatalf("%v, want a *DistributionError for three", err)
	}
	good := slices.DeleteFunc(slices.Clone(c.devices), func(d binary.JID) bool { return slices.Contains(bad[:], d) })
	roster := send.NewRoster(append(good, coldSelf.LID))
	for range 2 { // the second time nobody lacks the key
		if _, err := tracker.Group(t.Context(), roster, m, accepted); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRequestFails: without bundles a message goes out to those that there are
// sessions with, a direct one does not.
func TestRequestFails(t *testing.T) {
	c := newCrowd(t, 3, 1)
	a, err := signal.CreateAccount(t.Context(), store.NewMemory(), "a", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.ProcessBundle(t.Context(), send.SignalAddress(c.devices[1]), c.bundles[c.devices[1]]); err != nil {
		t.Fatal(err)
	}
	down := errors.New("no answer")
	sessions := send.Sessions{Source: send.BundleFunc(func(_ context.Context, devices []binary.JID) ([]send.BundleAnswer, error) {
		if !slices.Equal(devices, []binary.JID{c.devices[0], c.devices[2]}) {
			t.Errorf("asked for %v", devices)
		}
		return nil, down
	})}
	if _, err := sessions.For(t.Context(), a, c.devices); !errors.Is(err, down) || strings.Contains(err.Error(), "1000000") {
		t.Errorf("direct: %v", err)
	}
	tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: sessions})
	s, err := tracker.Group(t.Context(), send.NewRoster(c.devices), coldMessage(), accepted)
	if err != nil || len(s.Failures) != 2 || !errors.Is(s.Failures[0].Err, down) || !slices.Equal(named(s.Node), c.devices[1:2]) {
		t.Errorf("group: %+v, %v", s, err)
	}
}

// TestLIDSessions: a session of the LID is preferred to one of the phone
// number, and the one that is started when the LID is known.
func TestLIDSessions(t *testing.T) {
	c := newCrowd(t, 3, 1)
	a, err := signal.CreateAccount(t.Context(), store.NewMemory(), "a", signal.AccountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var devices []binary.JID
	lids := map[binary.JID]binary.JID{}
	for i, lid := range c.devices {
		pn := binary.JID{User: fmt.Sprint(15550000100 + int64(i)), Server: binary.ServerUser}
		devices, lids[pn] = append(devices, pn), lid
		c.bundles[pn] = c.bundles[lid]
	}
	stranger := binary.JID{User: "15550000200", Server: binary.ServerUser}
	devices, c.bundles[stranger] = append(devices, stranger), published(t)
	start := func(j binary.JID) {
		if _, err := a.ProcessBundle(t.Context(), send.SignalAddress(j), c.bundles[j]); err != nil {
			t.Fatal(err)
		}
	}
	start(devices[0])       // of the number only
	start(devices[1])       // of both
	start(lids[devices[1]]) //
	sessions := send.Sessions{Source: c, LID: func(d binary.JID) (binary.JID, bool) { l, ok := lids[d]; return l, ok }}
	p, err := sessions.For(t.Context(), a, devices)
	if err != nil {
		t.Fatal(err)
	}
	want := []binary.JID{devices[0], lids[devices[1]], lids[devices[2]], stranger}
	for i, d := range devices {
		if got := p.Address(d); got != send.SignalAddress(want[i]) {
			t.Errorf("device %d: session of %v, want %v", i, got, want[i])
		}
	}
	items := make([]signal.Outgoing, len(devices))
	for i, d := range devices {
		items[i] = signal.Outgoing{To: p.Address(d), Plaintext: []byte("x")}
	}
	results, err := p.EncryptMany(t.Context(), items)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Err != nil {
			t.Errorf("device %d: %v", i, r.Err)
		}
	}
	if c.requests.Load() != 1 || len(p.IdentityChanged()) != 0 {
		t.Errorf("%d requests, %v", c.requests.Load(), p.IdentityChanged())
	}
}

// BenchmarkTrackerGroup is a message that nobody needs the key for, to a group
// of 512, from a leased account in memory, and its frame.
func BenchmarkTrackerGroup(b *testing.B) {
	c := newCrowd(b, 512, 1)
	a, err := signal.CreateAccount(b.Context(), store.NewMemory(), "a", signal.AccountOptions{
		OpenOptions: signal.OpenOptions{Durability: signal.Leased},
	})
	if err != nil {
		b.Fatal(err)
	}
	tracker := send.NewTracker(a, coldSelf, send.TrackerOptions{Sessions: send.Sessions{Source: c}})
	roster, m := send.NewRoster(c.devices), coldMessage()
	var frame []byte
	deliver := func(_ context.Context, s *send.GroupStanza) error {
		frame, err = binary.AppendMarshal(frame[:0], s.Node)
		return err
	}
	if _, err := tracker.Group(b.Context(), roster, m, deliver); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tracker.Group(b.Context(), roster, m, deliver); err != nil {
			b.Fatal(err)
		}
	}
}
