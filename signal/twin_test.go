package signal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
)

// A twin is one of several records of the same device that must always hold the
// same, however they are kept between two messages.
type twin struct {
	name string
	keep func(*testing.T, *device)
	*device
}

// TestTwins gives the same messages, forged ones among them, to a record that
// lives in memory, to one that is stored and loaded around every message, to
// one that is so in the portable form, and to one that changes between the
// three. What they make of a message and what they hold then is the same.
func TestTwins(t *testing.T) {
	runs, steps := 6, 500
	if testing.Short() {
		runs, steps = 2, 250
	}
	for seed := range runs {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) { newTwins(t, uint64(seed)).play(t, steps) })
	}
}

type twins struct {
	r     *rand.Rand
	alice *device
	bobs  []twin
	inbox []sentMessage
	step  byte
}

func newTwins(t *testing.T, seed uint64) *twins {
	w := &twins{r: rand.New(rand.NewPCG(seed, 11)), alice: newDevice(t, 1, 0)}
	load := func(t *testing.T, d *device, form []byte) { d.session = must(ParseSession(form))(t) }
	live := func(*testing.T, *device) {}
	stored := func(t *testing.T, d *device) { load(t, d, record(d.session)) }
	portable := func(t *testing.T, d *device) { load(t, d, d.session.AppendPortable(nil)) }
	bob := newDevice(t, 2, 8)
	for name, keep := range map[string]func(*testing.T, *device){
		"live": live, "stored": stored, "portable": portable,
		"mixed": func(t *testing.T, d *device) {
			[]func(*testing.T, *device){live, live, stored, portable}[w.r.IntN(4)](t, d)
		},
	} {
		w.bobs = append(w.bobs, twin{name, keep, &device{
			local: bob.local, signed: bob.signed, oneTime: cloneMap(bob.oneTime), session: new(Session),
		}})
	}
	return w
}

// each runs f for every twin, with the same randomness, and compares what it
// returns and what the twins hold.
func (w *twins) each(t *testing.T, what string, f func(d *device) []byte) []byte {
	t.Helper()
	w.step++
	var outcome, held []byte
	for i, b := range w.bobs {
		restore := random.Install(&endless{n: w.step})
		got := f(b.device)
		restore()
		form := b.session.AppendPortable(nil)
		if i == 0 {
			outcome, held = got, form
		}
		if !bytes.Equal(got, outcome) {
			t.Fatalf("%s: %s has %q, %s has %q", what, w.bobs[0].name, outcome, b.name, got)
		}
		if !bytes.Equal(form, held) {
			t.Fatalf("%s: %s and %s hold different records", what, w.bobs[0].name, b.name)
		}
		b.keep(t, b.device)
	}
	return outcome
}

func (w *twins) initiate(t *testing.T) {
	if err := w.alice.session.Initiate(w.alice.local, w.bobs[0].bundle(uint32(w.r.IntN(9)))); err != nil {
		t.Fatal(err)
	}
}

func (w *twins) play(t *testing.T, steps int) {
	w.initiate(t)
	read, refused := 0, 0
	for range steps {
		switch p := w.r.IntN(100); {
		case p < 1:
			w.initiate(t)
		case p < 20:
			n := 1
			if p < 2 {
				n = 40 // most of which are late
			}
			for range n {
				typ, body, err := w.alice.session.Encrypt(nil, []byte("from alice"))
				if err != nil {
					t.Fatal(err)
				}
				w.inbox = append(w.inbox, sentMessage{typ: typ, body: body})
			}
		case p < 35:
			if !w.bobs[0].session.HasCurrent() {
				continue
			}
			var typ MessageType
			body := w.each(t, "encrypt", func(d *device) []byte {
				var body []byte
				var err error
				if typ, body, err = d.session.Encrypt(nil, []byte("from bob")); err != nil {
					t.Fatal(err)
				}
				return body
			})
			if w.r.IntN(3) > 0 {
				// Alice may have archived the session long ago.
				_, _, _ = w.alice.decrypt(typ, body)
			}
		default:
			if len(w.inbox) == 0 {
				continue
			}
			k := w.r.IntN(len(w.inbox))
			if w.r.IntN(2) == 0 {
				k = len(w.inbox) - 1
			}
			m := w.inbox[k]
			forged := p < 60
			if forged {
				m.body = bytes.Clone(m.body)
				at := len(m.body) - 1 // of the MAC, or of a length in an envelope
				if p < 50 {
					at = w.r.IntN(len(m.body))
				}
				m.body[at] ^= 1 << w.r.IntN(8)
			}
			outcome := w.each(t, "decrypt", func(d *device) []byte {
				plain, rec, err := d.decrypt(m.typ, m.body)
				if errors.Is(err, ErrRolledBack) {
					err = ErrDuplicate // the portable form cannot tell
				}
				if errors.Is(err, ErrDuplicate) {
					err = ErrDuplicate
				}
				return fmt.Appendf(nil, "%q %+v %v", plain, rec, err)
			})
			if bytes.HasPrefix(outcome, []byte(`"from alice"`)) {
				read++
			} else {
				refused++
			}
		}
	}
	if read < steps/20 || refused < steps/20 {
		t.Errorf("%d messages read, %d refused in %d steps", read, refused, steps)
	}
}

