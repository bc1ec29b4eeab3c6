package signal

import (
	"errors"
	"testing"
)

// recordOf returns bob with a record of that many archived sessions and skipped
// keys, and messages of alice that he can read in order.
func recordOf(t testing.TB, archived, skipped int) (alice, bob *device) {
	t.Helper()
	alice, bob = newDevice(t, 1, 0), newDevice(t, 2, 0)
	for range archived + 1 {
		if err := alice.session.Initiate(alice.local, bob.bundle(0)); err != nil {
			t.Fatal(err)
		}
		exchange(t, alice, bob, "new session")
		exchange(t, bob, alice, "answer")
	}
	exchange(t, alice, bob, "so that bob has the chain")
	for range skipped {
		if _, _, err := alice.session.Encrypt(nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	exchange(t, alice, bob, "after the gap")
	if bob.session.Archived() != archived || bob.session.Skipped() != skipped {
		t.Fatalf("%d archived sessions, %d skipped keys", bob.session.Archived(), bob.session.Skipped())
	}
	return alice, bob
}

var recordSizes = []struct {
	name              string
	archived, skipped int
}{
	{"fresh", 0, 0},
	{"archived=40", MaxArchived, 0},
	{"skipped=2000", 0, MaxSkippedKeys},
}

// Live values: what a record holds beside the current chain costs a message
// nothing.
func BenchmarkRecordLive(b *testing.B) {
	for _, size := range recordSizes {
		b.Run(size.name, func(b *testing.B) {
			alice, bob := recordOf(b, size.archived, size.skipped)
			bodies := make([][]byte, b.N)
			for i := range bodies {
				_, bodies[i], _ = alice.session.Encrypt(nil, make([]byte, 128))
			}
			buf := make([]byte, 0, 512)
			b.ReportAllocs()
			b.ResetTimer()
			for _, body := range bodies {
				if _, _, err := bob.session.Decrypt(buf, body, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Live values: reading what was skipped, the oldest first.
func BenchmarkRecordLiveSkipped(b *testing.B) {
	alice, bob := recordOf(b, 0, 0)
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		b.StopTimer()
		bodies := make([][]byte, MaxSkippedKeys)
		for i := range bodies {
			_, bodies[i], _ = alice.session.Encrypt(nil, make([]byte, 128))
		}
		exchange(b, alice, bob, "after the gap")
		order := [2]int{len(bodies) / 2, 0} // from the middle, then from the start
		b.StartTimer()
		for _, start := range order {
			for i := range len(bodies) / 2 {
				if n++; n > b.N {
					return
				}
				if _, _, err := bob.session.Decrypt(buf, bodies[start+i], nil); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

// From bytes and back around a message.
func BenchmarkRecordStored(b *testing.B) {
	for _, size := range recordSizes {
		b.Run(size.name, func(b *testing.B) {
			alice, bob := recordOf(b, size.archived, size.skipped)
			stored := record(bob.session)
			_, body, err := alice.session.Encrypt(nil, make([]byte, 128))
			if err != nil {
				b.Fatal(err)
			}
			buf, out := make([]byte, 0, 512), make([]byte, 0, 2*len(stored))
			b.ReportAllocs()
			for b.Loop() {
				s, err := ParseSession(stored)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := s.Decrypt(buf, body, nil); err != nil {
					b.Fatal(err)
				}
				if _, err := s.AppendBinary(out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(stored)), "bytes")
		})
	}
}

// What a message does not need of a record stays as it is stored, and is written
// as it was read.
func TestRecordStaysStored(t *testing.T) {
	alice, bob := recordOf(t, MaxArchived, MaxSkippedKeys)
	kept := bob.session.current.receivers[len(bob.session.current.receivers)-1].skipped.list[1000].counter
	bob.session = must(ParseSession(record(bob.session)))(t)
	unread := func() (n int) {
		for _, st := range bob.session.archived {
			if st.unread() {
				n++
			}
		}
		return n
	}
	skipped := func() *skippedKeys {
		return &bob.session.current.receivers[len(bob.session.current.receivers)-1].skipped
	}
	same := func(what string) {
		t.Helper()
		// Reading everything and writing it again gives the same bytes.
		c := must(ParseSession(record(bob.session)))(t)
		for _, st := range c.archived {
			if err := st.load(); err != nil {
				t.Fatal(err)
			}
			st.changed()
		}
		for i := range c.current.receivers {
			c.current.receivers[i].skipped.load()
		}
		if string(record(c)) != string(record(bob.session)) || string(c.AppendPortable(nil)) != string(bob.session.AppendPortable(nil)) {
			t.Errorf("%s: the stored form is another than the written one", what)
		}
	}
	same("loaded")
	bob.session = must(ParseSession(record(bob.session)))(t)
	exchange(t, alice, bob, "in order")
	if unread() != MaxArchived || skipped().stored == nil || skipped().len() != MaxSkippedKeys {
		t.Errorf("%d archived sessions unread, %d skipped keys stored", unread(), skipped().count)
	}
	same("after a message")

	// Looking for a key reads the first time what is stored, then the list.
	for look := range 3 {
		i, ok := skipped().find(kept)
		if !ok || skipped().at(i).counter != kept {
			t.Fatalf("look %d: key %d is not found", look, kept)
		}
		if _, ok := skipped().find(1 << 31); ok {
			t.Fatal("found a key that is not there")
		}
	}
	for _, loaded := range []bool{false, true} {
		bob.session = must(ParseSession(record(bob.session)))(t)
		if loaded {
			skipped().load()
		}
		for _, counter := range []uint32{kept, kept - 1, kept + 1} {
			n := skipped().len()
			i, ok := skipped().find(counter)
			if !ok {
				if loaded {
					continue // used in the other round
				}
				t.Fatalf("key %d is not found", counter)
			}
			clone := skipped().clone()
			skipped().remove(i)
			if _, ok := skipped().find(counter); ok || skipped().len() != n-1 {
				t.Errorf("key %d is there after its use", counter)
			}
			if _, ok := clone.find(counter); !ok || clone.len() != n {
				t.Errorf("key %d is gone from a copy", counter)
			}
			same("after the use of a key")
		}
	}
}

// An archived session that cannot be read stays where it is, reads nothing, and
// keeps the others from nothing.
func TestUnreadableArchivedSession(t *testing.T) {
	alice, bob := recordOf(t, 3, 0)
	rotten := bob.session.archived[1]
	rotten.stored, rotten.body = append(rotten.append(nil, compact), 0xff), nil
	bob.session = must(ParseSession(record(bob.session)))(t)
	stored := bob.session.archived[1].stored
	exchange(t, alice, bob, "in order")
	err := bob.unchanged(t, "a forgery", func() error {
		_, _, err := bob.session.Decrypt(nil, forgery(t, 0), nil)
		return err
	})
	wantError(t, "a forgery", err, ErrBadMAC)
	var reasons *UnreadableError
	if !errors.As(err, &reasons) || reasons.BadMAC != 3 || reasons.Other != 1 || reasons.tried() != 4 {
		t.Errorf("of four sessions, one that cannot be read: %v", err)
	}
	bob.session = must(ParseSession(bob.session.AppendPortable(nil)))(t)
	exchange(t, bob, alice, "answer")
	exchange(t, alice, bob, "with a new ratchet key")
	bob.session = must(ParseSession(record(bob.session)))(t)
	if got := bob.session.archived[1]; !got.unread() || string(got.stored) != string(stored) {
		t.Error("the session that cannot be read has changed")
	}
	only := &Session{archived: []*state{{stored: stored}}}
	_, _, err = only.Decrypt(nil, forgery(t, 0), nil)
	wantError(t, "nothing else to read with", err, ErrCorruptRecord)
}
