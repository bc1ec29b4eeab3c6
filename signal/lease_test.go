package signal

import (
	"errors"
	"testing"

	"github.com/sigcore/sigcore/signal/store"
)

// leaseAccount returns an account for records to be imported into.
func leaseAccount(t *testing.T, local Local) *Account {
	t.Helper()
	a, err := CreateAccount(t.Context(), store.NewMemory(), "a", AccountOptions{Identity: local.Identity, RegistrationID: local.RegistrationID})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestImportUnderLease: what a record says may have been used is not used by
// the account that imports it, neither in the current session nor in one that
// was current when the lease was taken, and the lease is not carried on.
func TestImportUnderLease(t *testing.T) {
	alice, bob := conversation(t)
	addr := Address{Name: "15550000002"}
	exchange(t, alice, bob, "counter 0, 1, …")
	if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, bob, "in a second session")
	alice.session.SetLease(64, [16]byte{1}, true)
	for _, f := range []RecordFormat{FormatSigcore, FormatSignalProtobuf} {
		a := leaseAccount(t, alice.local)
		if err := a.ImportSession(t.Context(), addr, f, record(alice.session)); err != nil {
			t.Fatal(err)
		}
		c, err := a.Encrypt(t.Context(), addr, []byte("after the import"))
		if err != nil || c.Type != TypePreKey {
			t.Fatal(c.Type, err)
		}
		m := must(ParsePreKeySignalMessage(c.Body))(t)
		if m.Message.Counter != 64 {
			t.Errorf("%s: counter %d after an import with ceiling 64", f, m.Message.Counter)
		}
		s := must(ParseSession(must(a.ExportSession(t.Context(), addr, f))(t)))(t)
		if ceiling, _, _ := s.Lease(); ceiling != 0 {
			t.Errorf("%s: ceiling %d after an import", f, ceiling)
		}
		if err := s.archived[0].load(); err != nil {
			t.Fatal(err)
		}
		if got := s.archived[0].sender.chain.index; got != 64 {
			t.Errorf("%s: archived session at %d after an import with ceiling 64", f, got)
		}
	}
	// Below the counters there is nothing to skip, and no lease is exact.
	for _, ceiling := range []uint32{0, 1} {
		alice.session.SetLease(ceiling, [16]byte{}, false)
		a := leaseAccount(t, alice.local)
		if err := a.ImportSession(t.Context(), addr, FormatSigcore, record(alice.session)); err != nil {
			t.Fatal(err)
		}
		alice.session.SetLease(0, [16]byte{}, false)
		if got := must(a.ExportSession(t.Context(), addr, FormatSigcore))(t); string(got) != string(record(alice.session)) {
			t.Errorf("ceiling %d: the record is another one after an import", ceiling)
		}
	}
	// A gap that no honest store makes: the session only receives.
	alice.session.SetLease(alice.session.SenderCounter()+maxBurn+1, [16]byte{}, false)
	a := leaseAccount(t, alice.local)
	if err := a.ImportSession(t.Context(), addr, FormatSigcore, record(alice.session)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Encrypt(t.Context(), addr, nil); !errors.Is(err, ErrNoSession) {
		t.Errorf("an implausible ceiling: %v", err)
	}
}

// TestImportSenderKeyUnderLease is TestImportUnderLease for sender keys.
func TestImportSenderKeyUnderLease(t *testing.T) {
	ours, theirs := group(t)
	name := SenderKeyName{Group: "group@g.us", Sender: Address{Name: "15550000001"}}
	start := ours.Iteration()
	ours.SetLease(start+50, [16]byte{}, false)
	a := leaseAccount(t, newDevice(t, 1, 0).local)
	if err := a.ImportSenderKey(t.Context(), name, FormatSigcore, groupRecord(ours)); err != nil {
		t.Fatal(err)
	}
	body, err := a.EncryptGroup(t.Context(), name, []byte("after the import"))
	if err != nil {
		t.Fatal(err)
	}
	if m := must(ParseSenderKeyMessage(body))(t); m.Iteration != start+50 {
		t.Errorf("iteration %d after an import at %d with ceiling %d", m.Iteration, start, start+50)
	}
	if plain, err := theirs.Decrypt(nil, body); err != nil || string(plain) != "after the import" {
		t.Errorf("%q, %v", plain, err)
	}
	k := must(ParseSenderKey(must(a.ExportSenderKey(t.Context(), name, FormatSigcore))(t)))(t)
	if ceiling, _, _ := k.Lease(); ceiling != 0 {
		t.Errorf("ceiling %d after an import", ceiling)
	}
	before := groupRecord(k)
	ours.SetLease(start+maxBurn+1, [16]byte{}, false)
	err = a.ImportSenderKey(t.Context(), name, FormatSigcore, groupRecord(ours))
	wantError(t, "an implausible ceiling", err, ErrCorruptRecord)
	if got := must(a.ExportSenderKey(t.Context(), name, FormatSigcore))(t); string(got) != string(before) {
		t.Error("a refused import changed the record")
	}
	// Another member's key sends nothing.
	theirs.SetLease(1<<31, [16]byte{}, false)
	if err := a.ImportSenderKey(t.Context(), name, FormatSigcore, groupRecord(theirs)); err != nil {
		t.Error(err)
	}
}

// TestSendingWithoutAChain: no session and one that cannot send are told apart,
// and both call for a new session.
func TestSendingWithoutAChain(t *testing.T) {
	_, _, err := new(Session).Encrypt(nil, nil)
	if err != ErrNoSession {
		t.Errorf("no session: %v", err)
	}
	alice, bob := conversation(t)
	exchange(t, alice, bob, "after which bob has a new ratchet key")
	alice.session.SetLease(alice.session.SenderCounter()+maxBurn+1, [16]byte{}, false)
	alice.session.waive()
	for _, s := range []*Session{alice.session, must(ParseSession(record(alice.session)))(t)} {
		_, _, err = s.Encrypt(nil, nil)
		wantError(t, "a closed chain", err, ErrSenderClosed)
		wantError(t, "a closed chain", err, ErrNoSession)
		if s.CanEncrypt() || !s.HasCurrent() {
			t.Error("what can be asked of the session does not fit")
		}
	}
	exchange(t, bob, alice, "which alice has not seen")
	exchange(t, alice, bob, "a new chain")
}
