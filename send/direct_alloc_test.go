package send

import (
	"testing"
	"context"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// EncryptMany encrypts with the sessions in memory.
func (a *liveAccount) EncryptMany(_ context.Context, list []signal.Outgoing) ([]signal.EncryptResult, error) {
	items := make([]signal.Encryption, len(list))
	for i := range list {
		items[i] = signal.Encryption{Session: a.sessions[list[i].To], Plaintext: list[i].Plaintext}
	}
	signal.EncryptMany(nil, items)
	out := make([]signal.EncryptResult, len(list))
	for i := range items {
		out[i].Ciphertext = signal.Ciphertext{Type: items[i].Type, Body: items[i].Body}
		out[i].Err = items[i].Err
	}
	return out, nil
}

func directFixture(t testing.TB) (*liveAccount, *DirectMessage) {
	to := jid(t, "15550000002@s.whatsapp.net")
	a := &liveAccount{sessions: map[signal.Address]*signal.Session{SignalAddress(to): acknowledged(t)}}
	return a, &DirectMessage{
		Self: Self{PN: jid(t, "15550000001@s.whatsapp.net"), DeviceIdentity: []byte("identity")},
		To: to, ID: messageID, Type: "text", Message: hello, Devices: []binary.JID{to},
	}
}

func BenchmarkDirectOne(b *testing.B) {
	a, m := directFixture(b)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Direct(b.Context(), a, m)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := binary.Marshal(s.Node); err != nil {
			b.Fatal(err)
		}
	}
}
