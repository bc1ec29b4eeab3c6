package accounttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

type ctxt = context.Context

// operation is something that an account does with what it has stored.
type operation struct {
	name string
	do   func(*party) error
	none error // what it says if there is no record
	// table is the table of the record that it needs.
	table store.Table
}

// operations returns what p can do over its session with q, given a message of
// each kind that q sent to p.
func operations(p, q *party, msg signal.Ciphertext, fromGroup []byte) []operation {
	ctx := p.t.Context()
	return []operation{
		{"encrypt", func(p *party) error {
			_, err := p.Encrypt(ctx, q.addr, []byte("x"))
			return err
		}, signal.ErrNoSession, store.Sessions},
		{"encrypt many", func(p *party) error {
			res, err := p.EncryptMany(ctx, []signal.Outgoing{{To: q.addr, Plaintext: []byte("x")}})
			if err != nil {
				return err
			}
			return res[0].Err
		}, signal.ErrNoSession, store.Sessions},
		{"decrypt", func(p *party) error {
			_, err := p.Decrypt(ctx, q.addr, msg.Type, msg.Body)
			return err
		}, signal.ErrNoSession, store.Sessions},
		{"group encrypt", func(p *party) error {
			_, err := p.EncryptGroup(ctx, p.senderKey(), []byte("x"))
			return err
		}, signal.ErrNoSenderKey, store.SenderKeys},
		{"group decrypt", func(p *party) error {
			_, err := p.DecryptGroup(ctx, q.senderKey(), fromGroup)
			return err
		}, signal.ErrNoSenderKey, store.SenderKeys},
		{"group send", func(p *party) error {
			res, err := p.SendGroup(ctx, &signal.GroupSend{
				Name: p.senderKey(), Distribute: []signal.Address{q.addr},
				Wrap: func(b []byte) ([]byte, error) { return b, nil },
			})
			if err != nil {
				return err
			}
			return res.Recipients[0].Err
		}, signal.ErrNoSession, 0},
	}
}

// faultPair returns two parties with a session and sender keys both ways, and
// a message of each kind from the second to the first.
func faultPair(t *testing.T, open Open) (alice, bob *party, msg signal.Ciphertext, fromGroup []byte) {
	t.Helper()
	alice, bob = established(t, open)
	alice.distribute(bob)
	bob.distribute(alice)
	return alice, bob, bob.encrypt(alice, "kept"), bob.encryptGroup("kept")
}

// testThreeAnswers holds that no record, a record without content and a failed
// read are three different answers, and that none of them makes a session.
func testThreeAnswers(t *testing.T, open Open) {
	alice, bob, msg, fromGroup := faultPair(t, open)
	// An archived session alone is no session to send in, and does not read
	// what is not its own.
	for _, op := range operations(alice, bob, msg, fromGroup)[:5] {
		for what, replace := range map[string]func(store.Key, store.Record) store.Record{
			"no row":       func(store.Key, store.Record) store.Record { return store.Record{} },
			"an empty row": func(store.Key, store.Record) store.Record { return store.Record{Found: true} },
			"a row of unknown fields": func(store.Key, store.Record) store.Record {
				return store.Record{Found: true, Value: protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 1)}
			},
		} {
			alice.store.replace(func(k store.Key, r store.Record) store.Record {
				if k.Table == op.table {
					return replace(k, r)
				}
				return r
			})
			alice.store.counts()
			alice.unchanged(op.name+": "+what, func() {
				wantError(t, op.name+": "+what, op.do(alice), op.none)
			})
			if _, w := alice.store.counts(); w != 0 {
				t.Errorf("%s: %s: %d writes", op.name, what, w)
			}
		}
	}
	alice.store.replace(nil)
	for _, op := range operations(alice, bob, msg, fromGroup) {
		alice.store.hooks(func(_ ctxt, c call) error {
			if !c.write {
				return errLocked
			}
			return nil
		}, nil)
		alice.store.counts()
		alice.unchanged(op.name+": a failed read", func() {
			err := op.do(alice)
			wantError(t, op.name+": a failed read", err, errLocked)
			if errors.Is(err, signal.ErrNoSession) || errors.Is(err, signal.ErrNoSenderKey) {
				t.Errorf("%s: a failed read was taken for an absent record", op.name)
			}
		})
		if _, w := alice.store.counts(); w != 0 {
			t.Errorf("%s: %d writes after a failed read", op.name, w)
		}
		alice.store.heal()
	}
	// A PreKeySignalMessage is not refused for want of a session, but is when
	// the read fails.
	carol := newParty(t, alice.store.Backend, 3)
	carol.start(alice)
	first := carol.encrypt(alice, "first")
	alice.store.hooks(func(ctxt, call) error { return errLocked }, nil)
	alice.unchanged("a failed read", func() {
		_, err := alice.Decrypt(t.Context(), carol.addr, first.Type, first.Body)
		wantError(t, "first message: a failed read", err, errLocked)
	})
	alice.store.heal()
	alice.decrypt(carol, first, "first")
	alice.decrypt(bob, msg, "kept")
	alice.decryptGroup(bob, fromGroup, "kept")
}

