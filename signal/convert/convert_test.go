package convert

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/signal"
)

// conversation returns the two sides of a session with an archived one behind
// it and skipped keys in it.
func conversation(t testing.TB) (alice, bob *signal.Session, bobLocal signal.Local) {
	t.Helper()
	local := signal.Local{Identity: must(signal.GenerateIdentityKeyPair())(t), RegistrationID: 1}
	bobLocal = signal.Local{Identity: must(signal.GenerateIdentityKeyPair())(t), RegistrationID: 2}
	signed := must(signal.GenerateSignedPreKey(3, bobLocal.Identity, 0))(t)
	alice, bob = new(signal.Session), new(signal.Session)
	for range 2 {
		err := alice.Initiate(local, &signal.Bundle{
			RegistrationID: 2, Identity: bobLocal.Identity.PublicKey(),
			SignedPreKeyID: signed.ID, SignedPreKey: signed.Public, Signature: signed.Signature,
		})
		if err != nil {
			t.Fatal(err)
		}
		_, first, err := alice.Encrypt(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := must(signal.ParsePreKeySignalMessage(first))(t)
		if _, _, err := bob.DecryptPreKey(nil, &m, &signal.Responder{Local: bobLocal, SignedPreKey: signed}); err != nil {
			t.Fatal(err)
		}
	}
	pass(t, bob, alice, 3)
	pass(t, alice, bob, 5)
	return alice, bob, bobLocal
}

// pass sends n messages, of which the last arrives.
func pass(t testing.TB, from, to *signal.Session, n int) {
	t.Helper()
	var body []byte
	var err error
	for range n {
		if _, body, err = from.Encrypt(nil, []byte("message")); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := to.Decrypt(nil, body, nil); err != nil {
		t.Fatal(err)
	}
}

// A session goes on over the other forms, on both sides at once.
func TestConversationOverOtherForms(t *testing.T) {
	alice, bob, local := conversation(t)
	for round := range 4 {
		bob = must(ParseNodeSession(must(AppendNodeSession(nil, bob, now))(t), local.Identity.PublicKey(), local.RegistrationID))(t)
		if alice.Skipped() != 2+round || bob.Archived() != 1 {
			t.Fatalf("round %d: %d skipped keys, %d archived sessions", round, alice.Skipped(), bob.Archived())
		}
		alice = must(ParseGoSession(must(AppendGoSession(nil, alice))(t)))(t)
		pass(t, bob, alice, 2)
		pass(t, alice, bob, 1)
	}
}

// An unanswered session goes on over either form.
func TestPendingSession(t *testing.T) {
	bobLocal := signal.Local{Identity: must(signal.GenerateIdentityKeyPair())(t), RegistrationID: 2}
	local := signal.Local{Identity: must(signal.GenerateIdentityKeyPair())(t), RegistrationID: 1}
	for _, id := range []uint32{3, 1 << 31, 1<<32 - 1} {
		for _, oneTime := range []*signal.PreKey{nil, must(signal.GeneratePreKey(9))(t)} {
			signed := must(signal.GenerateSignedPreKey(id, bobLocal.Identity, 0))(t)
			bundle := &signal.Bundle{
				RegistrationID: 2, Identity: bobLocal.Identity.PublicKey(),
				SignedPreKeyID: signed.ID, SignedPreKey: signed.Public, Signature: signed.Signature,
			}
			if oneTime != nil {
				bundle.HasPreKey, bundle.PreKeyID, bundle.PreKey = true, oneTime.ID, oneTime.Public
			}
			alice, bob := new(signal.Session), new(signal.Session)
			if err := alice.Initiate(local, bundle); err != nil {
				t.Fatal(err)
			}
			overGo := must(ParseGoSession(must(AppendGoSession(nil, alice))(t)))(t)
			same(t, "over go-json", overGo, alice)
			node := must(AppendNodeSession(nil, overGo, now))(t)
			overNode := must(ParseNodeSession(node, local.Identity.PublicKey(), 1))(t)
			if !overNode.Pending() || !strings.Contains(string(node), `"baseKeyType":1`) {
				t.Fatal("not pending")
			}
			_, first, err := overNode.Encrypt(nil, []byte("hello"))
			if err != nil {
				t.Fatal(err)
			}
			m := must(signal.ParsePreKeySignalMessage(first))(t)
			if m.SignedPreKeyID != id || m.HasPreKeyID != (oneTime != nil) {
				t.Fatalf("prekeys %d and %v", m.SignedPreKeyID, m.HasPreKeyID)
			}
			if _, _, err := bob.DecryptPreKey(nil, &m, &signal.Responder{Local: bobLocal, SignedPreKey: signed, PreKey: oneTime}); err != nil {
				t.Fatal(err)
			}
			pass(t, bob, overNode, 1)
			pass(t, overNode, bob, 1)
		}
	}
}

// Key material may be the Buffer objects that Baileys' file store writes.
func TestNodeBuffers(t *testing.T) {
	_, bob, local := conversation(t)
	data := string(must(AppendNodeSession(nil, bob, now))(t))
	value := regexp.MustCompile(`(:)"([A-Za-z0-9+/]{40,}=*)"`)
	for name, repl := range map[string]func(string) string{
		"base64": func(s string) string { return `:{"type":"Buffer","data":"` + s + `"}` },
		"bytes": func(s string) string {
			b := must(base64.StdEncoding.DecodeString(s))(t)
			numbers := make([]int, len(b))
			for i, v := range b {
				numbers[i] = int(v)
			}
			return `: { "data" : ` + string(must(json.Marshal(numbers))(t)) + `, "type" : "Buffer" }`
		},
	} {
		changed := value.ReplaceAllStringFunc(data, func(s string) string { return repl(strings.Trim(s, `:"`)) })
		if changed == data {
			t.Fatal("nothing to change")
		}
		same(t, name, must(ParseNodeSession([]byte(changed), local.Identity.PublicKey(), 2))(t), bob)
	}
}

func TestSenderKeys(t *testing.T) {
	sender, receiver := new(signal.SenderKey), new(signal.SenderKey)
	var bodies [][]byte
	for round := range 3 {
		if err := sender.Rotate(); err != nil {
			t.Fatal(err)
		}
		if _, err := receiver.Process(must(sender.AppendDistribution(nil))(t)); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			bodies = append(bodies, must(sender.Encrypt(nil, []byte("to all")))(t))
		}
		must(receiver.Decrypt(nil, bodies[3*round+2]))(t)
		for _, k := range []**signal.SenderKey{&sender, &receiver} {
			want := (*k).AppendPortable(nil)
			*k = must(ParseGoSenderKey(must(AppendGoSenderKey(nil, *k))(t)))(t)
			*k = must(ParseBaileysSenderKey(must(AppendBaileysSenderKey(nil, *k))(t)))(t)
			if string((*k).AppendPortable(nil)) != string(want) {
				t.Fatal("the record has changed")
			}
		}
	}
	for i, b := range bodies {
		_, err := receiver.Decrypt(nil, b)
		if read := i%3 == 2; read != errors.Is(err, signal.ErrDuplicate) || !read && err != nil {
			t.Errorf("message %d: %v", i, err)
		}
	}
	for _, write := range []func([]byte, *signal.SenderKey) ([]byte, error){AppendGoSenderKey, AppendBaileysSenderKey} {
		if _, err := write(nil, new(signal.SenderKey)); !errors.Is(err, ErrInexpressible) {
			t.Errorf("an empty record: %v", err)
		}
	}
}

// A record that is not one, or holds what cannot be taken over, is refused
// with the reason.
func TestRefusedRecords(t *testing.T) {
	alice, bob, local := conversation(t)
	goData := string(must(AppendGoSession(nil, alice))(t))
	nodeData := string(must(AppendNodeSession(nil, bob, now))(t))
	k := new(signal.SenderKey)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	keyData := string(must(AppendGoSenderKey(nil, k))(t))
	parse := map[string]func(string) error{
		"go":   func(s string) error { _, err := ParseGoSession([]byte(s)); return err },
		"node": func(s string) error { _, err := ParseNodeSession([]byte(s), local.Identity.PublicKey(), 2); return err },
		"key":  func(s string) error { _, err := ParseGoSenderKey([]byte(s)); return err },
		"list": func(s string) error { _, err := ParseBaileysSenderKey([]byte(s)); return err },
	}
	good := map[string]string{"go": goData, "node": nodeData, "key": keyData, "list": string(must(AppendBaileysSenderKey(nil, k))(t))}
	for name, data := range good {
		if err := parse[name](data); err != nil {
			t.Fatal(err)
		}
		if err := parse[name](" " + strings.ReplaceAll(data, ",", " ,\n\t") + "\r\n"); err != nil {
			t.Errorf("%s with space: %v", name, err)
		}
		unknown := strings.Replace(data, "{", `{"later":[{"a":[1,-2.5e3,null,true,{}],"b":"\"\u00e9"},[[]]],`, 1)
		if err := parse[name](unknown); err != nil {
			t.Errorf("%s with an unknown field: %v", name, err)
		}
		for i := range data {
			if err := parse[name](data[:i]); !errors.Is(err, signal.ErrCorruptRecord) {
				t.Fatalf("%s cut to %d bytes: %v", name, i, err)
			}
		}
		if err := parse[name]("{}"); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Errorf("%s with nothing in it: %v", name, err)
		}
		if err := parse[name](data + "{}"); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Errorf("%s with more behind it: %v", name, err)
		}
		deep := strings.Replace(data, "{", `{"later":`+strings.Repeat("[", 1<<16)+strings.Repeat("]", 1<<16)+",", 1)
		if err := parse[name](deep); !errors.Is(err, signal.ErrCorruptRecord) {
			t.Errorf("%s with deep nesting: %v", name, err)
		}
	}
	for _, tc := range []struct{ form, old, new, reason string }{
		{"go", `"PendingKeyExchange":null`, `"PendingKeyExchange":{"Sequence":1}`, "pending key exchange"},
		{"go", `"PreviousStates":[{`, `"PreviousStates":[null,{`, "without contents"},
		{"go", `"RootKey":"`, `"RootKey":"AA==","x":"`, "RootKey of 1 bytes"},
		{"go", `"RootKey"`, `"NoRootKey"`, "without an identity"},
		{"go", `"SenderBaseKey":"B`, `"SenderBaseKey":"C`, "type"},
		{"go", `"PreviousCounter":`, `"PreviousCounter":4294967296,"x":`, "PreviousCounter is 4294967296"},
		{"go", `"PreviousCounter":`, `"PreviousCounter":1.5,"x":`, "not a whole number"},
		{"go", `"NeedsRefresh":false`, `"NeedsRefresh":0`, "true or false"},
		{"go", `"Index":`, `"NoIndex":`, "without a ratchet key or a chain key|without a part"},
		{"go", `{"CipherKey"`, `{"NoCipherKey"`, "message key without a part"},
		{"go", `"IV":"`, `"IV":"A`, "bad base64"},
		{"node", `"version":"v1"`, `"version":"v2"`, "another version"},
		{"node", `"closed":` + "1699999999999", `"closed":-1`, "more than one open session"},
		{"node", `"closed":-1`, `"closed":-2`, "closed at -2"},
		{"node", `"baseKeyType":2`, `"baseKeyType":3`, "base key of type 3"},
		{"node", `"chainType":1`, `"chainType":2`, "0 sending chains"},
		{"node", `"chainType":2`, `"chainType":1`, "sending chain"},
		{"node", `"chainType":2`, `"chainType":0`, "of type 0"},
		{"node", `"messageKeys":{"`, `"messageKeys":{"x":"`, "not a counter|JSON"},
		{"node", `"counter":4`, `"counter":0`, "of a chain at 1"},
		{"node", `"counter":4`, `"counter":-2`, "counter is -2"},
		{"node", `"previousCounter":`, `"previousCounter":-2,"x":`, "previousCounter is -2"},
		{"node", `"pubKey":"`, `"pubKey":{"type":"Buffer","data":[256]},"x":"`, "other bytes"},
		{"node", `"pubKey":"`, `"pubKey":{"type":"Array","data":"AA=="},"x":"`, "not a Buffer"},
		{"node", `"remoteIdentityKey"`, `"x"`, "without a ratchet, base key or identity"},
		{"node", `"_sessions":{"B`, `"_sessions":{"A`, "another base key"},
		{"key", `"SenderKeyStates":[`, `"SenderKeyStates":[{},`, "without an id"},
		{"list", `"senderKeyId"`, `"x"`, "without an id"},
		{"list", `"seed":{`, `"x":{`, "without a part"},
		{"list", `"private":{"type":"Buffer","data":"`, `"private":{"type":"Buffer","data":"AA==","x":"`, "private of 1 bytes"},
		{"list", `[`, `[{},`, "without an id"},
		{"key", `"KeyID"`, `"x"`, "without an id"},
		{"key", `"Keys":[`, `"Keys":[{"Iteration":0,"IV":"AAAAAAAAAAAAAAAAAAAAAA==",` +
			`"CipherKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","Seed":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`, "not of its seed"},
	} {
		bad := strings.Replace(good[tc.form], tc.old, tc.new, 1)
		if bad == good[tc.form] {
			t.Errorf("%s: %q is not there", tc.form, tc.old)
			continue
		}
		err := parse[tc.form](bad)
		if !errors.Is(err, signal.ErrCorruptRecord) || !regexp.MustCompile(tc.reason).MatchString(err.Error()) {
			t.Errorf("%s with %q: %v, want %q", tc.form, tc.new, err, tc.reason)
		}
	}
}

