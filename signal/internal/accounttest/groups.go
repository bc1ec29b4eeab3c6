package accounttest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/signal"
)

// members returns n parties over one backend.
func members(t *testing.T, open Open, n int) []*party {
	t.Helper()
	b, _ := open(t)
	var out []*party
	for i := range n {
		out = append(out, newParty(t, b, 1+i))
	}
	return out
}

// distribute has p make its sender key and gives it to the others.
func (p *party) distribute(others ...*party) []byte {
	p.t.Helper()
	skdm, err := p.CreateSenderKey(p.t.Context(), p.senderKey())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, q := range others {
		if _, err := q.ProcessSenderKey(p.t.Context(), p.senderKey(), skdm); err != nil {
			p.t.Fatal(err)
		}
	}
	return skdm
}

// encryptGroup has p encrypt text to the group.
func (p *party) encryptGroup(text string) []byte {
	p.t.Helper()
	body, err := p.EncryptGroup(p.t.Context(), p.senderKey(), []byte(text))
	if err != nil {
		p.t.Fatalf("encrypt to the group: %v", err)
	}
	return body
}

// decryptGroup has p read a group message of q, which must be text.
func (p *party) decryptGroup(q *party, body []byte, text string) {
	p.t.Helper()
	plaintext, err := p.DecryptGroup(p.t.Context(), q.senderKey(), body)
	if err != nil {
		p.t.Fatalf("decrypt of group message %q: %v", text, err)
	}
	wantBytes(p.t, "group message", plaintext, text)
}

func testGroup(t *testing.T, open Open) {
	ctx := t.Context()
	m := members(t, open, 3)
	alice, bob, carol := m[0], m[1], m[2]
	_, err := alice.EncryptGroup(ctx, alice.senderKey(), []byte("x"))
	wantError(t, "encrypt without a key", err, signal.ErrNoSenderKey)
	alice.distribute(bob)
	for i := range 5 {
		bob.decryptGroup(alice, alice.encryptGroup(fmt.Sprint("m", i)), fmt.Sprint("m", i))
	}
	// Who comes later gets the key at its current iteration.
	missed := alice.encryptGroup("missed")
	alice.distribute(carol)
	body := alice.encryptGroup("both")
	bob.decryptGroup(alice, body, "both")
	carol.decryptGroup(alice, body, "both")
	bob.decryptGroup(alice, missed, "missed") // out of order
	_, err = carol.DecryptGroup(ctx, alice.senderKey(), missed)
	wantError(t, "message before the key was given", err, signal.ErrNoMessageKey)
	_, err = carol.DecryptGroup(ctx, bob.senderKey(), missed)
	wantError(t, "message of an unknown sender", err, signal.ErrNoSenderKey)
	_, err = bob.EncryptGroup(ctx, alice.senderKey(), []byte("x"))
	wantError(t, "encrypt with the key of another", err, signal.ErrCannotSign)

	info, err := alice.SenderKeyInfo(ctx, alice.senderKey())
	if err != nil || !info.Exists || info.Iteration != 7 {
		t.Errorf("info: %+v, %v", info, err)
	}
	skdm, err := alice.RotateSenderKey(ctx, alice.senderKey())
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := alice.SenderKeyInfo(ctx, alice.senderKey())
	if err != nil || rotated.Iteration != 0 || rotated.KeyID == info.KeyID {
		t.Errorf("info after rotation: %+v, %v", rotated, err)
	}
	body = alice.encryptGroup("rotated")
	bob.unchanged("an unknown key", func() {
		_, err = bob.DecryptGroup(ctx, alice.senderKey(), body)
		wantError(t, "message of a rotated key", err, signal.ErrNoSenderKey)
	})
	if d, err := bob.ProcessSenderKey(ctx, alice.senderKey(), skdm); err != nil || d != signal.DistributionNew {
		t.Errorf("distribution of the rotated key: %v, %v", d, err)
	}
	bob.decryptGroup(alice, body, "rotated")

	tampered := alice.encryptGroup("tampered")
	tampered[len(tampered)-70] ^= 1
	bob.unchanged("a tampered message", func() {
		_, err = bob.DecryptGroup(ctx, alice.senderKey(), tampered)
		wantError(t, "tampered message", err, signal.ErrBadSignature)
	})
	for _, p := range m {
		if err := p.store.intact(); err != nil {
			t.Error(err)
		}
	}
}

