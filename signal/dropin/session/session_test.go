package session_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/tests"
	"go.mau.fi/libsignal/util/keyhelper"
	"go.mau.fi/libsignal/util/optional"
)

var ctx = context.Background()

// A user is a device with stores in memory. Records are kept as bytes, unless
// objects is set.
type user struct {
	t *testing.T
	*tests.InMemoryIdentityKey
	*tests.InMemoryPreKey
	*tests.InMemorySignedPreKey
	*tests.InMemorySenderKey
	sessions map[string][]byte
	live     map[string]*record.Session
	objects  bool
	calls    []string

	address    *protocol.SignalAddress
	signed     *record.SignedPreKey
	serializer *serialize.Serializer
	nextID     uint32
}

func newUser(t *testing.T, name string) *user {
	t.Helper()
	pair, err := keyhelper.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	u := &user{
		t: t, InMemoryIdentityKey: tests.NewInMemoryIdentityKey(pair, keyhelper.GenerateRegistrationID()),
		InMemoryPreKey: tests.NewInMemoryPreKey(), InMemorySignedPreKey: tests.NewInMemorySignedPreKey(),
		InMemorySenderKey: tests.NewInMemorySenderKey(),
		sessions:          map[string][]byte{}, live: map[string]*record.Session{},
		address: protocol.NewSignalAddress(name, 1), serializer: serialize.NewProtoBufSerializer(),
	}
	u.signed, err = keyhelper.GenerateSignedPreKey(pair, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := u.StoreSignedPreKey(ctx, 1, u.signed); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u *user) LoadSession(_ context.Context, a *protocol.SignalAddress) (*record.Session, error) {
	u.calls = append(u.calls, "LoadSession")
	if u.objects && u.live[a.String()] != nil {
		return u.live[a.String()], nil
	}
	if b, ok := u.sessions[a.String()]; ok {
		return record.NewSessionFromBytes(b, u.serializer.Session, u.serializer.State)
	}
	return record.NewSession(u.serializer.Session, u.serializer.State), nil
}

func (u *user) StoreSession(_ context.Context, a *protocol.SignalAddress, r *record.Session) error {
	u.calls = append(u.calls, "StoreSession")
	u.live[a.String()] = r
	u.sessions[a.String()] = r.Serialize()
	return nil
}

func (u *user) ContainsSession(_ context.Context, a *protocol.SignalAddress) (bool, error) {
	u.calls = append(u.calls, "ContainsSession")
	_, ok := u.sessions[a.String()]
	return ok, nil
}

func (u *user) IsTrustedIdentity(c context.Context, a *protocol.SignalAddress, k *identity.Key) (bool, error) {
	u.calls = append(u.calls, "IsTrustedIdentity")
	return u.InMemoryIdentityKey.IsTrustedIdentity(c, a, k)
}

func (u *user) SaveIdentity(c context.Context, a *protocol.SignalAddress, k *identity.Key) error {
	u.calls = append(u.calls, "SaveIdentity")
	return u.InMemoryIdentityKey.SaveIdentity(c, a, k)
}

func (u *user) LoadPreKey(c context.Context, id uint32) (*record.PreKey, error) {
	u.calls = append(u.calls, "LoadPreKey")
	return u.InMemoryPreKey.LoadPreKey(c, id)
}

func (u *user) RemovePreKey(c context.Context, id uint32) error {
	u.calls = append(u.calls, "RemovePreKey")
	return u.InMemoryPreKey.RemovePreKey(c, id)
}

func (u *user) LoadSignedPreKey(c context.Context, id uint32) (*record.SignedPreKey, error) {
	u.calls = append(u.calls, "LoadSignedPreKey")
	return u.InMemorySignedPreKey.LoadSignedPreKey(c, id)
}

// The nine methods that programs leave out.

func (u *user) StorePreKey(context.Context, uint32, *record.PreKey) error { panic("StorePreKey") }

func (u *user) ContainsPreKey(context.Context, uint32) (bool, error) { panic("ContainsPreKey") }

func (u *user) GetSubDeviceSessions(context.Context, string) ([]uint32, error) {
	panic("GetSubDeviceSessions")
}

func (u *user) DeleteSession(context.Context, *protocol.SignalAddress) error { panic("DeleteSession") }

func (u *user) DeleteAllSessions(context.Context) error { panic("DeleteAllSessions") }

func (u *user) cipher(peer *user) *session.Cipher {
	return session.NewCipher(session.NewBuilderFromSignal(u, peer.address, u.serializer), peer.address)
}

// start begins a session with a bundle of the peer.
func (u *user) start(peer *user) {
	u.t.Helper()
	peer.nextID++
	pair, err := ecc.GenerateKeyPair()
	if err != nil {
		u.t.Fatal(err)
	}
	if err := peer.InMemoryPreKey.StorePreKey(ctx, peer.nextID, record.NewPreKey(peer.nextID, pair, nil)); err != nil {
		u.t.Fatal(err)
	}
	b := prekey.NewBundle(peer.GetLocalRegistrationID(), 1, optional.NewOptionalUint32(peer.nextID), 1, pair.PublicKey(),
		peer.signed.KeyPair().PublicKey(), peer.signed.Signature(), peer.GetIdentityKeyPair().PublicKey())
	if err := session.NewBuilderFromSignal(u, peer.address, u.serializer).ProcessBundle(ctx, b); err != nil {
		u.t.Fatal(err)
	}
}

type sent struct {
	kind      uint32
	body      []byte
	plaintext string
}

func (u *user) send(peer *user, plaintext string) sent {
	u.t.Helper()
	m, err := u.cipher(peer).Encrypt(ctx, []byte(plaintext))
	if err != nil {
		u.t.Fatal(err)
	}
	return sent{m.Type(), m.Serialize(), plaintext}
}

func (u *user) read(from *user, m sent) ([]byte, error) {
	if m.kind == protocol.PREKEY_TYPE {
		p, err := protocol.NewPreKeySignalMessageFromBytes(m.body, u.serializer.PreKeySignalMessage, u.serializer.SignalMessage)
		if err != nil {
			return nil, err
		}
		return u.cipher(from).DecryptMessage(ctx, p)
	}
	s, err := protocol.NewSignalMessageFromBytes(m.body, u.serializer.SignalMessage)
	if err != nil {
		return nil, err
	}
	return u.cipher(from).Decrypt(ctx, s)
}

func (u *user) mustRead(from *user, m sent) {
	u.t.Helper()
	got, err := u.read(from, m)
	if err != nil {
		u.t.Fatal(err)
	}
	if string(got) != m.plaintext {
		u.t.Fatalf("%q, not %q", got, m.plaintext)
	}
}

// TestArchivedMessageLeavesCurrentState: a message for an archived session must
// not change the current one, with which both then go on.
func TestArchivedMessageLeavesCurrentState(t *testing.T) {
	for _, objects := range []bool{false, true} {
		a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
		a.objects, b.objects = objects, objects
		a.start(b)
		b.mustRead(a, a.send(b, "one"))
		a.mustRead(b, b.send(a, "two"))
		late := a.send(b, "late")
		a.start(b)
		b.mustRead(a, a.send(b, "three"))
		b.mustRead(a, late) // of the first session
		reply := b.send(a, "four")
		a.mustRead(b, reply)
		b.mustRead(a, a.send(b, "five"))
		a.mustRead(b, b.send(a, "six"))
	}
}

// TestArchiveDoesNotGrow: two sessions in turn are two states, not forty.
func TestArchiveDoesNotGrow(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	a.start(b)
	b.start(a)
	fromA, fromB := a.send(b, "from a"), b.send(a, "from b")
	b.mustRead(a, fromA)
	a.mustRead(b, fromB)
	for range 20 {
		m := a.send(b, "from a")
		b.mustRead(a, m)
		m = b.send(a, "from b")
		a.mustRead(b, m)
	}
	for _, u := range []*user{a, b} {
		for _, rec := range u.sessions {
			if n := bytes.Count(rec, []byte(`"SenderBaseKey"`)); n > 2 {
				t.Errorf("%d states", n)
			}
		}
	}
}

// TestFailureLeavesRecord: after any error the record is as it was, also the
// object that the program holds.
func TestFailureLeavesRecord(t *testing.T) {
	for _, objects := range []bool{false, true} {
		a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
		a.objects, b.objects = objects, objects
		a.start(b)
		b.mustRead(a, a.send(b, "one"))
		a.mustRead(b, b.send(a, "two"))
		m := a.send(b, "three")
		before := bytes.Clone(b.sessions[a.address.String()])
		for i := range m.body {
			damaged := m
			damaged.body = bytes.Clone(m.body)
			damaged.body[i] ^= 0x41
			if _, err := b.read(a, damaged); err == nil {
				t.Fatalf("byte %d does not count", i)
			}
		}
		rec, err := b.LoadSession(ctx, a.address)
		if err != nil || !bytes.Equal(rec.Serialize(), before) || !bytes.Equal(b.sessions[a.address.String()], before) {
			t.Errorf("the record has changed: %v", err)
		}
		b.mustRead(a, m)
		if _, err := b.read(a, m); !errors.Is(err, signalerror.ErrOldCounter) {
			t.Errorf("twice: %v", err)
		}
	}
}

// TestReasons: what failed is in the chain of the error.
func TestReasons(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	if _, err := a.cipher(b).Encrypt(ctx, nil); !errors.Is(err, signalerror.ErrUninitializedSession) || !errors.Is(err, signalerror.ErrNoSessionForUser) {
		t.Errorf("no session: %v", err)
	}
	a.start(b)
	b.mustRead(a, a.send(b, "one"))
	a.mustRead(b, b.send(a, "two"))
	m := a.send(b, "three")
	m.body[len(m.body)-1] ^= 1
	if _, err := b.read(a, m); !errors.Is(err, signalerror.ErrNoValidSessions) || !errors.Is(err, signalerror.ErrBadMAC) {
		t.Errorf("bad MAC: %v", err)
	}
	for range 2001 {
		m = a.send(b, "far")
	}
	if _, err := b.read(a, m); !errors.Is(err, signalerror.ErrTooFarIntoFuture) {
		t.Errorf("too far: %v", err)
	}
	c := newUser(t, "15550000002") // another identity under one name
	c.start(a)
	if _, err := a.read(c, c.send(a, "one")); !errors.Is(err, signalerror.ErrUntrustedIdentity) {
		t.Errorf("another identity: %v", err)
	}
	d := newUser(t, "15550000003")
	d.start(a)
	first := d.send(a, "one")
	if err := a.InMemoryPreKey.RemovePreKey(ctx, a.nextID); err != nil {
		t.Fatal(err)
	}
	if _, err := a.read(d, first); !errors.Is(err, signalerror.ErrNoOneTimeKeyFound) {
		t.Errorf("no prekey: %v", err)
	}
}

// TestStoreCalls: the calls of each operation, in their order.
func TestStoreCalls(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	check := func(u *user, want ...string) {
		t.Helper()
		if len(u.calls) != len(want) {
			t.Fatalf("%v, not %v", u.calls, want)
		}
		for i := range want {
			if u.calls[i] != want[i] {
				t.Fatalf("%v, not %v", u.calls, want)
			}
		}
		u.calls = nil
	}
	a.start(b)
	check(a, "IsTrustedIdentity", "LoadSession", "StoreSession", "SaveIdentity")
	m := a.send(b, "one")
	check(a, "LoadSession", "IsTrustedIdentity", "SaveIdentity", "StoreSession")
	b.mustRead(a, m)
	check(b, "LoadSession", "IsTrustedIdentity", "LoadSignedPreKey", "LoadPreKey", "SaveIdentity", "StoreSession", "RemovePreKey")
	m = a.send(b, "two") // of a session that is known
	b.mustRead(a, m)
	check(b, "LoadSession", "IsTrustedIdentity", "SaveIdentity", "StoreSession")
	m = b.send(a, "three")
	a.calls = nil
	a.mustRead(b, m)
	check(a, "ContainsSession", "LoadSession", "IsTrustedIdentity", "SaveIdentity", "StoreSession")
}

// TestPlaintextCapacity: what lies behind a plaintext in its memory is not touched.
func TestPlaintextCapacity(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	a.start(b)
	memory := bytes.Repeat([]byte{0xaa}, 64)
	if _, err := a.cipher(b).Encrypt(ctx, memory[:20]); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(memory, bytes.Repeat([]byte{0xaa}, 64)) {
		t.Error("memory behind the plaintext was written")
	}
}

// TestHostileMessages: no bytes make the parsers or ciphers panic.
func TestHostileMessages(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	a.start(b)
	first := a.send(b, "one")
	inputs := [][]byte{nil, {}, {0x33}, {0x33, 0x0a, 0}, {0x33, 0x0a, 0, 0x22, 0, 0, 0, 0, 0, 0, 0, 0, 0}}
	for i := range first.body {
		inputs = append(inputs, first.body[:i])
	}
	// An empty base key, identity, message: the last one counts.
	for _, field := range []byte{0x12, 0x1a, 0x22} {
		inputs = append(inputs, append(bytes.Clone(first.body), field, 0))
	}
	for _, input := range inputs {
		for _, kind := range []uint32{protocol.PREKEY_TYPE, protocol.WHISPER_TYPE} {
			if _, err := b.read(a, sent{kind, input, ""}); err == nil {
				t.Errorf("%x is read", input)
			}
		}
	}
	b.mustRead(a, first)
}

// TestKeys: the variants that give or take keys.
func TestKeys(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	a.start(b)
	first := a.send(b, "one")
	p, err := protocol.NewPreKeySignalMessageFromBytes(first.body, b.serializer.PreKeySignalMessage, b.serializer.SignalMessage)
	if err != nil {
		t.Fatal(err)
	}
	got, keys, err := b.cipher(a).DecryptMessageReturnKey(ctx, p)
	if err != nil || string(got) != "one" || keys == nil {
		t.Fatalf("%q, %v, %v", got, keys != nil, err)
	}
	again, err := b.cipher(a).DecryptWithKey(ctx, p.WhisperMessage(), keys)
	if err != nil || string(again) != "one" {
		t.Errorf("%q, %v", again, err)
	}
	a.mustRead(b, b.send(a, "two"))
	skipped, second := a.send(b, "skipped"), a.send(b, "second")
	for _, m := range []sent{second, skipped} {
		s, err := protocol.NewSignalMessageFromBytes(m.body, b.serializer.SignalMessage)
		if err != nil {
			t.Fatal(err)
		}
		got, keys, err := b.cipher(a).DecryptAndGetKey(ctx, s)
		if err != nil || string(got) != m.plaintext || keys == nil || keys.Index() != s.Counter() {
			t.Fatalf("%q, %v, %v", got, keys, err)
		}
		if again, err := b.cipher(a).DecryptWithKey(ctx, s, keys); err != nil || string(again) != m.plaintext {
			t.Errorf("%q, %v", again, err)
		}
	}
}

// TestStates: the states that a program takes from a record follow the cipher, and
// the cipher follows them.
func TestStates(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	a.objects = true
	a.start(b)
	rec := a.live[b.address.String()] // which the store hands out
	st := rec.SessionState()
	if !st.HasUnacknowledgedPreKeyMessage() || st.SenderChainKey().Index() != 0 {
		t.Fatal("not a fresh session")
	}
	b.mustRead(a, a.send(b, "one"))
	if st.SenderChainKey().Index() != 1 {
		t.Error("the state does not follow the cipher")
	}
	a.mustRead(b, b.send(a, "two"))
	if rec.SessionState().HasUnacknowledgedPreKeyMessage() {
		t.Error("the state is still pending")
	}
	st = rec.SessionState()
	st.SetSenderChainKey(st.SenderChainKey().NextKey())
	m := a.send(b, "three")
	s, err := protocol.NewSignalMessageFromBytes(m.body, a.serializer.SignalMessage)
	if err != nil || s.Counter() != 1 {
		t.Fatalf("message %d, %v", s.Counter(), err)
	}
	b.mustRead(a, m)
	rebuilt, err := record.NewSessionFromStructure(rec.Structure(), a.serializer.Session, a.serializer.State)
	if err != nil || !bytes.Equal(rebuilt.Serialize(), rec.Serialize()) {
		t.Errorf("a record that is built from its structure differs: %v", err)
	}
}

// TestEmptyRecord: a record without a session has a form, and is read back.
func TestEmptyRecord(t *testing.T) {
	s := serialize.NewProtoBufSerializer()
	rec := record.NewSession(s.Session, s.State)
	if !rec.IsFresh() {
		t.Error("not fresh")
	}
	b := rec.Serialize()
	again, err := record.NewSessionFromBytes(b, s.Session, s.State)
	if err != nil || again.IsFresh() || !bytes.Equal(again.Serialize(), b) {
		t.Errorf("%s: %v", b, err)
	}
	rec.ArchiveCurrentState()
	if b := rec.Serialize(); len(b) == 0 || len(rec.PreviousSessionStates()) != 0 {
		t.Errorf("%s", b)
	}
}
