package signal

import (
	"errors"
	"testing"
)

// started returns a record of sessions with a peer, one of them current.
func started(t *testing.T, peer *device, sessions int) *Session {
	t.Helper()
	us, s := Local{Identity: must(GenerateIdentityKeyPair())(t)}, new(Session)
	for range sessions {
		if err := s.Initiate(us, peer.bundle(0)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestAbsorbLease: what a lease of the other record covers is not sent again.
func TestAbsorbLease(t *testing.T) {
	alice, bob := conversation(t)
	var incarnation [16]byte
	alice.session.SetLease(70, incarnation, true)
	public := alice.session.current.sender.public
	s := started(t, bob, 1)
	if n := s.absorb(alice.session, bob.local.Identity.PublicKey()); n != 0 || s.Archived() != 1 {
		t.Fatalf("%d dropped, %d archived", n, s.Archived())
	}
	st := s.archived[0]
	if st.load() != nil || st.sender.public != public || st.sender.chain.index != 70 {
		t.Errorf("the chain is at %d under a ceiling of 70", st.sender.chain.index)
	}

	// A record without a current session has a ceiling all the same.
	alice, bob = conversation(t)
	s = new(Session)
	s.SetLease(30, incarnation, true)
	s.absorb(alice.session, bob.local.Identity.PublicKey())
	if s.SenderCounter() != 30 {
		t.Errorf("the chain is at %d under a ceiling of 30", s.SenderCounter())
	}
	exchange(t, &device{session: s}, bob, "in the same session")
}

// TestAbsorbArchive: the archive is bounded, the newest of s come first, and a
// session that is archived is pending no more.
func TestAbsorbArchive(t *testing.T) {
	bob := newDevice(t, 2, 0)
	s, o := started(t, bob, 31), started(t, bob, 20)
	current, first, next := s.current, s.archived[0], o.current
	if !o.Pending() {
		t.Fatal("a session that was just started is not pending")
	}
	if n := s.absorb(o, bob.local.Identity.PublicKey()); n != 0 {
		t.Errorf("%d were dropped", n)
	}
	if s.current != current || !s.Pending() || len(s.archived) != MaxArchived || s.archived[0] != next || s.archived[1] != first {
		t.Errorf("%d archived sessions, or not in order", len(s.archived))
	}
	if next.pending.ok {
		t.Error("an archived session is pending")
	}
	back, err := ParseSession(record(s))
	if err != nil || back.Archived() != MaxArchived {
		t.Errorf("the record does not read back: %v", err)
	}
}

// TestAbsorbIdentity: sessions with another identity are left out.
func TestAbsorbIdentity(t *testing.T) {
	bob, before := newDevice(t, 2, 0), newDevice(t, 3, 0)
	o := started(t, before, 2)
	if err := o.Initiate(Local{Identity: must(GenerateIdentityKeyPair())(t)}, bob.bundle(0)); err != nil {
		t.Fatal(err)
	}
	s := started(t, bob, 1)
	if n := s.absorb(o, bob.local.Identity.PublicKey()); n != 2 || s.Archived() != 1 {
		t.Errorf("%d dropped, %d archived", n, s.Archived())
	}
	if s.archived[0].remoteIdentity != bob.local.Identity.PublicKey() {
		t.Error("a session with another identity was taken")
	}
}

// TestAbsorbSenderKey: a key that both have stays as far as it was read, others
// come behind, and no more than the limit.
func TestAbsorbSenderKey(t *testing.T) {
	var sender, ahead, behind SenderKey
	var bodies [][]byte
	for k := range MaxSenderKeyStates {
		if err := sender.Rotate(); err != nil {
			t.Fatal(err)
		}
		skdm := must(sender.AppendDistribution(nil))(t)
		if _, err := behind.Process(skdm); err != nil {
			t.Fatal(err)
		}
		body := must(sender.Encrypt(nil, []byte("x")))(t)
		bodies = append(bodies, body)
		if k == 2 {
			if _, err := ahead.Process(skdm); err != nil {
				t.Fatal(err)
			}
			must(ahead.Decrypt(nil, body))(t)
		}
	}
	for _, into := range []string{"ahead", "behind"} {
		a, b := ahead.Clone(), behind.Clone()
		if into == "behind" {
			a, b = b, a
		}
		front := a.states[0].id
		a.absorb(b)
		if a.States() != MaxSenderKeyStates || a.states[0].id != front {
			t.Errorf("into %s: %d keys", into, a.States())
		}
		for i, body := range bodies {
			_, err := a.Decrypt(nil, body)
			if read := i == 2; read != errors.Is(err, ErrDuplicate) || !read && err != nil {
				t.Errorf("into %s: message of key %d: %v", into, i, err)
			}
		}
	}
	full := behind.Clone()
	for range 3 {
		if err := sender.Rotate(); err != nil {
			t.Fatal(err)
		}
		if _, err := ahead.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
			t.Fatal(err)
		}
	}
	full.absorb(&ahead)
	if full.States() != MaxSenderKeyStates || full.states[0].id != behind.states[0].id {
		t.Errorf("%d keys", full.States())
	}
}
