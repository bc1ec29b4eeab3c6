package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	grouprecord "go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/logger"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/state/record"
	"go.mau.fi/libsignal/util/optional"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

// These tests let a device of sigcore and one whose records are those of
// go.mau.fi/libsignal talk by random schedules. Whatever the second one does,
// both libraries do on the same record: they must agree on every byte that is
// not drawn, but where the incumbent is known to be wrong; there sigcore's
// result counts, is right, and goes on as a record of the incumbent.

var (
	aliceAddress = protocol.NewSignalAddress("15550000001", 0)
	groupName    = protocol.NewSenderKeyName("120363000000000001@g.us", aliceAddress)
)

// A party is one device.
type party struct {
	local   signal.Local
	signed  *signal.SignedPreKey
	oneTime map[uint32]*signal.PreKey
	offered uint32 // one-time prekeys up to this were handed out
	inbox   []letter
}

type letter struct {
	typ       signal.MessageType
	body      []byte
	plaintext string
	read      bool
}

func need[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func newParty(t *testing.T, id uint32, prekeys int) *party {
	p := &party{
		local:   signal.Local{Identity: need(signal.GenerateIdentityKeyPair())(t), RegistrationID: id},
		oneTime: map[uint32]*signal.PreKey{},
	}
	p.signed = need(signal.GenerateSignedPreKey(5, p.local.Identity, 0))(t)
	for i := range prekeys {
		id := uint32(i + 1)
		p.oneTime[id] = need(signal.GeneratePreKey(id))(t)
	}
	return p
}

// bundle hands out a one-time prekey while there is one.
func (p *party) bundle() *signal.Bundle {
	b := &signal.Bundle{
		RegistrationID: p.local.RegistrationID, Identity: p.local.Identity.PublicKey(),
		SignedPreKeyID: p.signed.ID, SignedPreKey: p.signed.Public, Signature: p.signed.Signature,
	}
	p.offered++
	if k := p.oneTime[p.offered]; k != nil {
		b.HasPreKey, b.PreKeyID, b.PreKey = true, k.ID, k.Public
	}
	return b
}

// read decrypts with s, as sigcore does.
func (p *party) read(s *signal.Session, l *letter) ([]byte, signal.Received, error) {
	if l.typ == signal.TypeSignal {
		return s.Decrypt(nil, l.body, nil)
	}
	m, err := signal.ParsePreKeySignalMessage(l.body)
	if err != nil {
		return nil, signal.Received{}, err
	}
	return s.DecryptPreKey(nil, &m, &signal.Responder{Local: p.local, SignedPreKey: p.signed, PreKey: p.oneTime[m.PreKeyID]})
}

// A mauParty is a device whose only record is JSON of the incumbent, read anew
// for every operation.
type mauParty struct {
	*party
	json []byte // nil: no record
}

// sigcore is the record as sigcore reads it.
func (p *mauParty) sigcore(t *testing.T) *signal.Session {
	t.Helper()
	if p.json == nil {
		return new(signal.Session)
	}
	s := need(convert.ParseGoSession(p.json))(t)
	if back := need(convert.AppendGoSession(nil, s))(t); !bytes.Equal(back, p.json) {
		t.Fatalf("the record\n%s\nis written as\n%s", p.json, back)
	}
	return s
}

// store is a fresh store of the incumbent with the record in it.
func (p *mauParty) store(t *testing.T) *mauStore {
	t.Helper()
	pair := func(pub signal.PublicKey, priv []byte) *ecc.ECKeyPair {
		return ecc.NewECKeyPair(ecc.NewDjbECPublicKey(pub), ecc.NewDjbECPrivateKey([32]byte(priv)))
	}
	s := need(newMauStore())(t)
	own := pair(p.local.Identity.PublicKey(), p.local.Identity.PrivateKey().Bytes())
	s.identity = identity.NewKeyPair(identity.NewKey(own.PublicKey()), own.PrivateKey())
	s.signed[p.signed.ID] = record.NewSignedPreKey(p.signed.ID, 0, pair(p.signed.Public, p.signed.Private[:]), p.signed.Signature, nil)
	for id, k := range p.oneTime {
		s.preKeys[id] = record.NewPreKey(id, pair(k.Public, k.Private[:]), nil)
	}
	if p.json != nil {
		s.sessions[aliceAddress.String()] = need(record.NewSessionFromBytes(p.json, mauForm.Session, mauForm.State))(t)
	}
	return s
}

func (s *mauStore) json() []byte { return s.sessions[aliceAddress.String()].Serialize() }

func mauCipher(s *mauStore) *session.Cipher {
	return session.NewCipher(session.NewBuilderFromSignal(s, aliceAddress, mauForm), aliceAddress)
}

// initiate starts a session, by either library.
func (p *mauParty) initiate(t *testing.T, r *rand.Rand, b *signal.Bundle) {
	t.Helper()
	if r.IntN(2) == 0 {
		s := p.sigcore(t)
		if err := s.Initiate(p.local, b); err != nil {
			t.Fatal(err)
		}
		p.json = need(convert.AppendGoSession(nil, s))(t)
		return
	}
	s := p.store(t)
	id, one := optional.NewEmptyUint32(), ecc.ECPublicKeyable(nil)
	if b.HasPreKey {
		id, one = optional.NewOptionalUint32(b.PreKeyID), ecc.NewDjbECPublicKey(b.PreKey)
	}
	err := session.NewBuilderFromSignal(s, aliceAddress, mauForm).ProcessBundle(context.Background(),
		prekey.NewBundle(b.RegistrationID, 0, id, b.SignedPreKeyID, one, ecc.NewDjbECPublicKey(b.SignedPreKey),
			b.Signature, identity.NewKey(ecc.NewDjbECPublicKey(b.Identity))))
	if err != nil {
		t.Fatal(err)
	}
	p.json = s.json()
}

// encrypt draws nothing: both libraries write the same message and the same
// record.
func (p *mauParty) encrypt(t *testing.T, plaintext string) (signal.MessageType, []byte) {
	t.Helper()
	ours := p.sigcore(t)
	typ, body, err := ours.Encrypt(nil, []byte(plaintext))
	if err != nil {
		t.Fatal(err)
	}
	s := p.store(t)
	theirs := need(mauCipher(s).Encrypt(context.Background(), []byte(plaintext)))(t)
	if uint32(typ) != theirs.Type() || !bytes.Equal(body, theirs.Serialize()) {
		t.Fatalf("type %d: %x, the incumbent: type %d: %x", typ, body, theirs.Type(), theirs.Serialize())
	}
	p.json = need(convert.AppendGoSession(nil, ours))(t)
	if theirs := s.json(); !bytes.Equal(p.json, theirs) {
		t.Fatalf("record after a message\n%s\nof the incumbent\n%s", p.json, theirs)
	}
	return typ, body
}

// mauRead decrypts with the incumbent, whose record is in the store after it.
func (p *mauParty) mauRead(s *mauStore, l *letter) (plain []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	ctx := context.Background()
	if l.typ == signal.TypeSignal {
		m, err := protocol.NewSignalMessageFromBytes(l.body, mauForm.SignalMessage)
		if err != nil {
			return nil, err
		}
		return mauCipher(s).Decrypt(ctx, m)
	}
	m, err := protocol.NewPreKeySignalMessageFromBytes(l.body, mauForm.PreKeySignalMessage, mauForm.SignalMessage)
	if err != nil {
		return nil, err
	}
	return mauCipher(s).DecryptMessage(ctx, m)
}

// decrypt reads a message with both libraries, and goes on with the record of
// either where both are right.
func (p *mauParty) decrypt(t *testing.T, r *rand.Rand, l *letter) error {
	t.Helper()
	ours := p.sigcore(t)
	plain, received, err := p.read(ours, l)
	s := p.store(t)
	theirs, mauErr := p.mauRead(s, l)
	if mauErr == nil && (err != nil || !bytes.Equal(plain, theirs)) {
		t.Fatalf("the incumbent reads %q; %q, %v", theirs, plain, err)
	}
	if err != nil {
		return err // its record, which a refused message may have changed, is dropped
	}
	if string(plain) != l.plaintext {
		t.Fatalf("plaintext %q, want %q", plain, l.plaintext)
	}
	p.json = need(convert.AppendGoSession(nil, ours))(t)
	switch {
	case received.Promoted:
		// A session of the archive: the incumbent may fail, and damages the
		// current one when it does not.
	case mauErr != nil:
		t.Fatalf("the incumbent does not read %q: %v", l.plaintext, mauErr)
	case received.Ratcheted:
		if r.IntN(2) == 0 {
			p.json = s.json()
		}
	default:
		if theirs := s.json(); !bytes.Equal(p.json, theirs) {
			t.Fatalf("record after reading\n%s\nof the incumbent\n%s", p.json, theirs)
		}
	}
	if received.ConsumedPreKey {
		delete(p.oneTime, received.PreKeyID)
	}
	return nil
}

func schedules() (n, steps int) {
	switch {
	case os.Getenv("SIGCORE_TEST_LONG") != "":
		return 10_000, 120
	case testing.Short():
		return 4, 80
	}
	return 12, 120
}

// silence keeps what the incumbent says of refused messages out of the output.
type silence struct{}

func (silence) Debug(string, string)   {}
func (silence) Info(string, string)    {}
func (silence) Warning(string, string) {}
func (silence) Error(string, string)   {}
func (silence) Configure(string)       {}

func TestDifferentialSessions(t *testing.T) {
	var quiet logger.Loggable = silence{}
	logger.Setup(&quiet)
	n, steps := schedules()
	for seed := range n {
		if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { differSessions(t, uint64(seed), steps) }) {
			return
		}
	}
}