// testTruncated cuts each record at each byte. A cut that leaves a record with
// nothing in it may say so; any other is a corrupt record; nothing changes and
// nothing is made anew.
func testTruncated(t *testing.T, open Open) {
	alice, bob, msg, fromGroup := faultPair(t, open)
	carol := newParty(t, alice.store.Backend, 3)
	carol.start(alice)
	first := carol.encrypt(alice, "first")
	bundle := bob.bundle()
	ops := append(operations(alice, bob, msg, fromGroup),
		operation{"process bundle", func(p *party) error {
			_, err := p.ProcessBundle(t.Context(), bob.addr, bundle)
			return err
		}, nil, store.Sessions},
		operation{"first message: prekey", func(p *party) error {
			_, err := p.Decrypt(t.Context(), carol.addr, first.Type, first.Body)
			return err
		}, signal.ErrPreKeyID, store.PreKeys},
		operation{"first message: signed prekey", func(p *party) error {
			_, err := p.Decrypt(t.Context(), carol.addr, first.Type, first.Body)
			return err
		}, signal.ErrSignedPreKeyID, store.SignedPreKeys},
		operation{"encrypt: identity", func(p *party) error {
			_, err := p.Encrypt(t.Context(), bob.addr, []byte("x"))
			return err
		}, nil, store.Identities},
		operation{"decrypt: identity", func(p *party) error {
			_, err := p.Decrypt(t.Context(), bob.addr, msg.Type, msg.Body)
			return err
		}, nil, store.Identities},
	)
	for _, op := range ops {
		if op.table == 0 {
			continue
		}
		whole := 0
		cut := 1
		before := alice.rows()
		for ; ; cut++ {
			alice.store.replace(func(k store.Key, r store.Record) store.Record {
				if k.Table == op.table && r.Found {
					whole = max(whole, len(r.Value))
					r.Value = r.Value[:min(cut, len(r.Value)):min(cut, len(r.Value))]
				}
				return r
			})
			end := whole
			if op.table == store.SignedPreKeys {
				end -= 9 // the timestamp, which may be absent
			}
			if whole != 0 && cut >= end {
				break
			}
			err := op.do(alice)
			if !errors.Is(err, signal.ErrCorruptRecord) {
				t.Errorf("%s: record cut to %d bytes: %v", op.name, cut, err)
			}
		}
		if whole < 32 {
			t.Errorf("%s: a record of %d bytes was cut", op.name, whole)
		}
		alice.store.replace(nil)
		alice.unchanged(op.name, func() {})
		after := alice.rows()
		for k, v := range after {
			if before[k] != v {
				t.Errorf("%s: a cut record led to a write of %v", op.name, k.Table)
			}
		}
	}
	// A corrupt record goes when it is deleted, and not before.
	alice.store.replace(func(k store.Key, r store.Record) store.Record {
		if k.Table == store.Sessions && r.Found {
			r.Value = r.Value[:len(r.Value)-1]
		}
		return r
	})
	if err := alice.DeleteSession(t.Context(), bob.addr); err != nil {
		t.Errorf("deletion of a corrupt record: %v", err)
	}
	alice.store.heal()
	if ok, err := alice.HasSession(t.Context(), bob.addr); ok || err != nil {
		t.Errorf("session after deletion: %v, %v", ok, err)
	}
}