// testGroupTwice processes a distribution message again and again: what was
// read is not read again.
func testGroupTwice(t *testing.T, open Open) {
	ctx := t.Context()
	m := members(t, open, 2)
	alice, bob := m[0], m[1]
	older := alice.distribute(bob)
	if _, err := alice.RotateSenderKey(ctx, alice.senderKey()); err != nil {
		t.Fatal(err)
	}
	skdm := alice.distribute(bob)
	var bodies [][]byte
	for i := range 10 {
		bodies = append(bodies, alice.encryptGroup(fmt.Sprint("m", i)))
	}
	again := func() {
		t.Helper()
		d, err := bob.ProcessSenderKey(ctx, alice.senderKey(), skdm)
		if err != nil || d != signal.DistributionKnown || !errors.Is(d.Err(), signal.ErrAlreadyKnown) {
			t.Errorf("the same distribution message: %v, %v", d, err)
		}
	}
	for i := range 5 {
		bob.decryptGroup(alice, bodies[i], fmt.Sprint("m", i))
	}
	bob.unchanged("a known distribution message", again)
	for i := range 5 {
		_, err := bob.DecryptGroup(ctx, alice.senderKey(), bodies[i])
		wantError(t, "message that was read", err, signal.ErrDuplicate)
	}
	bob.decryptGroup(alice, bodies[5], "m5")
	for range 5 {
		again()
	}
	bob.decryptGroup(alice, bodies[6], "m6")
	if d, err := bob.ProcessSenderKey(ctx, alice.senderKey(), older); err != nil || d != signal.DistributionKnown {
		t.Errorf("the distribution message before it: %v, %v", d, err)
	}
	bob.decryptGroup(alice, bodies[7], "m7")

	// The same id with another signing key.
	other, _ := pair(t, open)
	forged := append([]byte(nil), skdm...)
	fromOther := other.distribute()
	copy(forged[len(forged)-32:], fromOther[len(fromOther)-32:])
	d, err := bob.ProcessSenderKey(ctx, alice.senderKey(), forged)
	if err != nil || d != signal.DistributionConflict || !errors.Is(d.Err(), signal.ErrConflict) {
		t.Errorf("another key of the same id: %v, %v", d, err)
	}
}