func differSessions(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 21))
	alice, bob := newParty(t, 11, 6), &mauParty{party: newParty(t, 12, 6)}
	session := new(signal.Session) // alice's
	read, promoted, setups, dropped := 0, 0, 0, 0
	for n := range steps {
		plaintext := fmt.Sprintf("message %d of %d", n, seed)
		switch p := r.IntN(100); {
		case n == 0 || p < 3 && setups < 20:
			setups++
			if err := session.Initiate(alice.local, bob.bundle()); err != nil {
				t.Fatal(err)
			}
		case p < 6 && setups < 20:
			setups++
			bob.initiate(t, r, alice.bundle())
		case p < 9: // a restart, over any form
			switch r.IntN(3) {
			case 0:
				session = need(signal.ParseSession(need(session.AppendBinary(nil))(t)))(t)
			case 1:
				session = need(signal.ParseSession(session.AppendPortable(nil)))(t)
			case 2:
				session = need(convert.ParseGoSession(need(convert.AppendGoSession(nil, session))(t)))(t)
			}
		case p < 33:
			typ, body, err := session.Encrypt(nil, []byte(plaintext))
			if err != nil {
				t.Fatal(err)
			}
			bob.inbox = append(bob.inbox, letter{typ: typ, body: body, plaintext: plaintext})
		case p < 57:
			if bob.json != nil {
				typ, body := bob.encrypt(t, plaintext)
				alice.inbox = append(alice.inbox, letter{typ: typ, body: body, plaintext: plaintext})
			}
		default:
			to := []*party{alice, bob.party}[r.IntN(2)]
			if len(to.inbox) == 0 {
				continue
			}
			k := 0
			if r.IntN(3) == 0 {
				k = r.IntN(len(to.inbox))
			}
			l := &to.inbox[k]
			if !l.read && r.IntN(12) == 0 {
				to.inbox = slices.Delete(to.inbox, k, k+1) // lost
				continue
			}
			changed := *l
			forged := r.IntN(8) == 0
			if forged { // a bit of the MAC
				at := len(l.body) - 8
				if l.typ == signal.TypePreKey {
					m := need(signal.ParsePreKeySignalMessage(l.body))(t)
					at = bytes.Index(l.body, m.Message.MAC[:])
				}
				changed.body = slices.Clone(l.body)
				changed.body[at+r.IntN(8)] ^= 1 << r.IntN(8)
			}
			var err error
			if to == alice {
				before := need(session.AppendBinary(nil))(t)
				var plain []byte
				var received signal.Received
				plain, received, err = alice.read(session, &changed)
				if err == nil && string(plain) != l.plaintext {
					t.Fatalf("plaintext %q, want %q", plain, l.plaintext)
				}
				if err != nil && !bytes.Equal(need(session.AppendBinary(nil))(t), before) {
					t.Fatalf("the record changed, after %v", err)
				}
				if received.Promoted {
					promoted++
				}
				if err == nil && received.ConsumedPreKey {
					delete(alice.oneTime, received.PreKeyID)
				}
			} else {
				err = bob.decrypt(t, r, &changed)
			}
			switch {
			case forged:
				if err == nil {
					t.Fatal("read a forgery")
				}
			case l.read:
				if err == nil {
					t.Fatal("read a message twice")
				}
			case err != nil && !errors.Is(err, signal.ErrDuplicate) && !errors.Is(err, signal.ErrPreKeyID) && !late(err):
				t.Fatalf("%v does not read %q: %v", to == alice, l.plaintext, err)
			case err != nil:
				dropped++
			default:
				l.read = true
				read++
			}
			if r.IntN(5) > 0 && !forged {
				to.inbox = slices.Delete(to.inbox, k, k+1)
			}
		}
	}
	if read < steps/10 || dropped > read/4 {
		t.Errorf("%d messages read, %d too late", read, dropped)
	}
	t.Logf("%d messages read, %d too late, %d promotions", read, dropped, promoted)
}