// testForged sends forgeries to a store that hands out live records: none of
// them changes a bit, or what is sent next.
func testForged(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	genuine := bob.encrypt(alice, "genuine")
	before, err := alice.SessionInfo(ctx, bob.addr)
	if err != nil {
		t.Fatal(err)
	}
	fresh := bob.sendingChain(alice)
	key, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	tagged := key.PublicKey().Tagged()
	fresh.ratchet = tagged[:]
	body := []byte("0123456789abcdef")
	forge := func(counter uint64, mac []byte) []byte {
		c := fresh
		c.counter = counter
		m := c.message(body)
		return append(m[:len(m)-8:len(m)-8], mac...)
	}
	nearly := append([]byte(nil), genuine.Body...)
	nearly[len(nearly)-1] ^= 1
	for name, m := range map[string][]byte{
		"counter 0":     forge(0, make([]byte, 8)),
		"counter 1999":  forge(1999, make([]byte, 8)),
		"last MAC bit":  nearly,
		"a MAC of ones": forge(0, []byte("\xff\xff\xff\xff\xff\xff\xff\xff")),
	} {
		for range 3 {
			alice.unchanged(name, func() {
				_, err := alice.Decrypt(ctx, bob.addr, signal.TypeSignal, m)
				wantError(t, name, err, signal.ErrBadMAC)
			})
		}
	}
	alice.decrypt(bob, genuine, "genuine")
	after, err := alice.SessionInfo(ctx, bob.addr)
	if err != nil || after.Skipped != before.Skipped {
		t.Errorf("info: %+v, %v", after, err)
	}
	alice.say(bob, "and on")
	if next, _ := alice.SessionInfo(ctx, bob.addr); next.SenderCounter != after.SenderCounter+1 {
		t.Errorf("counter %d after %d", next.SenderCounter, after.SenderCounter)
	}
	alice.talk(bob, 3)

	// Garbage of every kind is an error of the message.
	for _, typ := range []signal.MessageType{0, 1, signal.TypeSignal, signal.TypePreKey, signal.TypeSenderKey, 8, 255} {
		for n := range 80 {
			for _, fill := range []byte{0, 0x33, 0xff} {
				m := make([]byte, n)
				for i := range m {
					m[i] = fill
				}
				if _, err := alice.Decrypt(ctx, bob.addr, typ, m); err == nil || errors.Is(err, signal.ErrCorruptRecord) {
					t.Fatalf("type %d, %d bytes of %#x: %v", typ, n, fill, err)
				}
			}
		}
	}
	alice.talk(bob, 3)
}

// testMalformed sends correctly authenticated messages that cannot be
// decrypted: an error, and the good message of the same counter is still read.
func testMalformed(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	for range 2 { // in a chain that alice knows, and in one that is new to her
		c := bob.sendingChain(alice)
		for name, body := range badBodies(c.cipherKey, c.vector) {
			m := c.message(body)
			alice.unchanged(name, func() {
				_, err := alice.Decrypt(ctx, bob.addr, signal.TypeSignal, m)
				wantError(t, name, err, signal.ErrMalformed)
			})
		}
		bob.say(alice, "well formed, of the same counter")
		alice.say(bob, "turn")
	}
	// The crafted messages are what they claim to be: a good body is read.
	c := bob.sendingChain(alice)
	good := cbc(c.cipherKey, c.vector, append([]byte("plain"), "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"...))
	alice.decrypt(bob, signal.Ciphertext{Type: signal.TypeSignal, Body: c.message(good)}, "plain")
}

