package signal

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/internal/testvec"
)

// drawQueue gives out exactly the chunks that a test put in, one a draw.
type drawQueue struct{ chunks [][]byte }

func (q *drawQueue) Read(b []byte) (int, error) {
	if len(q.chunks) == 0 {
		return 0, fmt.Errorf("unexpected draw of %d bytes", len(b))
	}
	c := q.chunks[0]
	if len(c) != len(b) {
		return 0, fmt.Errorf("draw of %d bytes, want one of %d", len(b), len(c))
	}
	q.chunks = q.chunks[1:]
	return copy(b, c), nil
}

// withDraws runs f with the chunks as the only randomness. All of them must be
// used, unless f refused what it was given.
func withDraws(t testing.TB, f func() error, chunks ...[]byte) error {
	t.Helper()
	q := &drawQueue{chunks: chunks}
	restore := random.Install(q)
	defer restore()
	err := f()
	if err == nil && len(q.chunks) > 0 {
		t.Fatalf("%d of %d draws were not made", len(q.chunks), len(chunks))
	}
	return err
}

// maybeDraws is withDraws for an operation that may draw less.
func maybeDraws(t testing.TB, f func() error, chunks ...[]byte) error {
	t.Helper()
	restore := random.Install(&drawQueue{chunks: chunks})
	defer restore()
	return f()
}

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func record(s *Session) []byte {
	b, err := s.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return b
}

func groupRecord(k *SenderKey) []byte {
	b, err := k.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return b
}

func privateKey(t testing.TB, b []byte) PrivateKey {
	t.Helper()
	return must(NewPrivateKey(b))(t)
}

func publicKey(t testing.TB, b []byte) PublicKey {
	t.Helper()
	return must(ParsePublicKey(b))(t)
}

func identity(t testing.TB, b []byte) *IdentityKeyPair {
	t.Helper()
	return NewIdentityKeyPair(must(curve.NewPrivateKey(b))(t))
}

// A device is one side of a conversation: its keys, and its record of the
// other side.
type device struct {
	local   Local
	signed  map[uint32]*SignedPreKey
	oneTime map[uint32]*PreKey
	session *Session
}

// loadDevice returns the device of a recorded party.
func loadDevice(t testing.TB, p *testvec.Party) *device {
	t.Helper()
	d := &device{
		local:   Local{Identity: identity(t, p.IdentityPriv), RegistrationID: p.RegistrationID},
		signed:  map[uint32]*SignedPreKey{},
		oneTime: map[uint32]*PreKey{},
		session: new(Session),
	}
	if p.IdentityPub != nil && publicKey(t, p.IdentityPub) != d.local.Identity.PublicKey() {
		t.Fatal("identity keys do not belong together")
	}
	if s := p.SignedPreKey; s != nil {
		priv := privateKey(t, s.Priv)
		k := &SignedPreKey{ID: s.ID, Private: priv, Public: priv.public()}
		copy(k.Signature[:], s.Sig)
		d.signed[s.ID] = k
	}
	for _, o := range p.OneTimePreKeys {
		d.oneTime[o.ID] = NewPreKey(o.ID, privateKey(t, o.Priv))
	}
	return d
}

// newDevice makes a device with fresh keys, signed prekey 1 and one-time
// prekeys 1 to n.
func newDevice(t testing.TB, registrationID uint32, n int) *device {
	t.Helper()
	d := &device{
		local:   Local{Identity: must(GenerateIdentityKeyPair())(t), RegistrationID: registrationID},
		signed:  map[uint32]*SignedPreKey{},
		oneTime: map[uint32]*PreKey{},
		session: new(Session),
	}
	d.signed[1] = must(GenerateSignedPreKey(1, d.local.Identity, 1_700_000_000))(t)
	for i := uint32(1); i <= uint32(n); i++ {
		d.oneTime[i] = must(GeneratePreKey(i))(t)
	}
	return d
}

// bundle returns a bundle of the device, with the one-time prekey opk unless
// that is 0.
func (d *device) bundle(opk uint32) *Bundle {
	s := d.signed[1]
	b := &Bundle{
		RegistrationID: d.local.RegistrationID,
		Identity:       d.local.Identity.PublicKey(),
		SignedPreKeyID: s.ID,
		SignedPreKey:   s.Public,
		Signature:      s.Signature,
	}
	if k := d.oneTime[opk]; k != nil {
		b.HasPreKey, b.PreKeyID, b.PreKey = true, opk, k.Public
	}
	return b
}

func loadBundle(t testing.TB, v *testvec.Bundle) *Bundle {
	t.Helper()
	b := &Bundle{
		RegistrationID: v.RegID,
		Identity:       publicKey(t, v.Identity),
		SignedPreKeyID: v.SPKID,
		SignedPreKey:   publicKey(t, v.SPK),
		Signature:      [SignatureSize]byte(v.SPKSig),
	}
	if v.OPKID != nil {
		b.HasPreKey, b.PreKeyID, b.PreKey = true, *v.OPKID, publicKey(t, v.OPK)
	}
	return b
}

// decrypt reads a message as an account would: it looks the prekeys up, and
// deletes the one that was consumed.
func (d *device) decrypt(typ MessageType, body []byte) ([]byte, Received, error) {
	if typ == TypeSignal {
		return d.session.Decrypt(nil, body, nil)
	}
	m, err := ParsePreKeySignalMessage(body)
	if err != nil {
		return nil, Received{}, err
	}
	r := &Responder{Local: d.local}
	if !d.session.Matches(&m) {
		r.SignedPreKey = d.signed[m.SignedPreKeyID]
		if m.HasPreKeyID {
			r.PreKey = d.oneTime[m.PreKeyID]
		}
	}
	plain, rec, err := d.session.DecryptPreKey(nil, &m, r)
	if err == nil && rec.ConsumedPreKey {
		delete(d.oneTime, rec.PreKeyID)
	}
	return plain, rec, err
}

func messageType(name string) MessageType {
	if name == "pkmsg" {
		return TypePreKey
	}
	return TypeSignal
}

// unchanged runs f, which must fail, and checks that neither the record of d
// nor its prekeys changed. It returns the error.
func (d *device) unchanged(t testing.TB, what string, f func() error) error {
	t.Helper()
	before, prekeys := record(d.session), len(d.oneTime)
	err := f()
	if err == nil {
		t.Fatalf("%s: accepted", what)
	}
	if !bytes.Equal(record(d.session), before) {
		t.Fatalf("%s: the record changed, after %v", what, err)
	}
	if len(d.oneTime) != prekeys {
		t.Fatalf("%s: a prekey was used up, after %v", what, err)
	}
	return err
}

// exchange sends plaintext from one device to the other.
func exchange(t testing.TB, from, to *device, plaintext string) Received {
	t.Helper()
	typ, body, err := from.session.Encrypt(nil, []byte(plaintext))
	if err != nil {
		t.Fatal(err)
	}
	got, rec, err := to.decrypt(typ, body)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != plaintext {
		t.Fatalf("got %q, want %q", got, plaintext)
	}
	return rec
}

// conversation returns two devices with an acknowledged session.
func conversation(t testing.TB) (alice, bob *device) {
	t.Helper()
	alice, bob = newDevice(t, 1, 0), newDevice(t, 2, 1)
	if err := alice.session.Initiate(alice.local, bob.bundle(1)); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, bob, "hello")
	exchange(t, bob, alice, "hello yourself")
	return alice, bob
}

func wantError(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: error %v, want %v", what, err, want)
	}
}

func decodeHex(t testing.TB, s string) []byte {
	t.Helper()
	return must(hex.DecodeString(s))(t)
}