// TestTwinSenderKeys is TestTwins for a group.
func TestTwinSenderKeys(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 13))
		sender := new(SenderKey)
		live, stored := new(SenderKey), new(SenderKey)
		var inbox [][]byte
		each := func(what string, f func(k *SenderKey) string) {
			t.Helper()
			a, b := f(live), f(stored)
			if a != b {
				t.Fatalf("seed %d, %s: live has %s, stored has %s", seed, what, a, b)
			}
			if !bytes.Equal(groupRecord(live), groupRecord(stored)) {
				t.Fatalf("seed %d, %s: the records differ after %s", seed, what, a)
			}
			stored = must(ParseSenderKey(groupRecord(stored)))(t)
		}
		for step := range 600 {
			switch p := r.IntN(100); {
			case step == 0 || p < 2:
				if err := sender.Rotate(); err != nil {
					t.Fatal(err)
				}
				fallthrough
			case p < 4:
				skdm := must(sender.AppendDistribution(nil))(t)
				each("process", func(k *SenderKey) string { d, err := k.Process(skdm); return fmt.Sprint(d, err) })
			case p < 30:
				n := 1
				if p < 6 {
					n = 60
				}
				for range n {
					inbox = append(inbox, must(sender.Encrypt(nil, []byte("to all")))(t))
				}
			default:
				if len(inbox) == 0 {
					continue
				}
				body := inbox[r.IntN(len(inbox))]
				if p < 50 {
					body = inbox[len(inbox)-1]
				}
				if p > 85 {
					body = bytes.Clone(body)
					body[r.IntN(len(body))] ^= 1 << r.IntN(8)
				}
				each("decrypt", func(k *SenderKey) string {
					plain, err := k.Decrypt(nil, body)
					return fmt.Sprintf("%q %v", plain, err)
				})
			}
		}
	}
}

// TestStoredKeyForm: only what this package would write for a skipped key is
// kept as it is stored.
func TestStoredKeyForm(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, 32)
	for _, form := range []seedForm{sessionSeed, senderKeySeed} {
		field := func(counter ...byte) []byte {
			b := append([]byte{1 << 3}, counter...)
			b = append(append(b, form...), seed...)
			return append([]byte{4<<3 | 2, byte(len(b))}, b...)
		}
		for _, counter := range []uint32{0, 1, 127, 128, 2000, 1<<28 - 1, 1 << 28, 1<<32 - 1} {
			k := skippedKey{counter: counter, seed: [32]byte(seed)}
			b := k.append(appendBytesTag(nil, 4, k.size(compact, form)), compact, form)
			var got uint32
			if s, n := form.storedKey(append(b, 1, 2, 3), &got); n != len(b) || got != counter || !bytes.Equal(s, seed) {
				t.Errorf("counter %d reads as %d, %d of %d bytes", counter, got, n, len(b))
			}
			for cut := range b {
				if _, n := form.storedKey(b[:cut], &got); n != 0 {
					t.Errorf("counter %d: %d of %d bytes are a key", counter, cut, len(b))
				}
			}
		}
		for name, b := range map[string][]byte{
			"no counter":          field(),
			"counter too long":    field(0x81, 0x00),
			"counter of 2^32":     field(0x80, 0x80, 0x80, 0x80, 0x10),
			"counter of 6 bytes":  field(0x81, 0x81, 0x81, 0x81, 0x81, 0x01),
			"counter without end": field(0x81, 0x81),
			"two counters":        field(0x01, 1<<3, 0x02),
		} {
			var got uint32
			if _, n := form.storedKey(b, &got); n != 0 {
				t.Errorf("%s is kept as it is, with counter %d", name, got)
			}
		}
	}
}
