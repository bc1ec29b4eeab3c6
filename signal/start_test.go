package signal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/signal/store"
)

// startFixture is an account with bundles of others: every fifth bundle has a
// bad signature, every seventh address has a session already.
func startFixture(t *testing.T, n int) (a *Account, rows *store.Memory, items []Outgoing, start *Start) {
	t.Helper()
	restore := random.Install(rand.NewChaCha8([32]byte{1}))
	defer restore()
	rows = store.NewMemory()
	a = must(CreateAccount(t.Context(), rows, "a", AccountOptions{}))(t)
	bob := newDevice(t, 9, 3)
	start = &Start{}
	for i := range n {
		addr := Address{Name: fmt.Sprintf("15550001%03d@c.us", i)}
		b := *bob.bundle(uint32(i % 3))
		if i%7 == 3 {
			if _, err := a.ProcessBundle(t.Context(), addr, &b); err != nil {
				t.Fatal(err)
			}
		}
		if i%5 == 2 {
			b.Signature[i%64] ^= 1
		}
		items = append(items, Outgoing{addr, fmt.Appendf(nil, "message %d", i)})
		start.Bundles = append(start.Bundles, AddressedBundle{addr, &b})
	}
	return a, rows, items, start
}

// TestWorkersDoNotShow: results, draws and records are the same for any number
// of workers.
func TestWorkersDoNotShow(t *testing.T) {
	type outcome struct {
		results []EncryptResult
		started []BundleResult
		draws   []int
		records []store.Record
	}
	for _, n := range []int{1, 31, 64, 65, 200} {
		var want outcome
		for _, workers := range []int{1, 2, 3, 8, 100} {
			a, rows, items, start := startFixture(t, n)
			start.Workers = workers
			source := &countingSource{r: rand.NewChaCha8([32]byte{2})}
			restore := random.Install(source)
			results, started, err := a.EncryptManyFrom(t.Context(), items, start)
			restore()
			if err != nil {
				t.Fatal(err)
			}
			var keys []store.Key
			for i := range items {
				keys = peerKeys(keys, items[i].To)
			}
			recs, _, err := rows.Read(t.Context(), a.id, keys)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome{results, started, source.draws, recs}
			if workers == 1 {
				want = got
				for i := range results {
					fresh, rotten := i%7 != 3, i%5 == 2
					if fresh && rotten != errors.Is(results[i].Err, ErrBadSignature) || !fresh && results[i].Err != nil {
						t.Errorf("device %d: %v", i, results[i].Err)
					}
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d devices by %d workers differ from those by one", n, workers)
			}
		}
	}
}

type countingSource struct {
	r     *rand.ChaCha8
	draws []int
}

func (c *countingSource) Read(b []byte) (int, error) {
	c.draws = append(c.draws, len(b))
	return c.r.Read(b)
}

// TestStart: what is started is what was missing, once, and an operation
// without a start is as it was.
func TestStart(t *testing.T) {
	ctx := t.Context()
	a, _, items, start := startFixture(t, 8)
	if _, err := a.Encrypt(ctx, items[0].To, []byte("x")); !errors.Is(err, ErrNoSession) {
		t.Fatalf("no session: %v", err)
	}
	// The second bundle of an address, and one of nobody that is written to.
	other := *start.Bundles[0].Bundle
	other.RegistrationID = 77
	start.Bundles = append(start.Bundles, AddressedBundle{items[0].To, &other}, AddressedBundle{Address{Name: "x"}, &other})
	before := must(a.SessionInfo(ctx, items[3].To))(t)
	items = append(items, Outgoing{items[0].To, []byte("again")})
	results, started, err := a.EncryptManyFrom(ctx, items, start)
	if err != nil || len(started) != len(start.Bundles) {
		t.Fatal(len(started), err)
	}
	for i, r := range results {
		if (r.Err != nil) != (i == 2 || i == 7) {
			t.Errorf("message %d: %v", i, r.Err)
		}
	}
	if info := must(a.SessionInfo(ctx, items[0].To))(t); info.SenderCounter != 2 || info.Archived != 0 || info.RemoteRegistrationID == 77 {
		t.Errorf("session of an address named twice: %+v", info)
	}
	if info := must(a.SessionInfo(ctx, items[3].To))(t); info.Archived != before.Archived || info.SenderCounter != before.SenderCounter+1 {
		t.Errorf("the session that was there: %+v", info)
	}
	if has := must(a.HasSession(ctx, Address{Name: "x"}))(t); has {
		t.Error("a session with nobody that is written to")
	}
}

// TestStartCorrupt: a record that does not parse is neither replaced nor taken
// for none.
func TestStartCorrupt(t *testing.T) {
	ctx := t.Context()
	a, rows, items, start := startFixture(t, 2)
	var b store.Batch
	b.Put(store.Session(items[0].To.String()), []byte{0xff})
	if _, err := rows.Apply(ctx, a.id, &b); err != nil {
		t.Fatal(err)
	}
	name := SenderKeyName{Group: "g", Sender: Address{Name: "me"}}
	addrs := []Address{items[0].To, items[1].To}
	if need, err := a.NeedBundles(ctx, addrs); err != nil || !slices.Equal(need, []bool{false, true}) {
		t.Fatalf("%v, %v", need, err)
	}
	r, err := a.SendGroup(ctx, &GroupSend{
		Name: name, Distribute: addrs, Start: start,
		Wrap: func(b []byte) ([]byte, error) { return b, nil },
	})
	if err != nil || !errors.Is(r.Recipients[0].Err, ErrCorruptRecord) || r.Recipients[1].Err != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if recs, _, err := rows.Read(ctx, a.id, []store.Key{store.Session(items[0].To.String())}); err != nil || !bytes.Equal(recs[0].Value, []byte{0xff}) {
		t.Error("the record was replaced")
	}
}

// TestKnownSenderKey: a message for devices that have the key goes out under
// that key or not at all.
func TestKnownSenderKey(t *testing.T) {
	ctx := context.Background()
	a, _, _, _ := startFixture(t, 0)
	name := SenderKeyName{Group: "g", Sender: Address{Name: "me"}}
	id := uint32(7)
	g := &GroupSend{Name: name, Known: &id}
	if _, err := a.SendGroup(ctx, g); !errors.Is(err, ErrNoSenderKey) {
		t.Fatalf("no key: %v", err)
	}
	if info := must(a.SenderKeyInfo(ctx, name))(t); info.Exists {
		t.Fatal("a key was made")
	}
	first := must(a.SendGroup(ctx, &GroupSend{Name: name}))(t)
	id = first.KeyID
	second := must(a.SendGroup(ctx, g))(t)
	if second.KeyID != first.KeyID || first.Iteration != 0 || second.Iteration != 1 {
		t.Errorf("first %+v, second %+v", first, second)
	}
	for i := second.Iteration + 1; i < RotationThreshold; i++ {
		if _, err := a.SendGroup(ctx, g); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	if _, err := a.SendGroup(ctx, g); !errors.Is(err, ErrNoSenderKey) {
		t.Errorf("at the threshold: %v", err)
	}
	third := must(a.SendGroup(ctx, &GroupSend{Name: name, Rotate: true}))(t)
	if third.KeyID == id || third.Iteration != 0 {
		t.Errorf("after a rotation: %+v", third)
	}
	if _, err := a.SendGroup(ctx, g); !errors.Is(err, ErrNoSenderKey) {
		t.Errorf("another key: %v", err)
	}
}

// TestTrack: who was sent a key is written with it, and voided with it.
func TestTrack(t *testing.T) {
	ctx := t.Context()
	a, rows, items, start := startFixture(t, 4) // the third has a bad bundle
	name := SenderKeyName{Group: "g", Sender: Address{Name: "me"}}
	var addrs, track []Address
	for i := range items {
		addrs = append(addrs, items[i].To)
		track = append(track, Address{Name: fmt.Sprint("device ", i)})
	}
	track[3] = Address{}
	g := &GroupSend{
		Name: name, Distribute: addrs, Track: track, Start: start,
		Wrap: func(b []byte) ([]byte, error) { return b, nil },
	}
	state := func(want SenderKeyDevices) {
		t.Helper()
		if got := must(a.SenderKeyDevices(ctx, name))(t); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
	}
	first := must(a.SendGroup(ctx, g))(t)
	state(SenderKeyDevices{KeyID: first.KeyID, Exists: true, Sent: track[:2]})
	if err := a.MarkSenderKeyDevices(ctx, name, first.KeyID, track[1:2]); err != nil {
		t.Fatal(err)
	}
	state(SenderKeyDevices{KeyID: first.KeyID, Exists: true, Devices: track[1:2], Sent: track[:1]})
	// Again, and one more: a holder stays one.
	g.Track = slices.Clone(track)
	g.Track[3] = Address{Name: "a fourth device"}
	must(a.SendGroup(ctx, g))(t)
	state(SenderKeyDevices{KeyID: first.KeyID, Exists: true, Devices: track[1:2], Sent: []Address{g.Track[3], track[0]}})
	if err := a.ForgetSenderKeyDevices(ctx, name, []Address{track[1], {Name: "never sent it"}}); err != nil {
		t.Fatal(err)
	}
	state(SenderKeyDevices{KeyID: first.KeyID, Exists: true, Sent: []Address{g.Track[3], track[0], track[1]}})
	g.Distribute, g.Track, g.Rotate = addrs[:1], track[:1], true
	second := must(a.SendGroup(ctx, g))(t)
	state(SenderKeyDevices{KeyID: second.KeyID, Exists: true, Sent: track[:1]})
	g.Track, g.Rotate = nil, true
	third := must(a.SendGroup(ctx, g))(t)
	state(SenderKeyDevices{KeyID: third.KeyID, Exists: true})

	// A leased account has written it too, before the message can leave.
	leased := must(CreateAccount(ctx, rows, "leased", AccountOptions{OpenOptions: OpenOptions{Durability: Leased}}))(t)
	if _, _, err := leased.EncryptManyFrom(ctx, items[:2], start); err != nil {
		t.Fatal(err)
	}
	g.Track, g.Rotate = track[:1], false
	fifth := must(leased.SendGroup(ctx, g))(t)
	g.Distribute, g.Track = addrs[:2], track[:2]
	must(leased.SendGroup(ctx, g))(t)
	crashed := must(OpenAccount(ctx, rows, "leased", OpenOptions{TakeOver: true}))(t)
	want := SenderKeyDevices{KeyID: fifth.KeyID, Exists: true, Sent: track[:2]}
	if got := must(crashed.SenderKeyDevices(ctx, name))(t); !reflect.DeepEqual(got, want) {
		t.Fatalf("after a crash: %+v, want %+v", got, want)
	}
	g.Distribute = addrs[:1]

	var b store.Batch
	b.Put(name.devicesKey(), []byte{0xff})
	if _, err := rows.Apply(ctx, a.id, &b); err != nil {
		t.Fatal(err)
	}
	g.Track, g.Rotate = track[:1], false
	if _, err := a.SendGroup(ctx, g); !errors.Is(err, ErrCorruptRecord) {
		t.Errorf("a device row that cannot be read: %v", err)
	}
	g.Rotate = true
	fourth := must(a.SendGroup(ctx, g))(t)
	state(SenderKeyDevices{KeyID: fourth.KeyID, Exists: true, Sent: track[:1]})
}