func testMalformedGroup(t *testing.T, open Open) {
	ctx := t.Context()
	m := members(t, open, 2)
	alice, bob := m[0], m[1]
	alice.distribute(bob)
	c := alice.groupChain()
	for name, body := range badBodies(c.key, c.iv) {
		bob.unchanged(name, func() {
			_, err := bob.DecryptGroup(ctx, alice.senderKey(), c.message(t, body))
			wantError(t, name, err, signal.ErrMalformed)
		})
	}
	bob.decryptGroup(alice, alice.encryptGroup("well formed, of the same iteration"), "well formed, of the same iteration")
	c = alice.groupChain()
	good := cbc(c.key, c.iv, append([]byte("plain"), "\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"...))
	bob.decryptGroup(alice, c.message(t, good), "plain")
	for n := range 130 {
		for _, fill := range []byte{0, 0x33, 0xff} {
			b := make([]byte, n)
			for i := range b {
				b[i] = fill
			}
			bob.unchanged("garbage", func() {
				if _, err := bob.DecryptGroup(ctx, alice.senderKey(), b); err == nil {
					t.Errorf("%d bytes of %#x were read", n, fill)
				}
				if _, err := bob.ProcessSenderKey(ctx, alice.senderKey(), b); err == nil {
					t.Errorf("%d bytes of %#x were taken for a key", n, fill)
				}
			})
		}
	}
}

// testFailedWrite makes writes fail, before they take place and after, in the
// middle of a conversation: nothing that was returned shares a key with
// anything else, and the conversation goes on.
func testFailedWrite(t *testing.T, open Open) {
	ctx := t.Context()
	alice, bob := established(t, open)
	alice.distribute(bob)
	used := newKeySet(t)
	for round := range 40 {
		lost := round%3 == 0 // the write took place and its answer was lost
		fail := func(_ ctxt, c call) error {
			if c.write && !lost {
				return errLocked
			}
			return nil
		}
		alice.store.hooks(fail, func(_ ctxt, c call, err error) error {
			if c.write && lost {
				return errLocked
			}
			return err
		})
		c, err := alice.Encrypt(ctx, bob.addr, []byte("not sent"))
		wantError(t, "encrypt", err, errLocked)
		body, err := alice.EncryptGroup(ctx, alice.senderKey(), []byte("not sent"))
		wantError(t, "group encrypt", err, errLocked)
		if c.Body != nil || body != nil {
			t.Fatal("a ciphertext left although its write failed")
		}
		in := bob.encrypt(alice, "redelivered")
		d, err := alice.Decrypt(ctx, bob.addr, in.Type, in.Body)
		wantError(t, "decrypt", err, errLocked)
		if d != nil {
			t.Fatal("a plaintext left although its write failed")
		}
		alice.store.heal()
		if lost {
			// The message was read as far as the store knows.
			_, err := alice.Decrypt(ctx, bob.addr, in.Type, in.Body)
			wantError(t, "redelivery after a lost answer", err, signal.ErrDuplicate)
		} else {
			alice.decrypt(bob, in, "redelivered")
		}
		out, _ := alice.say(bob, fmt.Sprint("sent ", round))
		used.add(out)
		group := alice.encryptGroup("sent")
		used.addGroup(group)
		bob.decryptGroup(alice, group, "sent")
	}
	alice.talk(bob, 3)
}