// late reports whether a message came after its chain, or its session, was
// dropped: then its ratchet key looks like a new one, and its MAC is wrong.
func late(err error) bool { return errors.Is(err, signal.ErrBadMAC) }

func TestDifferentialGroups(t *testing.T) {
	n, steps := schedules()
	for seed := range n {
		if !t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { differGroups(t, uint64(seed), steps) }) {
			return
		}
	}
}

// withPrivate makes the two ways alike in which the incumbent writes that a
// private key is not there.
func withPrivate(json []byte) string {
	return strings.ReplaceAll(string(json), `"SigningKeyPrivate":null`, `"SigningKeyPrivate":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`)
}

func differGroups(t *testing.T, seed uint64, steps int) {
	ctx := context.Background()
	r := rand.New(rand.NewPCG(seed, 22))
	sender := new(signal.SenderKey)
	var receiver []byte // the incumbent's record
	load := func() *mauStore {
		s := need(newMauStore())(t)
		if receiver != nil {
			s.senderKeys[mauName(groupName)] = need(grouprecord.NewSenderKeyFromBytes(receiver, mauForm.SenderKeyRecord, mauForm.SenderKeyState))(t)
		}
		return s
	}
	type message struct {
		body, plaintext []byte
		read            bool
	}
	var inbox []message
	read := 0
	for n := range steps {
		switch p := r.IntN(100); {
		case n == 0 || p < 4:
			// Once each: the incumbent starts over with a key that it has.
			if err := sender.Rotate(); err != nil {
				t.Fatal(err)
			}
			skdm := need(sender.AppendDistribution(nil))(t)
			ours := new(signal.SenderKey)
			if receiver != nil {
				ours = need(convert.ParseGoSenderKey(receiver))(t)
			}
			if _, err := ours.Process(skdm); err != nil {
				t.Fatal(err)
			}
			s := load()
			m := need(protocol.NewSenderKeyDistributionMessageFromBytes(skdm, mauForm.SenderKeyDistributionMessage))(t)
			if err := groups.NewGroupSessionBuilder(s, mauForm).Process(ctx, groupName, m); err != nil {
				t.Fatal(err)
			}
			receiver = need(convert.AppendGoSenderKey(nil, ours))(t)
			if theirs := s.senderKeys[mauName(groupName)].Serialize(); string(receiver) != withPrivate(theirs) {
				t.Fatalf("record after a distribution\n%s\nof the incumbent\n%s", receiver, theirs)
			}
		case p < 50:
			plaintext := []byte(fmt.Sprintf("message %d of %d", n, seed))
			inbox = append(inbox, message{body: need(sender.Encrypt(nil, plaintext))(t), plaintext: plaintext})
		case len(inbox) > 0:
			k := 0
			if r.IntN(3) == 0 {
				k = r.IntN(len(inbox))
			}
			m := &inbox[k]
			ours := need(convert.ParseGoSenderKey(receiver))(t)
			plain, err := ours.Decrypt(nil, m.body)
			s := load()
			in := groups.NewGroupCipher(groups.NewGroupSessionBuilder(s, mauForm), groupName, s)
			// It decrypts in place: the message is read from a copy.
			theirs, mauErr := in.Decrypt(ctx, need(protocol.NewSenderKeyMessageFromBytes(slices.Clone(m.body), mauForm.SenderKeyMessage))(t))
			if (err == nil) != (mauErr == nil) || !bytes.Equal(plain, theirs) {
				t.Fatalf("%q, %v; the incumbent: %q, %v", plain, err, theirs, mauErr)
			}
			if m.read && !errors.Is(err, signal.ErrDuplicate) && !errors.Is(err, signal.ErrNoSenderKey) {
				t.Fatalf("the message again: %v", err)
			}
			if err == nil {
				if !bytes.Equal(plain, m.plaintext) {
					t.Fatalf("plaintext %q, want %q", plain, m.plaintext)
				}
				receiver = need(convert.AppendGoSenderKey(nil, ours))(t)
				if theirs := s.senderKeys[mauName(groupName)].Serialize(); string(receiver) != withPrivate(theirs) {
					t.Fatalf("record after reading\n%s\nof the incumbent\n%s", receiver, theirs)
				}
				m.read = true
				read++
			}
			if r.IntN(5) > 0 {
				inbox = slices.Delete(inbox, k, k+1)
			}
		}
	}
	if read < steps/10 {
		t.Errorf("%d messages read", read)
	}
}
