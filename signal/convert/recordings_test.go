package convert

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/internal/testvec"
	"github.com/sigcore/sigcore/signal"
)

// now dates the sessions of the records of these tests.
var now = time.UnixMilli(1_700_000_000_000)

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// same fails unless both records have the same sessions.
func same(t *testing.T, what string, a, b *signal.Session) {
	t.Helper()
	if !bytes.Equal(a.AppendPortable(nil), b.AppendPortable(nil)) {
		t.Errorf("%s: the record has changed", what)
	}
}

// A recorded record, with whose it is.
type recorded struct {
	where string
	data  string
	owner *testvec.Party
}

// recordings returns the records of a format that the recordings have.
func recordings(t *testing.T, format string) []recorded {
	var out []recorded
	for _, name := range testvec.Names() {
		if !strings.HasPrefix(name, "session_") || name == "session_records" {
			continue
		}
		transcripts := testvec.Sessions(t, name)
		for n := range transcripts {
			tr := &transcripts[n]
			for i, s := range tr.Steps {
				if r := s.RecordAfter; r != nil && r.Format == format {
					out = append(out, recorded{fmt.Sprintf("%s %d step %d", name, n, i), r.Data, tr.Party(s.Who)})
				}
			}
		}
	}
	if len(out) < 50 {
		t.Fatalf("%d records of the format %s", len(out), format)
	}
	return out
}

// What go.mau.fi/libsignal wrote is written again byte for byte.
func TestRecordedGoSessions(t *testing.T) {
	for _, r := range recordings(t, "go-json") {
		s, err := ParseGoSession([]byte(r.data))
		if err != nil {
			t.Errorf("%s: %v", r.where, err)
			continue
		}
		if got := must(AppendGoSession([]byte("before"), s))(t); string(got) != "before"+r.data {
			t.Errorf("%s: written as\n%s, was\n%s", r.where, got, r.data)
		}
		stored := must(signal.ParseSession(must(s.AppendBinary(nil))(t)))(t)
		if got := must(AppendGoSession(nil, stored))(t); string(got) != r.data {
			t.Errorf("%s: written after storing as\n%s, was\n%s", r.where, got, r.data)
		}
	}
}

func TestRecordedNodeSessions(t *testing.T) {
	for _, r := range recordings(t, "node-json") {
		identity := must(signal.ParsePublicKey(r.owner.IdentityPub))(t)
		s, err := ParseNodeSession([]byte(r.data), identity, r.owner.RegistrationID)
		if err != nil {
			t.Errorf("%s: %v", r.where, err)
			continue
		}
		data := must(AppendNodeSession([]byte("before"), s, now))(t)[len("before"):]
		again, err := ParseNodeSession(data, identity, r.owner.RegistrationID)
		if err != nil {
			t.Errorf("%s: written and not read: %v", r.where, err)
			continue
		}
		same(t, r.where, again, s)
		if twice := must(AppendNodeSession(nil, again, now))(t); !bytes.Equal(twice, data) {
			t.Errorf("%s: written as\n%s, then\n%s", r.where, data, twice)
		}
		same(t, r.where+" over the other JSON", must(ParseGoSession(must(AppendGoSession(nil, s))(t)))(t), s)
	}
}

// member is a party of the recordings as it can read a message.
type member struct {
	responder signal.Responder
	oneTime   map[uint32]*signal.PreKey
}

func newMember(t *testing.T, p *testvec.Party) *member {
	t.Helper()
	key := must(curve.NewPrivateKey(p.IdentityPriv))(t)
	m := &member{oneTime: map[uint32]*signal.PreKey{}}
	m.responder.Local = signal.Local{Identity: signal.NewIdentityKeyPair(key), RegistrationID: p.RegistrationID}
	if s := p.SignedPreKey; s != nil {
		k := signal.NewPreKey(s.ID, must(signal.NewPrivateKey(s.Priv))(t))
		m.responder.SignedPreKey = &signal.SignedPreKey{ID: s.ID, Private: k.Private, Public: k.Public}
	}
	for _, o := range p.OneTimePreKeys {
		m.oneTime[o.ID] = signal.NewPreKey(o.ID, must(signal.NewPrivateKey(o.Priv))(t))
	}
	return m
}

