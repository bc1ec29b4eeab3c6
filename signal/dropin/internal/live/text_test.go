package live

import (
	"bytes"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/convert"
)

// conversation returns the record of one who has read messages out of order in
// several sessions.
func conversation(t *testing.T, sessions int) []byte {
	t.Helper()
	me, peer := identity(t), identity(t)
	signed, err := signal.GenerateSignedPreKey(1, peer.Identity, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := new(signal.Session)
	for range sessions {
		ours := new(signal.Session)
		if err := ours.Initiate(me, &signal.Bundle{
			RegistrationID: 1, Identity: peer.Identity.PublicKey(), SignedPreKeyID: 1,
			SignedPreKey: signed.Public, Signature: signed.Signature,
		}); err != nil {
			t.Fatal(err)
		}
		var last []byte
		for range 4 {
			if _, last, err = ours.Encrypt(nil, []byte("x")); err != nil {
				t.Fatal(err)
			}
		}
		m, err := signal.ParsePreKeySignalMessage(last)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := theirs.DecryptPreKey(nil, &m, &signal.Responder{Local: peer, SignedPreKey: signed}); err != nil {
			t.Fatal(err)
		}
	}
	record, err := convert.AppendGoSession(nil, theirs)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

func identity(t *testing.T) signal.Local {
	t.Helper()
	k, err := signal.GenerateIdentityKeyPair()
	if err != nil {
		t.Fatal(err)
	}
	return signal.Local{Identity: k, RegistrationID: 1}
}

// TestCut: what is cut out of a record and joined again is the record.
func TestCut(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		record := conversation(t, n)
		short, kept, tail, ok := cut(record)
		if !ok || len(kept) != 1 || len(statesOf(tail)) != n-1 {
			t.Fatalf("%v, %d chains, %d states", ok, len(kept), len(statesOf(tail)))
		}
		if len(kept[0].keys) == 0 || kept[0].index != 4 {
			t.Errorf("%d bytes of keys below %d", len(kept[0].keys), kept[0].index)
		}
		if got := join(bytes.Clone(short), kept, tail); !bytes.Equal(got, record) {
			t.Errorf("joined again:\n%s\nnot\n%s", got, record)
		}
		if got := slim(record, tail); !bytes.Equal(got, tail) {
			t.Error("states without older copies are kept")
		}
		twice := append(append(bytes.Clone(tail), tail...), ""...)
		if n > 1 {
			twice = append(append(bytes.Clone(tail), ','), tail...)
		}
		if got := slim(record, twice); !bytes.Equal(got, tail) {
			t.Errorf("%d states of %d are kept", len(statesOf(got)), len(statesOf(twice)))
		}
		for _, other := range alternatives(record) {
			if _, err := convert.ParseGoSession(other); err != nil {
				t.Error(err)
			}
		}
		if got := len(alternatives(record)); got != n-1 {
			t.Errorf("%d alternatives", got)
		}
	}
}

// TestUncut: what has another form is not cut, and no text makes the functions
// panic.
func TestUncut(t *testing.T) {
	record := string(conversation(t, 3))
	for i := range record {
		for _, text := range []string{record[:i], record[i:], record[:i] + " " + record[i:], record[:i] + "]" + record[i:]} {
			b := []byte(text)
			short, kept, tail, ok := cut(b)
			if ok {
				join(bytes.Clone(short), kept, tail)
			}
			alternatives(b)
			slim(b, tail)
			s, err := ParseSession(b)
			if err == nil {
				if got, err := s.JSON(); err != nil || !bytes.Equal(got, b) {
					t.Fatalf("an unchanged record changes: %v", err)
				}
			}
		}
	}
	spaced := strings.ReplaceAll(record, `,"`, `, "`)
	s, err := ParseSession([]byte(spaced))
	if err != nil || len(s.tail) > 0 || s.value.Archived() != 2 {
		t.Errorf("with spaces: %v", err)
	}
}

// TestAppendKeys: a chain keeps the newest keys.
func TestAppendKeys(t *testing.T) {
	one := `{"Index":1}`
	many := []byte(strings.TrimSuffix(strings.Repeat(one+",", signal.MaxSkippedKeys-1), ","))
	got := appendKeys(nil, append([]byte(`{"Index":0},`), many...), []byte(`{"Index":2}`))
	if n := bytes.Count(got, []byte("{")); n != signal.MaxSkippedKeys || !bytes.HasPrefix(got, []byte(one+",")) || !bytes.HasSuffix(got, []byte(`,{"Index":2}`)) {
		t.Errorf("%d keys from %s to %s", n, got[:30], got[len(got)-30:])
	}
	for _, c := range [][3]string{{"", "", ""}, {one, "", one}, {"", one, one}, {one, one, one + "," + one}} {
		if got := appendKeys(nil, []byte(c[0]), []byte(c[1])); string(got) != c[2] {
			t.Errorf("%s and %s: %s", c[0], c[1], got)
		}
	}
}
