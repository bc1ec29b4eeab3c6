package signal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestNoSession(t *testing.T) {
	alice, bob := conversation(t)
	_, body, err := bob.session.Encrypt(nil, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	var empty Session
	if _, _, err := empty.Encrypt(nil, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	if _, _, err := empty.Decrypt(nil, body, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	if empty.HasCurrent() || empty.CanEncrypt() || empty.Pending() || empty.Archived() != 0 || empty.Skipped() != 0 || empty.SenderCounter() != 0 || len(record(&empty)) != 0 {
		t.Error("an empty record is not empty")
	}
	if _, ok := empty.RemoteIdentity(); ok {
		t.Error("identity of nobody")
	}

	// A record with archived sessions only still receives.
	alice.session.archive()
	s := must(ParseSession(record(alice.session)))(t)
	if s.HasCurrent() || s.Archived() != 1 {
		t.Fatal("not archived")
	}
	if _, _, err := s.Encrypt(nil, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	plain, r, err := s.Decrypt(nil, body, func(PublicKey) error { return errors.New("not asked about archived sessions") })
	if err != nil || string(plain) != "hello" || !r.Promoted || !s.HasCurrent() || s.Archived() != 0 {
		t.Errorf("%q, %+v, %v", plain, r, err)
	}
}

// TestRecordCut: a record that is cut anywhere is corrupt, and never reads as an
// empty one; in the portable form that holds for one session.
func TestRecordCut(t *testing.T) {
	alice, bob := conversation(t)
	if _, _, err := alice.session.Encrypt(nil, nil); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, bob, "after a gap")
	leased, archived := bob.session.Clone(), bob.session.Clone()
	leased.SetLease(1000, [16]byte{5}, true)
	for range 2 {
		if err := archived.Initiate(bob.local, alice.bundle(0)); err != nil {
			t.Fatal(err)
		}
	}
	both := archived.Clone()
	both.SetLease(1000, [16]byte{}, false)
	only := archived.Clone()
	only.current = nil
	for _, whole := range [][]byte{
		record(alice.session), record(bob.session), bob.session.AppendPortable(nil),
		record(leased), record(archived), record(both), record(only),
	} {
		for n := 1; n < len(whole); n++ {
			s, err := ParseSession(whole[:n])
			if !errors.Is(err, ErrCorruptRecord) || s != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
			}
		}
		for i := range whole {
			bad := bytes.Clone(whole)
			bad[i] ^= 0x81
			if s, err := ParseSession(bad); err == nil {
				_ = record(s) // what loads has to write
			} else if !errors.Is(err, ErrCorruptRecord) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

// jumpTo returns the message that the sender would send after skipping to
// counter.
func jumpTo(t testing.TB, from *device, counter uint32) []byte {
	t.Helper()
	c := from.session.Clone()
	var seed [32]byte
	for c.current.sender.chain.index < counter {
		if err := c.current.sender.chain.step(&seed); err != nil {
			t.Fatal(err)
		}
	}
	_, body, err := c.Encrypt(nil, fmt.Append(nil, counter))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestForwardJump(t *testing.T) {
	alice, bob := conversation(t)
	for _, known := range []bool{false, true} {
		// Bob has alice's chain only after her first message of it.
		start := alice.session.SenderCounter()
		err := bob.unchanged(t, "jump of 2001", func() error { _, _, err := bob.session.Decrypt(nil, jumpTo(t, alice, start+2001), nil); return err })
		var skip *SkipError
		if !errors.As(err, &skip) || *skip != (SkipError{Next: start, Counter: start + 2001, Max: 2000}) {
			t.Fatalf("known %v: %#v", known, err)
		}
		c := &device{session: bob.session.Clone()}
		if plain, _, err := c.session.Decrypt(nil, jumpTo(t, alice, start+2000), nil); err != nil || string(plain) != fmt.Sprint(start+2000) {
			t.Fatalf("known %v: %q, %v", known, plain, err)
		}
		if c.session.Skipped() != MaxSkippedKeys {
			t.Fatalf("%d skipped keys", c.session.Skipped())
		}
		for _, counter := range []uint32{start, start + 1000, start + 1999} {
			body := jumpTo(t, alice, counter)
			if plain, _, err := c.session.Decrypt(nil, body, nil); err != nil || string(plain) != fmt.Sprint(counter) {
				t.Fatalf("late message %d: %q, %v", counter, plain, err)
			}
			err := c.unchanged(t, "twice", func() error { _, _, err := c.session.Decrypt(nil, body, nil); return err })
			wantError(t, "twice", err, ErrDuplicate)
		}
		if !known {
			exchange(t, alice, bob, "so that bob has the chain")
		}
	}
}

// TestJumpToOneself: devices of one identity may skip more. Only the newest
// keys of the gap are kept.
func TestJumpToOneself(t *testing.T) {
	alice := newDevice(t, 1, 0)
	other := newDevice(t, 2, 1)
	other.local.Identity = alice.local.Identity
	other.signed[1] = must(GenerateSignedPreKey(1, other.local.Identity, 0))(t)
	if err := alice.session.Initiate(alice.local, other.bundle(1)); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, other, "hello")
	exchange(t, other, alice, "hello yourself")
	err := other.unchanged(t, "jump of 25001", func() error { _, _, err := other.session.Decrypt(nil, jumpTo(t, alice, 25001), nil); return err })
	wantError(t, "jump of 25001", err, ErrTooFar)
	if plain, _, err := other.session.Decrypt(nil, jumpTo(t, alice, 25000), nil); err != nil || string(plain) != "25000" {
		t.Fatalf("%q, %v", plain, err)
	}
	if n := other.session.Skipped(); n != MaxSkippedKeys {
		t.Errorf("%d skipped keys", n)
	}
	if plain, _, err := other.session.Decrypt(nil, jumpTo(t, alice, 23000), nil); err != nil || string(plain) != "23000" {
		t.Errorf("%q, %v", plain, err)
	}
	err = other.unchanged(t, "a pruned key", func() error { _, _, err := other.session.Decrypt(nil, jumpTo(t, alice, 22999), nil); return err })
	wantError(t, "a pruned key", err, ErrNoMessageKey)
}

// TestSkippedKeysAreBounded: messages that never arrive cost bounded memory,
// the oldest keys go first, and a kept key works once.
func TestSkippedKeysAreBounded(t *testing.T) {
	alice, bob := conversation(t)
	exchange(t, alice, bob, "so that bob has the chain")
	largest := 0
	var next uint32
	for range 700 { // gaps of 7
		for range 7 {
			if _, _, err := alice.session.Encrypt(nil, nil); err != nil {
				t.Fatal(err)
			}
		}
		next = alice.session.SenderCounter()
		exchange(t, alice, bob, "after a gap")
		largest = max(largest, bob.session.Skipped())
	}
	if largest > MaxSkippedKeys+pruneSlack || bob.session.Skipped() < MaxSkippedKeys {
		t.Errorf("up to %d skipped keys, %d at the end", largest, bob.session.Skipped())
	}
	perKey := float64(len(record(bob.session))) / float64(bob.session.Skipped())
	if perKey > 40.5 {
		t.Errorf("%.1f bytes a skipped key", perKey)
	}
	kept := bob.session.current.receivers[len(bob.session.current.receivers)-1].skipped.list
	if kept[len(kept)-1].counter != next-1 {
		t.Errorf("newest kept key %d, want %d", kept[len(kept)-1].counter, next-1)
	}
	if s := must(ParseSession(record(bob.session)))(t); s.Skipped() != bob.session.Skipped() {
		t.Errorf("%d skipped keys when loaded, %d before", s.Skipped(), bob.session.Skipped())
	}
}

func TestReceiverChains(t *testing.T) {
	alice, bob := conversation(t)
	var late [8][]byte // one message of each of alice's chains
	for i := range late {
		_, late[i], _ = alice.session.Encrypt(nil, []byte{byte(i)})
		exchange(t, alice, bob, "ping")
		exchange(t, bob, alice, "pong")
	}
	if n := len(bob.session.current.receivers); n != MaxReceiverChains {
		t.Fatalf("%d receiver chains", n)
	}
	for i := range late {
		if i < len(late)-MaxReceiverChains {
			err := bob.unchanged(t, "message of a dropped chain", func() error { _, _, err := bob.session.Decrypt(nil, late[i], nil); return err })
			wantError(t, "message of a dropped chain", err, ErrBadMAC)
			continue
		}
		if plain, _, err := bob.session.Decrypt(nil, late[i], nil); err != nil || !bytes.Equal(plain, []byte{byte(i)}) {
			t.Fatalf("message of chain %d: %x, %v", i, plain, err)
		}
	}
	exchange(t, alice, bob, "on")
}

func TestChainEnd(t *testing.T) {
	alice, bob := conversation(t)
	exchange(t, alice, bob, "so that bob has the chain")
	end := chainKey{key: [32]byte{1}, index: math.MaxUint32 - 1}
	alice.session.current.sender.chain = end
	bob.session.current.receiver(&alice.session.current.sender.public).chain = end
	exchange(t, alice, bob, "the last")
	_ = alice.unchanged(t, "one more", func() error {
		_, _, err := alice.session.Encrypt(nil, nil)
		wantError(t, "one more", err, ErrChainEnd)
		return err
	})
	m := SignalMessage{RatchetKey: alice.session.current.sender.public, Counter: math.MaxUint32, Ciphertext: make([]byte, 16)}
	err := bob.unchanged(t, "past the end", func() error {
		_, _, err := bob.session.Decrypt(nil, must(m.AppendBinary(nil))(t), nil)
		return err
	})
	wantError(t, "past the end", err, ErrChainEnd)
	exchange(t, bob, alice, "a new chain is still possible")
	exchange(t, alice, bob, "on")
}

// TestArchive: superseded sessions are kept, newest first, still receive, and
// are never there twice.
func TestArchive(t *testing.T) {
	alice, bob := newDevice(t, 1, 0), newDevice(t, 2, 0)
	var first []byte
	for i := range MaxArchived + 5 {
		if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
			t.Fatal(err)
		}
		if alice.session.Archived() != min(i, MaxArchived) {
			t.Fatalf("%d archived after %d sessions", alice.session.Archived(), i+1)
		}
		if i == 0 {
			_, first, _ = alice.session.Encrypt(nil, []byte("first"))
			continue
		}
		if r := exchange(t, alice, bob, "new session"); !r.NewSession || r.ConsumedPreKey {
			t.Fatalf("%+v", r)
		}
	}
	if n := must(ParseSession(record(bob.session)))(t).Archived(); n != MaxArchived {
		t.Fatalf("%d archived when loaded", n)
	}
	// A session that bob never saw comes as a new one and drops his oldest.
	if plain, r, err := bob.decrypt(TypePreKey, first); err != nil || string(plain) != "first" || !r.NewSession {
		t.Fatalf("%q, %+v, %v", plain, r, err)
	}
	if bob.session.Archived() != MaxArchived {
		t.Fatalf("%d archived", bob.session.Archived())
	}
	// Alice does not have that one any more.
	_, lost, err := bob.session.Encrypt(nil, []byte("lost"))
	if err != nil {
		t.Fatal(err)
	}
	err = alice.unchanged(t, "message of a dropped session", func() error { _, _, err := alice.session.Decrypt(nil, lost, nil); return err })
	wantError(t, "message of a dropped session", err, ErrBadMAC)

	for round := range 30 {
		if round%3 == 0 {
			if err := bob.session.Initiate(bob.local, alice.bundle(0)); err != nil {
				t.Fatal(err)
			}
			exchange(t, bob, alice, "one more session")
		} else if round%3 == 1 {
			// Alice answers in a session of the archive.
			c := alice.session
			st := c.archived[round%len(c.archived)]
			c.current, st = st, c.current
			c.archived[round%len(c.archived)] = st
			typ, body, err := c.Encrypt(nil, []byte("of the archive"))
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := bob.decrypt(typ, body); err != nil && !errors.Is(err, ErrBadMAC) {
				t.Fatal(err)
			}
		}
		for _, s := range []*Session{alice.session, bob.session} {
			seen := map[PublicKey]bool{s.current.baseKey: true}
			for _, st := range s.archived {
				if seen[st.baseKey] {
					t.Fatal("a session is there twice")
				}
				if st.pending.ok {
					t.Fatal("an archived session is pending")
				}
				seen[st.baseKey] = true
			}
		}
	}
}

// TestHostileWork: what a forged message costs does not multiply with the
// number of sessions.
func TestHostileWork(t *testing.T) {
	alice, bob := newDevice(t, 1, 0), newDevice(t, 2, 0)
	for range MaxArchived + 1 {
		if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
			t.Fatal(err)
		}
		exchange(t, alice, bob, "new session")
		exchange(t, bob, alice, "answer")
	}
	if bob.session.Archived() != MaxArchived {
		t.Fatal("not enough sessions")
	}
	const states = MaxArchived + 1
	for _, counter := range []uint32{0, 100, 2000, 2001, 25000, 1 << 31, math.MaxUint32} {
		b := budget{steps: maxSteps}
		err := bob.unchanged(t, "forgery", func() error {
			_, _, err := bob.session.decrypt(nil, forgery(t, counter), nil, &b)
			return err
		})
		if counter > MaxForwardJump {
			wantError(t, fmt.Sprint(counter), err, ErrTooFar)
			if b.agreements != 0 || b.derived != 0 {
				t.Errorf("counter %d: paid for %d agreements and %d steps", counter, b.agreements, b.derived)
			}
			continue
		}
		wantError(t, fmt.Sprint(counter), err, ErrBadMAC)
		var reasons *UnreadableError
		if !errors.As(err, &reasons) || reasons.tried() != states || reasons.BadMAC+reasons.TooFar != states {
			t.Errorf("counter %d: %v", counter, err)
		}
		tried := min(states, maxSteps/max(1, int(counter)))
		if b.agreements != tried || b.derived != tried*(int(counter)+1) {
			t.Errorf("counter %d: %d agreements and %d steps, want %d and %d",
				counter, b.agreements, b.derived, tried, tried*(int(counter)+1))
		}
		if b.derived > maxSteps+states {
			t.Errorf("counter %d: %d steps", counter, b.derived)
		}
	}
	// A message whose ratchet key is known costs no agreement, and no steps in
	// sessions that do not know it.
	exchange(t, alice, bob, "so that it is known")
	_, known, err := alice.session.Encrypt(nil, []byte("known"))
	if err != nil {
		t.Fatal(err)
	}
	known[len(known)-1] ^= 1
	b := budget{steps: maxSteps}
	_, _, err = bob.session.decrypt(nil, known, nil, &b)
	wantError(t, "known", err, ErrBadMAC)
	if b.agreements != 0 || b.derived > 1 {
		t.Errorf("a known ratchet key: %d agreements, %d steps", b.agreements, b.derived)
	}
	// Nor does it if only an archived session knows it, read or not.
	bob.session.current, bob.session.archived[3] = bob.session.archived[3], bob.session.current
	bob.session = must(ParseSession(record(bob.session)))(t)
	for range 2 {
		b = budget{steps: maxSteps}
		_, _, err = bob.session.decrypt(nil, known, nil, &b)
		wantError(t, "known in the archive", err, ErrBadMAC)
		if b.agreements != 0 || b.derived != 1 {
			t.Errorf("a ratchet key known in the archive: %d agreements, %d steps", b.agreements, b.derived)
		}
	}
	read := 0
	for _, st := range bob.session.archived {
		if !st.unread() {
			read++
		}
	}
	if read != 1 {
		t.Errorf("%d archived sessions were read for one", read)
	}
	bob.session.current, bob.session.archived[3] = bob.session.archived[3], bob.session.current
	// A session of the archive is found in spite of the bound.
	if err := bob.session.archived[MaxArchived-1].load(); err != nil {
		t.Fatal(err)
	}
	bob.session.current, bob.session.archived[MaxArchived-1] = bob.session.archived[MaxArchived-1], bob.session.current
	exchange(t, alice, bob, "from the oldest")
}

// TestVersions: sessions of other versions are carried and not used.
func TestVersions(t *testing.T) {
	alice, bob := conversation(t)
	_, body, err := bob.session.Encrypt(nil, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[uint32]error{2: ErrLegacyVersion, 4: ErrUnknownVersion} {
		d := &device{session: alice.session.Clone()}
		d.session.current.version = version
		d.session = must(ParseSession(record(d.session)))(t)
		err := d.unchanged(t, "encrypt", func() error { _, _, err := d.session.Encrypt(nil, nil); return err })
		wantError(t, "encrypt", err, want)
		err = d.unchanged(t, "decrypt", func() error { _, _, err := d.session.Decrypt(nil, body, nil); return err })
		wantError(t, "decrypt", err, want)
		var v *VersionError
		if !errors.As(err, &v) || v.Got != version {
			t.Errorf("%#v", err)
		}
	}
}

func TestClosedChain(t *testing.T) {
	alice, bob := conversation(t)
	exchange(t, alice, bob, "so that bob has the chain")
	skipped := jumpTo(t, alice, alice.session.SenderCounter())
	if _, _, err := alice.session.Encrypt(nil, nil); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, bob, "after a gap")
	r := bob.session.current.receiver(&alice.session.current.sender.public)
	r.closed, r.chain.key = true, [32]byte{}
	bob.session = must(ParseSession(record(bob.session)))(t)
	_, body, err := alice.session.Encrypt(nil, []byte("too late"))
	if err != nil {
		t.Fatal(err)
	}
	err = bob.unchanged(t, "closed chain", func() error { _, _, err := bob.session.Decrypt(nil, body, nil); return err })
	wantError(t, "closed chain", err, ErrClosedChain)
	if _, _, err := bob.session.Decrypt(nil, skipped, nil); err != nil {
		t.Errorf("skipped key of a closed chain: %v", err)
	}
	err = bob.unchanged(t, "closed chain, used key", func() error { _, _, err := bob.session.Decrypt(nil, skipped, nil); return err })
	wantError(t, "closed chain, used key", err, ErrDuplicate)
}

// TestPreKeyIDZero: an id of 0 that a peer sends is an id.
func TestPreKeyIDZero(t *testing.T) {
	alice, bob := newDevice(t, 1, 0), newDevice(t, 2, 0)
	bob.oneTime[0] = must(GeneratePreKey(0))(t)
	if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
		t.Fatal(err)
	}
	typ, body, err := alice.session.Encrypt(nil, []byte("hello"))
	if err != nil {
		t.Fatal(err)
	}
	if m := must(ParsePreKeySignalMessage(body))(t); !m.HasPreKeyID || m.PreKeyID != 0 {
		t.Fatalf("%+v", m)
	}
	if _, r, err := bob.decrypt(typ, body); err != nil || !r.ConsumedPreKey || r.PreKeyID != 0 || len(bob.oneTime) != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
}

func TestBadBundle(t *testing.T) {
	alice, bob := newDevice(t, 1, 0), newDevice(t, 2, 1)
	for name, change := range map[string]func(b *Bundle){
		"signature":     func(b *Bundle) { b.Signature[0] ^= 1 },
		"signed prekey": func(b *Bundle) { b.SignedPreKey[0] ^= 1 },
		"identity":      func(b *Bundle) { b.Identity = alice.local.Identity.PublicKey() },
		"u = -1": func(b *Bundle) {
			for i := range b.Identity {
				b.Identity[i] = 0xff
			}
			b.Identity[0], b.Identity[31] = 0xec, 0x7f
		},
	} {
		b := bob.bundle(1)
		change(b)
		err := alice.unchanged(t, name, func() error {
			return withDraws(t, func() error { return alice.session.Initiate(alice.local, b) })
		})
		wantError(t, name, err, ErrBadSignature)
	}
}

// TestLease: the ceiling follows the sending chain, and what it covered is
// never sent again.
func TestLease(t *testing.T) {
	alice, bob := conversation(t)
	incarnation := [16]byte{1, 2, 3}
	alice.session.SetLease(1064, incarnation, true)
	s := must(ParseSession(record(alice.session)))(t)
	if c, i, ok := s.Lease(); c != 1064 || i != incarnation || !ok {
		t.Fatal(c, i, ok)
	}
	// A new chain starts with a small lease.
	exchange(t, alice, bob, "ping")
	exchange(t, bob, alice, "pong")
	if c, _, _ := alice.session.Lease(); c != leaseBatch {
		t.Errorf("ceiling %d after a ratchet step", c)
	}
	// A session that is superseded is moved past its ceiling.
	if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
		t.Fatal(err)
	}
	if c, _, _ := alice.session.Lease(); c != 0 {
		t.Errorf("ceiling %d in a new session", c)
	}
	if c := alice.session.archived[0].sender.chain.index; c != leaseBatch {
		t.Errorf("archived session at %d", c)
	}
	// One that is promoted is moved past the ceiling of the record.
	_, body, err := bob.session.Encrypt(nil, []byte("of the old session"))
	if err != nil {
		t.Fatal(err)
	}
	alice.session.SetLease(128, incarnation, true)
	if _, r, err := alice.session.Decrypt(nil, body, nil); err != nil || !r.Promoted || r.Ratcheted {
		t.Fatalf("%+v, %v", r, err)
	}
	if alice.session.SenderCounter() != 128 {
		t.Errorf("promoted session at %d", alice.session.SenderCounter())
	}
	exchange(t, alice, bob, "after a burnt lease")
	// A gap that no honest store makes drops the chain: it is not stepped over.
	alice.session.current.burn(alice.session.SenderCounter() + maxBurn + 1)
	if alice.session.CanEncrypt() {
		t.Error("an implausible ceiling was stepped over")
	}
	if _, _, err := alice.session.Encrypt(nil, nil); !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
	exchange(t, bob, alice, "it still receives")

	for name, c := range map[string]struct {
		tail []byte
		bad  bool
	}{
		"ceiling twice":                  {[]byte{0xa0, 6, 64, 0xa0, 6, 65}, true},
		"ceiling of another type":        {[]byte{0xa2, 6, 1, 64}, true},
		"ceiling over 32 bits":           {[]byte{0xa0, 6, 0x80, 0x80, 0x80, 0x80, 0x10}, true},
		"ceiling cut":                    {[]byte{0xa0, 6}, true},
		"incarnation of 15 bytes":        {append([]byte{0xa0, 6, 64, 0xaa, 6, 15}, make([]byte, 15)...), false},
		"incarnation twice":              {append(append([]byte{0xa0, 6, 64, 0xaa, 6, 16}, make([]byte, 16)...), append([]byte{0xaa, 6, 16}, make([]byte, 16)...)...), false},
		"incarnation of another type":    {[]byte{0xa0, 6, 64, 0xa8, 6, 16}, false},
		"incarnation cut":                {append([]byte{0xa0, 6, 64, 0xaa, 6, 16}, make([]byte, 15)...), true},
		"incarnation without a ceiling":  {append([]byte{0xaa, 6, 16}, make([]byte, 16)...), false},
		"an unknown field is no trouble": {[]byte{0xc0, 6, 1}, false},
	} {
		s, err := ParseSession(append(record(bob.session), c.tail...))
		k, kerr := ParseSenderKey(c.tail)
		if c.bad != errors.Is(err, ErrCorruptRecord) || c.bad != errors.Is(kerr, ErrCorruptRecord) {
			t.Errorf("%s: %v, %v", name, err, kerr)
			continue
		}
		if !c.bad {
			_, _, ok := s.Lease()
			if _, _, group := k.Lease(); ok || group {
				t.Errorf("%s: trusted", name)
			}
		}
	}
}