// read decrypts a message with a copy of s.
func (m *member) read(t *testing.T, s *signal.Session, typ string, body []byte) []byte {
	t.Helper()
	s = s.Clone()
	if typ != "pkmsg" {
		plain, _, err := s.Decrypt(nil, body, nil)
		if err != nil {
			t.Fatal(err)
		}
		return plain
	}
	msg := must(signal.ParsePreKeySignalMessage(body))(t)
	r := m.responder
	r.PreKey = m.oneTime[msg.PreKeyID]
	plain, _, err := s.DecryptPreKey(nil, &msg, &r)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// The next message after a stored record is read, over every way through the
// other forms.
func TestRecordedRecords(t *testing.T) {
	var file struct {
		Records []struct {
			Format, Record string
			Party          testvec.Party
			Next           struct {
				Type            string
				Body, Plaintext testvec.Hex
			} `json:"next_message"`
		}
	}
	testvec.Load(t, "session_records", &file)
	byFormat := map[string]int{}
	for n, r := range file.Records {
		t.Run(fmt.Sprintf("%d-%s", n, r.Format), func(t *testing.T) {
			m := newMember(t, &r.Party)
			identity, id := m.responder.Local.Identity.PublicKey(), m.responder.Local.RegistrationID
			var s *signal.Session
			switch r.Format {
			case "go-json":
				s = must(ParseGoSession([]byte(r.Record)))(t)
			case "node-json":
				s = must(ParseNodeSession([]byte(r.Record), identity, id))(t)
			default:
				s = must(signal.ParseSession(must(hex.DecodeString(r.Record))(t)))(t)
			}
			check := func(way string, s *signal.Session) {
				t.Helper()
				if got := m.read(t, s, r.Next.Type, r.Next.Body); !bytes.Equal(got, r.Next.Plaintext) {
					t.Errorf("%s: plaintext %x, want %x", way, got, r.Next.Plaintext)
				}
			}
			check("read", s)
			overGo := must(ParseGoSession(must(AppendGoSession(nil, s))(t)))(t)
			check("over go-json", overGo)
			same(t, "over go-json", overGo, s)
			node, err := AppendNodeSession(nil, s, now)
			if err != nil {
				// Only a key without its seed is in these records and not in that form.
				if !strings.Contains(err.Error(), "without its seed") {
					t.Fatal(err)
				}
				return
			}
			check("over node-json", must(ParseNodeSession(node, identity, id))(t))
			byFormat[r.Format]++
		})
	}
	for _, f := range []string{"go-json", "node-json", "signal-protobuf", "wacore-protobuf"} {
		if byFormat[f] == 0 {
			t.Errorf("no record of the format %s went all ways", f)
		}
	}
}

// What go.mau.fi/libsignal wrote of sender keys is written again byte for byte,
// but for private keys that are not there.
func TestRecordedGoSenderKeys(t *testing.T) {
	var file struct {
		Transcripts []struct {
			Steps []struct {
				Receivers map[string]testvec.Record `json:"receiver_records_after"`
				Sender    *testvec.Record           `json:"sender_record_after"`
			}
		}
	}
	testvec.Load(t, "sender_keys", &file)
	checked, skipped := 0, 0
	for n, tr := range file.Transcripts {
		for i, s := range tr.Steps {
			r, ok := s.Receivers["go"]
			if !ok || r.Format != "go-json" {
				continue
			}
			where := fmt.Sprintf("%d step %d", n, i)
			k, err := ParseGoSenderKey([]byte(r.Data))
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			none := `"SigningKeyPrivate":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`
			want := strings.ReplaceAll(r.Data, `"SigningKeyPrivate":null`, none)
			if got := must(AppendGoSenderKey(nil, k))(t); string(got) != want {
				t.Errorf("%s: written as\n%s, was\n%s", where, got, want)
			}
			checked++
			skipped += strings.Count(r.Data, `"Seed"`)
		}
	}
	if checked < 100 || skipped == 0 {
		t.Errorf("%d records with %d skipped keys", checked, skipped)
	}
}

// What Baileys wrote of sender keys is written again byte for byte, and reads
// the message after it.
func TestRecordedBaileysSenderKeys(t *testing.T) {
	var file struct {
		Transcripts []struct {
			Steps []struct {
				Op, From        string
				Msg             int
				Body, Plaintext testvec.Hex
				Results         map[string]string
				Receivers       map[string]testvec.Record `json:"receiver_records_after"`
			}
		}
	}
	testvec.Load(t, "sender_keys", &file)
	checked, read := 0, 0
	for n, tr := range file.Transcripts {
		bodies := map[int][]byte{}
		last := map[string]string{}
		for i, s := range tr.Steps {
			where := fmt.Sprintf("%d step %d", n, i)
			switch s.Op {
			case "encrypt":
				bodies[s.Msg] = s.Body
			case "process":
				delete(last, s.From)
			case "decrypt":
				if data, ok := last[s.From]; ok && s.Body == nil && s.Results["npm"] == "ok" && s.Results["model"] == "ok" {
					k := must(ParseBaileysSenderKey([]byte(data)))(t)
					plain, err := k.Decrypt(nil, bodies[s.Msg])
					if err != nil || !bytes.Equal(plain, s.Plaintext) {
						t.Errorf("%s: %x, %v; want %x", where, plain, err, s.Plaintext)
					}
					read++
				}
			}
			r, ok := s.Receivers["npm"]
			if !ok || r.Format != "baileys-json" {
				continue
			}
			last[s.From] = r.Data
			k, err := ParseBaileysSenderKey([]byte(r.Data))
			if err != nil {
				t.Errorf("%s: %v", where, err)
				continue
			}
			if got := must(AppendBaileysSenderKey(nil, k))(t); string(got) != r.Data {
				t.Errorf("%s: written as\n%s, was\n%s", where, got, r.Data)
			}
			overGo := must(ParseGoSenderKey(must(AppendGoSenderKey(nil, k))(t)))(t)
			if got := must(AppendBaileysSenderKey(nil, overGo))(t); string(got) != r.Data {
				t.Errorf("%s: written over the other JSON as\n%s, was\n%s", where, got, r.Data)
			}
			checked++
		}
	}
	if checked < 100 || read < 100 {
		t.Errorf("%d records, %d messages read", checked, read)
	}
}
