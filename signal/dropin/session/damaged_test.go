package session_test

import (
	"bytes"
	"errors"
	"testing"

	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/signalerror"
	"go.mau.fi/libsignal/state/record"
)

// TestNullKeys: a record that has null in place of the keys of a message does not
// panic when its states are asked for, and keeps what can be read.
func TestNullKeys(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	for range 2 {
		a.start(b)
		a.send(b, "lost")
		b.mustRead(a, a.send(b, "one"))
	}
	key := a.address.String()
	whole := b.sessions[key]
	field := []byte(`"MessageKeys":[{`)
	for _, c := range []struct {
		at                int
		current, previous int
	}{{bytes.Index(whole, field), 0, 1}, {bytes.LastIndex(whole, field), 3, 0}} {
		at := c.at + len(field) - 1
		damaged := append(append(bytes.Clone(whole[:at]), "null,"...), whole[at:]...)
		rec, err := record.NewSessionFromBytes(damaged, b.serializer.Session, b.serializer.State)
		if err != nil {
			t.Fatal(err)
		}
		if v, n := rec.SessionState().Version(), len(rec.PreviousSessionStates()); v != c.current || n != c.previous {
			t.Errorf("current state of version %d, %d others", v, n)
		}
	}
}

// TestKeyWithoutPrivate: a row of a prekey without its private key is as good as
// none.
func TestKeyWithoutPrivate(t *testing.T) {
	for _, signed := range []bool{false, true} {
		a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
		a.start(b)
		m := a.send(b, "one")
		public, want := b.signed.KeyPair().PublicKey().Serialize(), signalerror.ErrNoOneTimeKeyFound
		var err error
		if signed {
			want = signalerror.ErrNoSignedPreKey
			row := b.serializer.SignedPreKeyRecord.Serialize(&record.SignedPreKeyStructure{ID: 1, PublicKey: public})
			var k *record.SignedPreKey
			if k, err = record.NewSignedPreKeyFromBytes(row, b.serializer.SignedPreKeyRecord); err == nil {
				err = b.StoreSignedPreKey(ctx, 1, k)
			}
		} else {
			row := b.serializer.PreKeyRecord.Serialize(&record.PreKeyStructure{ID: 1, PublicKey: public})
			var k *record.PreKey
			if k, err = record.NewPreKeyFromBytes(row, b.serializer.PreKeyRecord); err == nil {
				err = b.InMemoryPreKey.StorePreKey(ctx, 1, k)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.read(a, m); !errors.Is(err, want) {
			t.Errorf("signed %v: %v", signed, err)
		}
	}
}

// TestNil: nil messages and structures are errors.
func TestNil(t *testing.T) {
	a, b := newUser(t, "15550000001"), newUser(t, "15550000002")
	var none *protocol.PreKeySignalMessage
	if _, err := b.cipher(a).DecryptMessage(ctx, none); !errors.Is(err, signalerror.ErrIncompleteMessage) {
		t.Error(err)
	}
	rec := record.NewSession(b.serializer.Session, b.serializer.State)
	if _, err := session.NewBuilderFromSignal(b, a.address, b.serializer).Process(ctx, rec, none); !errors.Is(err, signalerror.ErrIncompleteMessage) {
		t.Error(err)
	}
	if _, err := record.NewPreKeyFromStruct(nil, nil); err == nil {
		t.Error("a prekey of nothing")
	}
	if _, err := record.NewSignedPreKeyFromStruct(nil, nil); err == nil {
		t.Error("a signed prekey of nothing")
	}
}
