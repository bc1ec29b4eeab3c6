package signal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// refusals reads what must be refused, in every form in which a record is kept,
// and compares the errors. The portable form tells no more than that a key was
// used.
type refusals struct {
	t      *testing.T
	forms  map[string]func(body []byte) error
	record func() []byte
}

func (r *refusals) want(what string, body []byte, want error, next, counter uint32) {
	r.t.Helper()
	before := r.record()
	for name, read := range r.forms {
		want := want
		if name == "portable" {
			want = ErrDuplicate
		}
		err := read(body)
		wantError(r.t, what+", "+name, err, want)
		var at [2]uint32
		var duplicate *DuplicateError
		var rolledBack *RolledBackError
		var noKey *NoMessageKeyError
		switch {
		case errors.As(err, &duplicate):
			at = [2]uint32{duplicate.Next, duplicate.Counter}
		case errors.As(err, &rolledBack):
			at = [2]uint32{rolledBack.Next, rolledBack.Counter}
		case errors.As(err, &noKey):
			at = [2]uint32{noKey.Next, noKey.Counter}
		}
		if at != [2]uint32{next, counter} {
			r.t.Errorf("%s, %s: %v, want message %d of a chain at %d", what, name, err, counter, next)
		}
		for _, other := range []error{ErrDuplicate, ErrRolledBack, ErrNoMessageKey} {
			if other != want && errors.Is(err, other) {
				r.t.Errorf("%s, %s: %v is also %v", what, name, err, other)
			}
		}
	}
	if !bytes.Equal(r.record(), before) {
		r.t.Errorf("%s: the record has changed", what)
	}
}

// TestUsedCountersOfSessions: a message that comes again, another one with its
// counter, and one of which the key is gone are three different answers.
func TestUsedCountersOfSessions(t *testing.T) {
	alice, bob := conversation(t)
	exchange(t, alice, bob, "so that bob has the chain")
	read := func(s *Session, body []byte) error { _, _, err := s.Decrypt(nil, body, nil); return err }
	r := &refusals{t: t, record: func() []byte { return record(bob.session) }, forms: map[string]func([]byte) error{
		"live":     func(b []byte) error { return read(bob.session, b) },
		"copied":   func(b []byte) error { return read(bob.session.Clone(), b) },
		"stored":   func(b []byte) error { return read(must(ParseSession(record(bob.session)))(t), b) },
		"portable": func(b []byte) error { return read(must(ParseSession(bob.session.AppendPortable(nil)))(t), b) },
	}}
	write := func(s *Session, plaintext string) []byte {
		_, body, err := s.Encrypt(nil, []byte(plaintext))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	start := alice.session.SenderCounter()
	backup := alice.session.Clone()
	var sent [][]byte
	for i := range 20 {
		sent = append(sent, write(alice.session, fmt.Sprint("message ", i)))
	}
	for i, body := range sent {
		if i == 10 || i == 18 {
			continue // late
		}
		if err := read(bob.session, body); err != nil {
			t.Fatal(err)
		}
	}
	next := start + 20
	for _, i := range []uint32{0, 3, 4, 9, 19} {
		r.want("a replay", sent[i], ErrDuplicate, next, start+i)
	}
	// Alice is put back, and writes other messages with the same counters.
	var again [][]byte
	for i := range 20 {
		again = append(again, write(backup, fmt.Sprint("another ", i)))
	}
	for i, body := range again {
		want := ErrRolledBack
		switch {
		case i == 10 || i == 18:
			continue
		case i < 4:
			want = ErrDuplicate // too long ago to tell
		}
		r.want("a counter used again", body, want, next, start+uint32(i))
	}
	// A late message uses a kept key; then the same holds for it.
	if err := read(bob.session, sent[18]); err != nil {
		t.Fatal(err)
	}
	r.want("a replay of a late message", sent[18], ErrDuplicate, next, start+18)
	r.want("the counter of a late message used again", again[18], ErrRolledBack, next, start+18)
	// The kept key reads whichever comes first.
	if err := read(bob.session, again[10]); err != nil {
		t.Fatal(err)
	}
	r.want("what comes second", sent[10], ErrRolledBack, next, start+10)

	// More messages are lost than keys are kept: the oldest are gone.
	for range 2 {
		if err := read(bob.session, jumpTo(t, alice, next+2000)); err != nil {
			t.Fatal(err)
		}
		next += 2001
	}
	r.want("a key that was discarded", jumpTo(t, alice, next-4002+5), ErrNoMessageKey, next, next-4002+5)
	r.want("the newest message, again", jumpTo(t, alice, next-1), ErrDuplicate, next, next-1)
	if err := read(bob.session, jumpTo(t, alice, next-1000)); err != nil {
		t.Fatal(err)
	}
	r.want("a kept key that was used", jumpTo(t, alice, next-1000), ErrDuplicate, next, next-1000)
}

func TestUsedCountersOfSenderKeys(t *testing.T) {
	sender, early := group(t)
	missed := must(sender.Encrypt(nil, []byte("before the key was given")))(t)
	if _, err := early.Decrypt(nil, missed); err != nil {
		t.Fatal(err)
	}
	receiver := new(SenderKey)
	if _, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
		t.Fatal(err)
	}
	read := func(k *SenderKey, body []byte) error { _, err := k.Decrypt(nil, body); return err }
	r := &refusals{t: t, record: func() []byte { return groupRecord(receiver) }, forms: map[string]func([]byte) error{
		"live":     func(b []byte) error { return read(receiver, b) },
		"copied":   func(b []byte) error { return read(receiver.Clone(), b) },
		"stored":   func(b []byte) error { return read(must(ParseSenderKey(groupRecord(receiver)))(t), b) },
		"portable": func(b []byte) error { return read(must(ParseSenderKey(receiver.AppendPortable(nil)))(t), b) },
		"many": func(b []byte) error {
			items := []GroupDecryption{{Key: receiver, Message: b}}
			DecryptGroupMany(nil, items)
			return items[0].Err
		},
	}}
	r.want("a message before the key was given", missed, ErrNoMessageKey, 1, 0)
	backup := sender.Clone()
	var sent [][]byte
	for range 5 {
		sent = append(sent, must(sender.Encrypt(nil, []byte("message")))(t))
	}
	for i, body := range sent {
		if i == 2 {
			continue // late
		}
		if err := read(receiver, body); err != nil {
			t.Fatal(err)
		}
	}
	for i := range sent {
		body := must(backup.Encrypt(nil, []byte("message")))(t)
		if i == 2 {
			continue
		}
		r.want("a replay", sent[i], ErrDuplicate, 6, uint32(1+i))
		r.want("an iteration used again", body, ErrRolledBack, 6, uint32(1+i))
	}
	if err := read(receiver, sent[2]); err != nil {
		t.Fatal(err)
	}
	r.want("a replay of a late message", sent[2], ErrDuplicate, 6, 3)

	// The same key again changes nothing of that.
	if d, err := receiver.Process(must(early.AppendDistribution(nil))(t)); err != nil || d != DistributionKnown {
		t.Fatal(d, err)
	}
	r.want("a message before the key was given", missed, ErrNoMessageKey, 6, 0)
}