// testCancelEverywhere ends the context at the k-th call of the backend, for
// every k, before the call and after it.
func testCancelEverywhere(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.distribute(bob)
	used := newKeySet(t)
	for _, early := range []bool{true, false} {
		for k := 1; k <= 4; k++ {
			ctx, cancel := context.WithCancel(t.Context())
			calls := 0
			alice.store.hooks(func(ctxt, call) error {
				if calls++; calls == k && early {
					cancel()
				}
				return nil
			}, func(_ ctxt, _ call, err error) error {
				if calls == k && !early {
					cancel()
				}
				return err
			})
			in := bob.encrypt(alice, "in")
			c, err := alice.Encrypt(ctx, bob.addr, []byte("out"))
			calls = 0
			if err == nil {
				used.add(c)
				bob.decrypt(alice, c, "out")
			} else {
				wantError(t, "encrypt", err, context.Canceled)
			}
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			if _, err = alice.Decrypt(ctx, bob.addr, in.Type, in.Body); err != nil {
				wantError(t, "decrypt", err, context.Canceled)
			}
			read := err == nil
			calls = 0
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			body, err := alice.EncryptGroup(ctx, alice.senderKey(), []byte("out"))
			if err == nil {
				used.addGroup(body)
				bob.decryptGroup(alice, body, "out")
			} else {
				wantError(t, "group encrypt", err, context.Canceled)
			}
			cancel()
			alice.store.heal()

			// An operation that was cancelled has not happened.
			if _, err := alice.Decrypt(t.Context(), bob.addr, in.Type, in.Body); read != errors.Is(err, signal.ErrDuplicate) || !read && err != nil {
				t.Errorf("k=%d early=%v: read is %v, then %v", k, early, read, err)
			}
			out, _ := alice.say(bob, "out")
			used.add(out)
			group := alice.encryptGroup("out")
			used.addGroup(group)
			bob.decryptGroup(alice, group, "out")
		}
	}
	alice.talk(bob, 3)
}

// testLockWait holds that a wait for a lock ends with the context, and that
// other addresses are not waited for.
func testLockWait(t *testing.T, open Open) {
	alice, bob := established(t, open)
	carol := newParty(t, bob.store.Backend, 3)
	alice.start(carol)
	row := store.Session(bob.addr.String())
	entered, release := park(alice, func(c call) bool { return !c.write && c.keys[0] == row })
	done := make(chan error, 1)
	go func() {
		_, err := alice.Encrypt(context.Background(), bob.addr, []byte("parked"))
		done <- err
	}()
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for what, err := range map[string]error{
		"encrypt": second(alice.Encrypt(ctx, bob.addr, nil)),
		"many":    second(alice.EncryptMany(ctx, []signal.Outgoing{{To: carol.addr}, {To: bob.addr}})),
		"bundle":  second(alice.ProcessBundle(ctx, bob.addr, bob.bundle())),
		"delete":  alice.DeleteSession(ctx, bob.addr),
		"export":  second(alice.ExportSession(ctx, bob.addr, signal.FormatSigcore)),
	} {
		wantError(t, what+" while another operation holds the session", err, context.DeadlineExceeded)
	}
	alice.say(carol, "not held up")
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
	alice.store.heal()
	alice.talk(bob, 2)
}

func second[T any](_ T, err error) error { return err }

// testPanic has the backend panic under the locks: the panic reaches the
// caller, and the locks are free again.
func testPanic(t *testing.T, open Open) {
	alice, bob := established(t, open)
	alice.distribute(bob)
	in := bob.encrypt(alice, "in")
	for _, write := range []bool{false, true} {
		alice.store.hooks(func(_ ctxt, c call) error {
			if c.write == write {
				panic("in the backend")
			}
			return nil
		}, nil)
		for name, f := range map[string]func(){
			"encrypt":       func() { alice.Encrypt(t.Context(), bob.addr, nil) },
			"decrypt":       func() { alice.Decrypt(t.Context(), bob.addr, in.Type, in.Body) },
			"group encrypt": func() { alice.EncryptGroup(t.Context(), alice.senderKey(), nil) },
			"prekeys":       func() { alice.SetPreKeys(t.Context()); alice.GeneratePreKeys(t.Context(), 1) },
			"send group": func() {
				alice.SendGroup(t.Context(), &signal.GroupSend{Name: alice.senderKey()})
			},
		} {
			if name == "prekeys" && !write {
				continue // reads by other methods than Read
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: no panic", name)
					}
				}()
				f()
			}()
		}
		alice.store.heal()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if _, err := alice.GeneratePreKeys(ctx, 1); err != nil {
			t.Errorf("after a panic: %v", err)
		}
		cancel()
		alice.say(bob, "and on")
		bob.decryptGroup(alice, alice.encryptGroup("and on"), "and on")
	}
	alice.decrypt(bob, in, "in")
}
