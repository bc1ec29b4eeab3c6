package signal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/random"
)

// endless is a deterministic source, to compare what two copies do next.
type endless struct{ n byte }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		e.n++
		b[i] = e.n
	}
	return len(b), nil
}

// nextOutputs returns what a copy of s sends next, and what it makes of body.
func nextOutputs(t testing.TB, s *Session, body []byte) []byte {
	t.Helper()
	defer random.Install(new(endless))()
	c := s.Clone()
	_, out, err := c.Encrypt(nil, []byte("next"))
	if err != nil {
		t.Fatal(err)
	}
	plain, _, err := c.Decrypt(nil, body, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, after, err := c.Encrypt(nil, []byte("after next"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Join([][]byte{out, plain, after, record(c)}, []byte("|"))
}

// TestForgeryChangesNothing: a message that does not authenticate leaves every
// byte and every next output as they were, and draws nothing.
func TestForgeryChangesNothing(t *testing.T) {
	alice, bob := conversation(t)
	// A gap, so that there are skipped keys to lose.
	if _, _, err := alice.session.Encrypt(nil, []byte("lost")); err != nil {
		t.Fatal(err)
	}
	exchange(t, alice, bob, "found")
	_, genuine, err := alice.session.Encrypt(nil, []byte("genuine"))
	if err != nil {
		t.Fatal(err)
	}
	parsed := must(ParseSignalMessage(genuine))(t)
	var key PrivateKey
	if err := generatePrivateKey(&key); err != nil {
		t.Fatal(err)
	}
	forge := func(change func(m *SignalMessage)) []byte {
		m := parsed
		change(&m)
		return must(m.AppendBinary(nil))(t)
	}
	fresh := func(counter uint32) []byte {
		return forge(func(m *SignalMessage) {
			m.RatchetKey, m.Counter, m.Ciphertext, m.MAC = key.public(), counter, make([]byte, 16), [8]byte{}
		})
	}
	// The receiver has no right MAC to compare a fresh key's with, so take one
	// that it would compute: a copy tells it.
	almost := fresh(1999)
	am := must(ParseSignalMessage(almost))(t)
	state := bob.session.current
	var root [32]byte
	var chain chainKey
	ratchetRoot(&root, &chain, &state.root, &state.sender.private, &am.RatchetKey)
	var seed [32]byte
	if _, err := chain.advance(1999, &seed, nil); err != nil {
		t.Fatal(err)
	}
	var keys messageKeys
	keys.derive(&seed)
	mac := messageMAC(&keys.mac, &state.remoteIdentity, &state.localIdentity, am.authenticated)
	mac[7] ^= 1
	copy(almost[len(almost)-8:], mac[:])

	forgeries := []struct {
		name string
		body []byte
		want error
	}{
		{"fresh key", fresh(0), ErrBadMAC},
		{"fresh key, counter 1999", fresh(1999), ErrBadMAC},
		{"fresh key, MAC right but for a bit", almost, ErrBadMAC},
		{"fresh key, counter 2000", fresh(2000), ErrBadMAC},
		{"fresh key, counter 2001", fresh(2001), ErrTooFar},
		{"fresh key, counter 25000", fresh(25000), ErrTooFar},
		{"fresh key, counter 2^31", fresh(1 << 31), ErrTooFar},
		{"fresh key, counter 2^32-1", fresh(math.MaxUint32), ErrTooFar},
		{"known key, MAC", forge(func(m *SignalMessage) { m.MAC[0] ^= 0x80 }), ErrBadMAC},
		{"known key, ciphertext", forge(func(m *SignalMessage) { m.Ciphertext = bytes.Repeat([]byte{1}, 16) }), ErrBadMAC},
		{"known key, previous counter", forge(func(m *SignalMessage) { m.PreviousCounter++ }), ErrBadMAC},
		{"known key, later counter", forge(func(m *SignalMessage) { m.Counter += 700 }), ErrBadMAC},
		{"known key, too late a counter", forge(func(m *SignalMessage) { m.Counter += 2001 }), ErrTooFar},
		{"known key, skipped counter", forge(func(m *SignalMessage) { m.Counter -= 2 }), ErrBadMAC},
		{"known key, used counter", forge(func(m *SignalMessage) { m.Counter-- }), ErrRolledBack},
		{"low order key", forge(func(m *SignalMessage) { m.RatchetKey = PublicKey{} }), ErrBadMAC},
		{"version 4", append([]byte{0x43}, genuine[1:]...), ErrUnknownVersion},
		{"version 2", append([]byte{0x23}, genuine[1:]...), ErrLegacyVersion},
		{"other low nibble", append([]byte{0x34}, genuine[1:]...), ErrBadMAC},
		{"empty", nil, ErrMalformed},
		{"cut", genuine[:len(genuine)-1], ErrMalformed},
	}
	want := nextOutputs(t, bob.session, genuine)
	for _, f := range forgeries {
		for range 3 {
			err := bob.unchanged(t, f.name, func() error {
				return withDraws(t, func() error { _, _, err := bob.session.Decrypt(nil, f.body, nil); return err })
			})
			if f.name == "cut" && errors.Is(err, ErrBadMAC) {
				continue // the cut may still parse, with a MAC one byte off
			}
			wantError(t, f.name, err, f.want)
		}
		if got := nextOutputs(t, bob.session, genuine); !bytes.Equal(got, want) {
			t.Fatalf("%s: the next outputs changed", f.name)
		}
	}
	counter := bob.session.SenderCounter()
	if plain, _, err := bob.session.Decrypt(nil, genuine, nil); err != nil || string(plain) != "genuine" {
		t.Fatalf("the genuine message: %q, %v", plain, err)
	}
	if bob.session.SenderCounter() != counter {
		t.Error("receiving in a known chain moved the sending counter")
	}
	exchange(t, bob, alice, "answer")
}

// TestForgedPreKeyMessage: an envelope with a tampered message inside sets
// nothing up, uses up nothing and evicts nothing.
func TestForgedPreKeyMessage(t *testing.T) {
	alice, bob := newDevice(t, 1, 0), newDevice(t, 2, 1)
	if err := alice.session.Initiate(alice.local, bob.bundle(1)); err != nil {
		t.Fatal(err)
	}
	typ, body, err := alice.session.Encrypt(nil, []byte("hello"))
	if err != nil || typ != TypePreKey {
		t.Fatal(typ, err)
	}
	check := func(when string) {
		t.Helper()
		for name, c := range map[string]struct {
			change func(m *PreKeySignalMessage)
			want   error
		}{
			"base key":         {func(m *PreKeySignalMessage) { m.BaseKey[3] ^= 1 }, ErrBadMAC},
			"identity":         {func(m *PreKeySignalMessage) { m.Identity[3] ^= 1 }, ErrBadMAC},
			"MAC":              {func(m *PreKeySignalMessage) { m.inner = bytes.Clone(m.inner); m.inner[len(m.inner)-1] ^= 1 }, ErrBadMAC},
			"signed prekey id": {func(m *PreKeySignalMessage) { m.SignedPreKeyID, m.BaseKey[0] = 9, m.BaseKey[0]^1 }, ErrSignedPreKeyID},
			"prekey id":        {func(m *PreKeySignalMessage) { m.PreKeyID, m.BaseKey[0] = 9, m.BaseKey[0]^1 }, ErrPreKeyID},
			"no prekey id":     {func(m *PreKeySignalMessage) { m.HasPreKeyID, m.BaseKey[0] = false, m.BaseKey[0]^1 }, ErrBadMAC},
		} {
			m := must(ParsePreKeySignalMessage(body))(t)
			c.change(&m)
			forged := must(m.AppendBinary(nil))(t)
			err := bob.unchanged(t, when+" "+name, func() error {
				return withDraws(t, func() error { _, _, err := bob.decrypt(typ, forged); return err })
			})
			if name == "base key" && when == "again" || name == "no prekey id" && when == "again" {
				// By then it is a new session, whose prekey is gone.
				if !errors.Is(err, ErrPreKeyID) && !errors.Is(err, ErrBadMAC) {
					t.Fatal(err)
				}
				continue
			}
			if name == "MAC" && when == "again" {
				c.want = ErrDuplicate // the counter was used by the genuine one
			}
			wantError(t, when+" "+name, err, c.want)
		}
	}
	check("first")
	if plain, r, err := bob.decrypt(typ, body); err != nil || string(plain) != "hello" || !r.NewSession || !r.ConsumedPreKey {
		t.Fatalf("%q, %+v, %v", plain, r, err)
	}
	check("again")
	err = bob.unchanged(t, "replay", func() error { _, _, err := bob.decrypt(typ, body); return err })
	wantError(t, "replay", err, ErrDuplicate)

	// The next one is of the same session and consumes nothing.
	typ, body, err = alice.session.Encrypt(nil, []byte("again"))
	if err != nil || typ != TypePreKey {
		t.Fatal(typ, err)
	}
	if _, r, err := bob.decrypt(typ, body); err != nil || r.NewSession || r.ConsumedPreKey {
		t.Fatalf("%+v, %v", r, err)
	}
	exchange(t, bob, alice, "answer")
	if alice.session.Pending() {
		t.Error("still pending after an answer")
	}
	if typ, _, _ := alice.session.Encrypt(nil, nil); typ != TypeSignal {
		t.Errorf("a %v after the answer", typ)
	}
}

// authentic returns what the peer of st could send as its next message, with
// the given ciphertext.
func authentic(t testing.TB, from *Session, ciphertext []byte, previous uint32) []byte {
	t.Helper()
	st := from.current
	chain := st.sender.chain
	var seed [32]byte
	if err := chain.step(&seed); err != nil {
		t.Fatal(err)
	}
	var keys messageKeys
	keys.derive(&seed)
	m := SignalMessage{RatchetKey: st.sender.public, Counter: st.sender.chain.index, PreviousCounter: previous, Ciphertext: ciphertext}
	b := must(m.AppendBinary(nil))(t)
	mac := messageMAC(&keys.mac, &st.localIdentity, &st.remoteIdentity, b[:len(b)-8])
	copy(b[len(b)-8:], mac[:])
	return b
}

// encryptRaw encrypts whole blocks with the keys of the sender's next message.
func encryptRaw(t testing.TB, from *Session, blocks []byte) []byte {
	t.Helper()
	chain := from.current.sender.chain
	var seed [32]byte
	if err := chain.step(&seed); err != nil {
		t.Fatal(err)
	}
	var keys messageKeys
	keys.derive(&seed)
	c := slices.Clone(blocks)
	aescbc.Encrypt(c, &keys.cipher, &keys.iv)
	return c
}

var badPaddings = map[string][]byte{
	"0":            append(bytes.Repeat([]byte{'x'}, 15), 0),
	"17":           append(bytes.Repeat([]byte{'x'}, 15), 17),
	"255":          append(bytes.Repeat([]byte{'x'}, 15), 255),
	"inconsistent": append(bytes.Repeat([]byte{'x'}, 12), 4, 3, 4, 4),
	"whole block":  append(bytes.Repeat([]byte{16}, 7), append([]byte{15}, bytes.Repeat([]byte{16}, 8)...)...),
}

// TestAuthenticMalformed: a message that the peer did send, with a ciphertext
// that is none, is an error that consumes nothing.
func TestAuthenticMalformed(t *testing.T) {
	for _, ratchet := range []bool{false, true} {
		alice, bob := conversation(t)
		if !ratchet {
			exchange(t, alice, bob, "so that bob knows the chain")
		}
		bodies := map[string][]byte{}
		for _, n := range []int{0, 1, 15, 17, 31} {
			bodies[fmt.Sprintf("%d bytes", n)] = authentic(t, alice.session, make([]byte, n), 0)
		}
		for name, blocks := range badPaddings {
			bodies["padding "+name] = authentic(t, alice.session, encryptRaw(t, alice.session, blocks), math.MaxUint32)
		}
		for name, body := range bodies {
			dst := make([]byte, 3, 200)
			err := bob.unchanged(t, name, func() error {
				return withDraws(t, func() error { _, _, err := bob.session.Decrypt(dst, body, nil); return err })
			})
			wantError(t, name, err, ErrMalformed)
			if !bytes.Equal(dst[:cap(dst)], make([]byte, cap(dst))) {
				t.Errorf("%s: plaintext left in the buffer", name)
			}
		}
		good := append(bytes.Repeat([]byte{'x'}, 11), 5, 5, 5, 5, 5)
		body := authentic(t, alice.session, encryptRaw(t, alice.session, good), math.MaxUint32)
		plain, r, err := bob.session.Decrypt([]byte("dst:"), body, nil)
		if err != nil || string(plain) != "dst:xxxxxxxxxxx" || r.Ratcheted != ratchet {
			t.Fatalf("%q, %+v, %v", plain, r, err)
		}
	}
}

// TestAuthenticMalformedGroup is TestAuthenticMalformed for group messages.
func TestAuthenticMalformedGroup(t *testing.T) {
	alice, bob := group(t)
	st := alice.states[0]
	signed := func(ciphertext []byte) []byte {
		b := append(appendSenderHeader(nil, st.id, st.chain.index, len(ciphertext)), ciphertext...)
		sig, err := st.signer.Sign(b)
		if err != nil {
			t.Fatal(err)
		}
		return append(b, sig[:]...)
	}
	raw := func(blocks []byte) []byte {
		chain := st.chain
		var seed [32]byte
		if err := chain.step(&seed); err != nil {
			t.Fatal(err)
		}
		var keys groupKeys
		keys.derive(&seed)
		c := slices.Clone(blocks)
		aescbc.Encrypt(c, &keys.cipher, &keys.iv)
		return c
	}
	bodies := map[string][]byte{}
	for _, n := range []int{0, 1, 15, 17, 31} {
		bodies[fmt.Sprintf("%d bytes", n)] = signed(make([]byte, n))
	}
	for name, blocks := range badPaddings {
		bodies["padding "+name] = signed(raw(blocks))
	}
	for name, body := range bodies {
		before := groupRecord(bob)
		_, err := bob.Decrypt(nil, body)
		wantError(t, name, err, ErrMalformed)
		if !bytes.Equal(groupRecord(bob), before) {
			t.Fatalf("%s: the record changed", name)
		}
	}
	body := must(alice.Encrypt(nil, []byte("good")))(t)
	if plain, err := bob.Decrypt(nil, body); err != nil || string(plain) != "good" {
		t.Fatalf("%q, %v", plain, err)
	}
}

// TestTrustRefused: a refusal after the message was authenticated changes
// nothing, and the same message is read once trust is there.
func TestTrustRefused(t *testing.T) {
	refusal := errors.New("not that one")
	alice, bob := conversation(t)
	for range 2 { // a message with a new ratchet key, then one without
		typ, body, err := alice.session.Encrypt(nil, []byte("trust me"))
		if err != nil || typ != TypeSignal {
			t.Fatal(typ, err)
		}
		dst := make([]byte, 0, 100)
		err = bob.unchanged(t, "untrusted", func() error {
			return withDraws(t, func() error {
				_, _, err := bob.session.Decrypt(dst, body, func(k PublicKey) error {
					if k != alice.local.Identity.PublicKey() {
						t.Error("asked about another key")
					}
					return refusal
				})
				return err
			})
		})
		wantError(t, "untrusted", err, refusal)
		if !bytes.Equal(dst[:cap(dst)], make([]byte, cap(dst))) {
			t.Error("plaintext left in the buffer")
		}
		if plain, _, err := bob.session.Decrypt(nil, body, func(PublicKey) error { return nil }); err != nil || string(plain) != "trust me" {
			t.Fatalf("%q, %v", plain, err)
		}
	}
}

// TestNoRandomness: without randomness every operation that needs it fails and
// changes nothing.
func TestNoRandomness(t *testing.T) {
	alice, bob := conversation(t)
	_, body, err := alice.session.Encrypt(nil, []byte("new ratchet key"))
	if err != nil {
		t.Fatal(err)
	}
	_ = bob.unchanged(t, "decrypt", func() error {
		return withDraws(t, func() error { _, _, err := bob.session.Decrypt(nil, body, nil); return err })
	})
	for draws := range 2 {
		_ = alice.unchanged(t, "initiate", func() error {
			return maybeDraws(t, func() error { return alice.session.Initiate(alice.local, bob.bundle(1)) }, [][]byte{dummyKey}[:draws]...)
		})
	}
	if plain, _, err := bob.session.Decrypt(nil, body, nil); err != nil || string(plain) != "new ratchet key" {
		t.Fatalf("%q, %v", plain, err)
	}
	k, _ := group(t)
	before := groupRecord(k)
	if err := maybeDraws(t, func() error { _, err := k.Encrypt(nil, nil); return err }); err == nil {
		t.Error("group message without randomness")
	}
	for draws := range 3 {
		chunks := [][]byte{{1, 2, 3, 4}, dummyKey}[:draws]
		if err := maybeDraws(t, k.Rotate, chunks...); err == nil {
			t.Error("rotation without randomness")
		}
	}
	if !bytes.Equal(groupRecord(k), before) {
		t.Error("the sender key changed")
	}
}