func testGroupRecords(t *testing.T, open Open) {
	ctx := t.Context()
	m := members(t, open, 2)
	alice, bob := m[0], m[1]
	name := alice.senderKey()
	alice.distribute(bob)
	for _, f := range []signal.RecordFormat{signal.FormatSigcore, signal.FormatSignalProtobuf} {
		skipped := alice.encryptGroup("skipped")
		bob.decryptGroup(alice, alice.encryptGroup("next"), "next")
		data, err := bob.ExportSenderKey(ctx, name, f)
		if err != nil {
			t.Fatal(err)
		}
		if err := bob.DeleteSenderKey(ctx, name); err != nil {
			t.Fatal(err)
		}
		if err := bob.DeleteSenderKey(ctx, name); err != nil {
			t.Errorf("second deletion: %v", err)
		}
		_, err = bob.ExportSenderKey(ctx, name, f)
		wantError(t, "export of nothing", err, signal.ErrNoSenderKey)
		if info, err := bob.SenderKeyInfo(ctx, name); err != nil || info != (signal.SenderKeyInfo{}) {
			t.Errorf("info of nothing: %+v, %v", info, err)
		}
		bob.unchanged("a bad import", func() {
			wantError(t, "import of nothing", bob.ImportSenderKey(ctx, name, f, nil), signal.ErrCorruptRecord)
			wantError(t, "import of a part", bob.ImportSenderKey(ctx, name, f, data[:len(data)-1]), signal.ErrCorruptRecord)
			wantError(t, "import of an unknown format", bob.ImportSenderKey(ctx, name, "xml", data), signal.ErrMalformed)
		})
		if err := bob.ImportSenderKey(ctx, name, f, data); err != nil {
			t.Fatal(err)
		}
		again, err := bob.ExportSenderKey(ctx, name, f)
		if err != nil || string(again) != string(data) {
			t.Errorf("%s: the export of an import is another record (%v)", f, err)
		}
		bob.decryptGroup(alice, skipped, "skipped")
	}
	_, err := bob.ExportSenderKey(ctx, name, "xml")
	wantError(t, "export of an unknown format", err, signal.ErrMalformed)

	// The sender moves too.
	data, err := alice.ExportSenderKey(ctx, name, signal.FormatSignalProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	if err := alice.ImportSenderKey(ctx, name, signal.FormatSignalProtobuf, data); err != nil {
		t.Fatal(err)
	}
	bob.decryptGroup(alice, alice.encryptGroup("moved"), "moved")
}

func testSendGroup(t *testing.T, open Open) {
	ctx := t.Context()
	m := members(t, open, 5)
	alice := m[0]
	var all []signal.Address
	for i, p := range m[1:] {
		if i != 2 {
			alice.start(p)
		}
		all = append(all, p.addr)
	}
	wraps := 0
	wrap := func(skdm []byte) ([]byte, error) {
		wraps++
		return append([]byte("wrapped "), skdm...), nil
	}
	alice.store.counts()
	g := signal.GroupSend{Name: alice.senderKey(), Plaintext: []byte("hello"), Distribute: all, Wrap: wrap}
	res, err := alice.SendGroup(ctx, &g)
	if err != nil {
		t.Fatal(err)
	}
	if r, w := alice.store.counts(); r != 1 || w != 1 || wraps != 1 {
		t.Errorf("a group message took %d reads, %d writes and %d wrappings", r, w, wraps)
	}
	if len(res.Recipients) != 4 {
		t.Fatalf("%d recipients", len(res.Recipients))
	}
	for i, p := range m[1:] {
		if i == 2 {
			wantError(t, "recipient without session", res.Recipients[i].Err, signal.ErrNoSession)
			continue
		}
		if res.Recipients[i].Err != nil {
			t.Fatal(res.Recipients[i].Err)
		}
		p.decrypt(alice, res.Recipients[i].Ciphertext, "wrapped "+string(res.Distribution))
		if _, err := p.ProcessSenderKey(ctx, alice.senderKey(), res.Distribution); err != nil {
			t.Fatal(err)
		}
		p.decryptGroup(alice, res.Body, "hello")
	}

	// A warm send touches the sender key alone.
	g.Distribute, g.Plaintext = nil, []byte("warm")
	alice.store.counts()
	if res, err = alice.SendGroup(ctx, &g); err != nil || res.Distribution != nil || len(res.Recipients) != 0 {
		t.Fatalf("warm send: %+v, %v", res, err)
	}
	if r, w := alice.store.counts(); r != 1 || w != 1 || wraps != 1 {
		t.Errorf("a warm group message took %d reads, %d writes and %d wrappings", r, w, wraps)
	}
	m[1].decryptGroup(alice, res.Body, "warm")

	// Nothing is changed by a failure, whichever it is.
	g.Distribute = all
	alice.unchanged("a wrapper that fails", func() {
		g.Wrap = func([]byte) ([]byte, error) { return nil, errLocked }
		_, err := alice.SendGroup(ctx, &g)
		wantError(t, "wrapper that fails", err, errLocked)
	})
	g.Wrap = wrap
	alice.store.hooks(func(_ ctxt, c call) error {
		if c.write {
			return errLocked
		}
		return nil
	}, nil)
	alice.unchanged("a write that fails", func() {
		res, err := alice.SendGroup(ctx, &g)
		wantError(t, "write that fails", err, errLocked)
		if res != nil {
			t.Error("ciphertexts left although the write failed")
		}
	})
	alice.store.heal()

	g.Rotate, g.Plaintext = true, []byte("rotated")
	if res, err = alice.SendGroup(ctx, &g); err != nil {
		t.Fatal(err)
	}
	_, err = m[1].DecryptGroup(ctx, alice.senderKey(), res.Body)
	wantError(t, "message of a rotated key", err, signal.ErrNoSenderKey)
	m[1].decrypt(alice, res.Recipients[0].Ciphertext, "wrapped "+string(res.Distribution))
	if _, err := m[1].ProcessSenderKey(ctx, alice.senderKey(), res.Distribution); err != nil {
		t.Fatal(err)
	}
	m[1].decryptGroup(alice, res.Body, "rotated")
}