// What a form has no place for is refused.
func TestInexpressible(t *testing.T) {
	alice, bob, _ := conversation(t)
	imported := must(ParseGoSession(must(AppendGoSession(nil, bob))(t)))(t)
	if _, err := AppendNodeSession(nil, imported, now); !errors.Is(err, ErrInexpressible) || !strings.Contains(err.Error(), "seed") {
		t.Errorf("a skipped key without its seed: %v", err)
	}
	// edit returns alice's current session with another base key, or, without
	// f, due to be refreshed.
	edit := func(f func(state []byte) []byte) *signal.Session {
		r := must(record(alice, false))(t)
		r.PreviousSessions = nil
		st := r.CurrentSession
		if f == nil {
			refresh := true
			st.NeedsRefresh = &refresh
		} else {
			st.AliceBaseKey = f(st.AliceBaseKey)
		}
		return must(session(r))(t)
	}
	if _, err := AppendNodeSession(nil, edit(nil), now); !errors.Is(err, ErrInexpressible) {
		t.Errorf("a session due to be refreshed: %v", err)
	}
	same(t, "due to be refreshed", must(ParseGoSession(must(AppendGoSession(nil, edit(nil)))(t)))(t), edit(nil))
	for name, write := range map[string]func(*signal.Session) error{
		"go":   func(s *signal.Session) error { _, err := AppendGoSession(nil, s); return err },
		"node": func(s *signal.Session) error { _, err := AppendNodeSession(nil, s, now); return err },
	} {
		if err := write(new(signal.Session)); !errors.Is(err, ErrInexpressible) {
			t.Errorf("%s of an empty record: %v", name, err)
		}
		if err := write(edit(func([]byte) []byte { return nil })); !errors.Is(err, ErrInexpressible) {
			t.Errorf("%s of a session without a base key: %v", name, err)
		}
		// A ceiling too far ahead closes the sending chain.
		r := must(record(alice, false))(t)
		r.CurrentSession.SenderChain.ChainKey.Key = nil
		if err := write(must(session(r))(t)); !errors.Is(err, ErrInexpressible) {
			t.Errorf("%s of a closed sending chain: %v", name, err)
		}
	}
	r := must(record(alice, false))(t)
	r.PreviousSessions = append(r.PreviousSessions, r.CurrentSession)
	if _, err := AppendNodeSession(nil, must(session(r))(t), now); !errors.Is(err, ErrInexpressible) {
		t.Errorf("a session twice: %v", err)
	}
	r = must(record(alice, false))(t)
	r.CurrentSession, r.PreviousSessions = nil, append(r.PreviousSessions, r.CurrentSession)
	if _, err := AppendGoSession(nil, must(session(r))(t)); !errors.Is(err, ErrInexpressible) {
		t.Errorf("no current session: %v", err)
	}
	if _, err := AppendNodeSession(nil, must(session(r))(t), now); err != nil {
		t.Errorf("closed sessions alone: %v", err)
	}
}
