package signal

import (
	"testing"
	"time"
)

// TestSweepCovered: what a lease covers is kept, and counted as such.
func TestSweepCovered(t *testing.T) {
	alice, _ := conversation(t)
	var incarnation [16]byte
	var r SweepReport
	for _, c := range []struct {
		ceiling uint32
		covered bool
	}{{0, false}, {alice.session.SenderCounter(), false}, {64, true}} {
		alice.session.SetLease(c.ceiling, incarnation, true)
		_, keep := r.session(record(alice.session))
		if (keep == &r.Leased) != c.covered || !c.covered && keep != nil {
			t.Errorf("a session with a ceiling of %d is covered: %v", c.ceiling, !c.covered)
		}
	}
	var sender, k SenderKey
	if err := sender.Create(); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
		t.Fatal(err)
	}
	if _, keep := r.senderKey(groupRecord(&k)); keep != nil {
		t.Error("a sender key without a lease is covered")
	}
	k.SetLease(64, incarnation, true)
	if _, keep := r.senderKey(groupRecord(&k)); keep != &r.Leased {
		t.Error("a sender key with a lease is not covered")
	}
}

// TestLastUse: the day is in the row, survives what does not change it, and is in
// no record that leaves the account.
func TestLastUse(t *testing.T) {
	at := time.Date(2026, 12, 1, 23, 59, 59, 0, time.UTC)
	d := dayOf(at)
	if want := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC); !d.start().Equal(want) || dayOf(at.Add(time.Second)) != d+1 {
		t.Errorf("day %d begins %v", d, d.start())
	}
	if !day(0).start().IsZero() || dayOf(time.Time{}) != 0 {
		t.Error("a day that is not known has a time")
	}
	alice, _ := conversation(t)
	plain := record(alice.session)
	s, err := ParseSession(append(d.append(nil), plain...))
	if err != nil || s.used != d {
		t.Fatalf("day %d read back as %d: %v", d, s.used, err)
	}
	if string(record(s)) != string(plain) {
		t.Error("a record has the day of its row")
	}
	r := row{session: s}
	s.used = 7
	if !r.use() || r.use() || s.used != dayOf(time.Now()) {
		t.Error("a use is not of today")
	}
	// A day that is none is not known.
	for _, field := range [][]byte{{0xb8, 0x06, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, {0xba, 0x06, 1, 7}} {
		if s, err := ParseSession(append(field, plain...)); err != nil || s.used != 0 {
			t.Errorf("% x read as day %d: %v", field, s.used, err)
		}
	}
}