// TestUsedCountersWindow compares with a map of all counters.
func TestUsedCountersWindow(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, start := range []uint32{0, 3, math.MaxUint32 - 400} {
		var u usedCounters
		next, marks := start, map[uint32]uint16{}
		for range 300 {
			mark := uint16(1 + r.IntN(math.MaxUint16))
			counter := next
			switch r.IntN(4) {
			case 0: // some are skipped
				if jump := uint32(r.IntN(40)); next < math.MaxUint32-50 {
					counter += jump
				}
			case 1: // a kept key is used
				counter -= min(next, uint32(r.IntN(40)))
			}
			if counter >= next {
				if counter == math.MaxUint32 {
					break
				}
				u.pass(next, counter, mark)
				next = counter + 1
			} else if marks[counter] == 0 {
				u.use(next, counter, mark)
			} else {
				continue
			}
			marks[counter] = mark
			form := u.append(nil, next)
			if len(form) != u.stored(next) || len(form) > 2*usedWindow {
				t.Fatalf("%d bytes, %d announced", len(form), u.stored(next))
			}
			var read usedCounters
			if read.parse(form, next); read != u {
				t.Fatalf("%v is read as %v", u, read)
			}
			for back := uint32(1); back <= min(next, 60); back++ {
				want := marks[next-back]
				if back > usedWindow {
					want = 0
				}
				if got := u.of(next, next-back); got != want {
					t.Fatalf("mark %d of counter %d of a chain at %d, want %d", got, next-back, next, want)
				}
			}
		}
	}
	var u usedCounters
	for _, b := range [][]byte{{1}, make([]byte, 34), {1, 0, 2, 0}} {
		u.pass(0, 0, 7)
		if u.parse(b, 1); u != (usedCounters{}) {
			t.Errorf("%x is read as %v", b, u)
		}
	}
}
