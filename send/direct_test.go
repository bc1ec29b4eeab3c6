package send

import (
	"context"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/impl"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// EncryptMany encrypts with the sessions in memory.
func (a *liveAccount) EncryptMany(_ context.Context, list []signal.Outgoing) ([]signal.EncryptResult, error) {
	items := slices.Grow(a.items[:0], len(list))[:len(list)]
	a.items = items
	for i := range list {
		items[i] = signal.Encryption{Session: a.sessions[list[i].To], Plaintext: list[i].Plaintext}
	}
	signal.EncryptMany(nil, items)
	out := make([]signal.EncryptResult, len(list))
	for i := range items {
		out[i].Ciphertext = signal.Ciphertext{Type: items[i].Type, Body: items[i].Body}
		out[i].Err = items[i].Err
	}
	return out, nil
}

// TestDirectAllocations: the stanza for one device and its frame take at most
// eight, those of the account included.
func TestDirectAllocations(t *testing.T) {
	if RaceEnabled {
		t.Skip("the race detector allocates")
	}
	to := jid(t, "15550000002@s.whatsapp.net")
	a := &liveAccount{sessions: map[signal.Address]*signal.Session{SignalAddress(to): acknowledged(t)}}
	m := &DirectMessage{
		Self: Self{PN: jid(t, "15550000001@s.whatsapp.net"), DeviceIdentity: []byte("identity")},
		To:   to, ID: messageID, Type: "text", Message: hello, Devices: []binary.JID{to},
	}
	got := testing.AllocsPerRun(100, func() {
		s, err := Direct(t.Context(), a, m)
		if err != nil || s.Node.Child("participants") == nil || s.Node.Child("device-identity") != nil {
			t.Fatal(err, s)
		}
		if _, err := binary.Marshal(s.Node); err != nil {
			t.Fatal(err)
		}
	})
	if got > 8 {
		t.Errorf("%.0f allocations", got)
	}
}

// TestDirectAllocationsOfAccount: over a leased account, whose writes are few,
// so does the stanza in a buffer that is there.
func TestDirectAllocationsOfAccount(t *testing.T) {
	if RaceEnabled {
		t.Skip("the race detector allocates")
	}
	want := 8.0
	for _, o := range impl.Report() {
		if o.Package == "aescbc" && o.Tier == "generic" {
			want++ // the key schedule of crypto/aes
		}
	}
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rows := store.NewMemory()
	var accounts [2]*signal.Account
	jids := [2]binary.JID{jid(t, "15550000001@s.whatsapp.net"), jid(t, "15550000002@s.whatsapp.net")}
	for i := range accounts {
		var err error
		accounts[i], err = signal.CreateAccount(ctx, rows, jids[i].User, signal.AccountOptions{OpenOptions: signal.OpenOptions{Durability: signal.Leased}})
		check(err)
		_, err = accounts[i].GenerateSignedPreKey(ctx, 1, 0)
		check(err)
	}
	bundle, err := accounts[1].Bundle(ctx, 0)
	check(err)
	_, err = accounts[0].ProcessBundle(ctx, SignalAddress(jids[1]), bundle)
	check(err)
	for from := range accounts { // there, and the answer
		c, err := accounts[from].Encrypt(ctx, SignalAddress(jids[1-from]), hello)
		check(err)
		_, err = accounts[1-from].Decrypt(ctx, SignalAddress(jids[from]), c.Type, c.Body)
		check(err)
	}
	m := &DirectMessage{
		Self: Self{PN: jids[0], DeviceIdentity: []byte("identity")},
		To:   jids[1], ID: messageID, Type: "text", Message: hello, Devices: jids[1:],
	}
	frame := make([]byte, 0, 1024)
	got := testing.AllocsPerRun(200, func() {
		s, err := Direct(ctx, accounts[0], m)
		if err != nil || s.Node.Child("participants") == nil || s.Node.Child("device-identity") != nil {
			t.Fatal(err, s)
		}
		if frame, err = binary.AppendMarshal(frame[:0], s.Node); err != nil {
			t.Fatal(err)
		}
	})
	if got > want {
		t.Errorf("%.0f allocations", got)
	}
}

// TestUniqueOfManyAndFew: how few the devices are decides how they are looked
// for, not what comes of it.
func TestUniqueOfManyAndFew(t *testing.T) {
	var few, many, want []binary.JID
	for i := range 12 {
		d := binary.JID{User: "15550000002", Server: binary.ServerUser, Device: uint16(i)}
		many = append(many, d, d)
		if i < 4 {
			few, want = append(few, d, d), append(want, d)
		}
	}
	keep := func(d binary.JID) bool { return d.Device != 2 }
	want = slices.Delete(want, 2, 3)
	if got := unique(few, keep); !slices.Equal(got, want) {
		t.Errorf("of few: %v", got)
	}
	got := appendUnique(slices.Clone(want[:2]), many, keep)
	if len(got) != 11 || !slices.Equal(got[:3], want) {
		t.Errorf("of many: %v", got)
	}
}
