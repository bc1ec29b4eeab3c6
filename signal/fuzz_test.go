package signal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/sigcore/sigcore/internal/testvec"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// The fuzz targets compare the hand-written encoding with generated code. What
// we accept it has to accept, with the same values, and it has to write the
// same bytes. What it accepts we may refuse for one reason only: a known field
// of the wrong wire type, or a group nested too deep, which generated code
// keeps as an unknown field.

// strange reports whether a message has unknown fields anywhere at its top.
func strange(m proto.Message) bool { return len(m.ProtoReflect().GetUnknown()) > 0 }

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	return must(proto.MarshalOptions{Deterministic: true}.Marshal(m))(t)
}

// messageSeeds adds recorded messages of one type to a corpus, whole and cut.
func messageSeeds(f *testing.F, typ string) {
	for _, name := range []string{"session_basic", "session_byte34"} {
		for _, tr := range testvec.Sessions(f, name) {
			for _, s := range tr.Steps {
				if s.Op == "encrypt" && s.Type == typ {
					f.Add([]byte(s.Body))
					f.Add([]byte(s.Body[:len(s.Body)/2]))
				}
			}
		}
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0x33}, 80))
}

// bounded calls a parser and fails if it allocates more than its input may cost.
func bounded[T any](t *testing.T, b []byte, parse func([]byte) (T, error)) (T, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := parse(b)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > uint64(64*len(b)+64<<10) {
		t.Errorf("%d bytes of input allocate %d", len(b), got)
	}
	return v, err
}

func FuzzSignalMessage(f *testing.F) {
	messageSeeds(f, "msg")
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bounded(t, b, ParseSignalMessage)
		var want pb.SignalMessage
		if len(b) < 9 || b[0]>>4 != 3 || proto.Unmarshal(b[1:len(b)-8], &want) != nil {
			if err == nil {
				t.Fatal("accepted what generated code refuses")
			}
			return
		}
		if err != nil {
			if errors.Is(err, ErrMalformed) && !strange(&want) && len(want.GetCiphertext()) > 0 {
				t.Fatalf("refused what generated code accepts: %v", err)
			}
			return
		}
		if !bytes.HasPrefix(want.GetRatchetKey(), m.RatchetKey.appendTagged(nil)) || m.Counter != want.GetCounter() ||
			m.PreviousCounter != want.GetPreviousCounter() || !bytes.Equal(m.Ciphertext, want.GetCiphertext()) || !bytes.Equal(m.MAC[:], b[len(b)-8:]) {
			t.Fatalf("%+v, generated code reads %v", &m, &want)
		}
		written := must(m.AppendBinary(nil))(t)
		canonical := marshal(t, &pb.SignalMessage{
			RatchetKey: m.RatchetKey.appendTagged(nil), Counter: &m.Counter, PreviousCounter: &m.PreviousCounter, Ciphertext: m.Ciphertext,
		})
		if !bytes.Equal(written[1:len(written)-8], canonical) || written[0] != 0x33 || !bytes.Equal(written[len(written)-8:], m.MAC[:]) {
			t.Fatalf("%x, generated code writes %x", written, canonical)
		}
	})
}

func FuzzPreKeySignalMessage(f *testing.F) {
	messageSeeds(f, "pkmsg")
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bounded(t, b, ParsePreKeySignalMessage)
		var want pb.PreKeySignalMessage
		if len(b) < 1 || b[0]>>4 != 3 || proto.Unmarshal(b[1:], &want) != nil {
			if err == nil {
				t.Fatal("accepted what generated code refuses")
			}
			return
		}
		if err != nil {
			if _, inner := ParseSignalMessage(want.GetMessage()); errors.Is(err, ErrMalformed) && inner == nil && !strange(&want) && want.SignedPreKeyId != nil {
				t.Fatalf("refused what generated code accepts: %v", err)
			}
			return
		}
		inner := must(ParseSignalMessage(want.GetMessage()))(t)
		if m.HasPreKeyID != (want.PreKeyId != nil) || m.PreKeyID != want.GetPreKeyId() || m.RegistrationID != want.GetRegistrationId() ||
			m.SignedPreKeyID != want.GetSignedPreKeyId() || !bytes.HasPrefix(want.GetBaseKey(), m.BaseKey.appendTagged(nil)) ||
			!bytes.HasPrefix(want.GetIdentityKey(), m.Identity.appendTagged(nil)) ||
			!bytes.Equal(m.inner, want.GetMessage()) || !bytes.Equal(m.Message.Ciphertext, inner.Ciphertext) {
			t.Fatalf("%+v, generated code reads %v", &m, &want)
		}
		written := must(m.AppendBinary(nil))(t)
		canonical := marshal(t, &pb.PreKeySignalMessage{
			PreKeyId: want.PreKeyId, BaseKey: m.BaseKey.appendTagged(nil), IdentityKey: m.Identity.appendTagged(nil),
			Message: m.inner, RegistrationId: &m.RegistrationID, SignedPreKeyId: &m.SignedPreKeyID,
		})
		if !bytes.Equal(written[1:], canonical) {
			t.Fatalf("%x, generated code writes %x", written, canonical)
		}
	})
}

func groupSeeds(f *testing.F, message, distribution bool) {
	var file struct{ Transcripts []groupTranscript }
	testvec.Load(f, "sender_keys", &file)
	for _, tr := range file.Transcripts[:4] {
		for _, s := range tr.Steps {
			if message && s.Op == "encrypt" {
				f.Add([]byte(s.Body))
			}
			if distribution && s.Op == "create" {
				f.Add([]byte(s.SKDM))
			}
		}
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0x33}, 80))
}

func FuzzSenderKeyMessage(f *testing.F) {
	groupSeeds(f, true, false)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bounded(t, b, ParseSenderKeyMessage)
		var want pb.SenderKeyMessage
		if len(b) < 65 || b[0]>>4 != 3 || proto.Unmarshal(b[1:len(b)-64], &want) != nil {
			if err == nil {
				t.Fatal("accepted what generated code refuses")
			}
			return
		}
		if err != nil {
			if !strange(&want) && want.Id != nil && want.Iteration != nil && len(want.Ciphertext) > 0 {
				t.Fatalf("refused what generated code accepts: %v", err)
			}
			return
		}
		if m.KeyID != want.GetId() || m.Iteration != want.GetIteration() || !bytes.Equal(m.Ciphertext, want.GetCiphertext()) {
			t.Fatalf("%+v, generated code reads %v", &m, &want)
		}
		written := must(m.AppendBinary(nil))(t)
		canonical := marshal(t, &pb.SenderKeyMessage{Id: &m.KeyID, Iteration: &m.Iteration, Ciphertext: m.Ciphertext})
		if !bytes.Equal(written[1:len(written)-64], canonical) || !bytes.Equal(written[len(written)-64:], b[len(b)-64:]) {
			t.Fatalf("%x, generated code writes %x", written, canonical)
		}
	})
}

func FuzzSenderKeyDistributionMessage(f *testing.F) {
	groupSeeds(f, false, true)
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := bounded(t, b, ParseSenderKeyDistributionMessage)
		var want pb.SenderKeyDistributionMessage
		if len(b) < 65 || b[0]>>4 != 3 || proto.Unmarshal(b[1:], &want) != nil {
			if err == nil {
				t.Fatal("accepted what generated code refuses")
			}
			return
		}
		if err != nil {
			if key, e := ParsePublicKey(want.GetSigningKey()); e == nil && !strange(&want) && want.Id != nil && want.Iteration != nil && len(want.ChainKey) == 32 {
				t.Fatalf("refused what generated code accepts, of key %v: %v", key, err)
			}
			return
		}
		written := must(m.AppendBinary(nil))(t)
		canonical := marshal(t, &pb.SenderKeyDistributionMessage{
			Id: want.Id, Iteration: want.Iteration, ChainKey: want.ChainKey, SigningKey: want.SigningKey,
		})
		if !bytes.Equal(written[1:], canonical) {
			t.Fatalf("%x, generated code writes %x", written, canonical)
		}
	})
}

func FuzzSessionRecord(f *testing.F) {
	for _, name := range []string{"session_basic", "session_order"} {
		for _, tr := range testvec.Sessions(f, name) {
			for _, s := range tr.Steps {
				if r := s.RecordAfter; r != nil && (r.Format == "wacore-protobuf" || r.Format == "signal-protobuf") && len(r.Data) < 4000 {
					f.Add(decodeHex(f, r.Data))
				}
			}
		}
	}
	alice, bob := conversation(f)
	for range 3 {
		if _, _, err := alice.session.Encrypt(nil, nil); err != nil {
			f.Fatal(err)
		}
	}
	exchange(f, alice, bob, "after a gap")
	bob.session.SetLease(70, [16]byte{1}, true)
	f.Add(record(bob.session))
	_, bob = recordOf(f, 2, 3)
	f.Add(record(bob.session))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := bounded(t, b, ParseSession)
		if err != nil {
			if !errors.Is(err, ErrCorruptRecord) {
				t.Fatalf("error %v, want ErrCorruptRecord", err)
			}
			return
		}
		// Archived sessions are carried as they are, whatever they are.
		kept := record(s)
		if again := record(must(ParseSession(kept))(t)); !bytes.Equal(kept, again) {
			t.Fatalf("record %x becomes %x", kept, again)
		}
		before := record(s)
		if _, _, err := s.Clone().Decrypt(nil, forgery(t, 3), nil); err == nil {
			t.Fatal("decrypted a forgery")
		}
		if !bytes.Equal(record(s), before) {
			t.Fatal("a forgery changed the record")
		}
		for _, st := range s.archived {
			_, err := bounded(t, st.stored, func([]byte) (*state, error) { return st, st.load() })
			if err != nil {
				return
			}
			st.changed()
		}
		if err := proto.Unmarshal(b, new(pb.RecordStructure)); err != nil {
			t.Fatalf("accepted what generated code refuses: %v", err)
		}
		for _, form := range []string{"compact", "portable"} {
			write := func(s *Session) []byte {
				if form == "compact" {
					return record(s)
				}
				return s.AppendPortable(nil)
			}
			once := write(s)
			var read pb.RecordStructure
			if err := proto.Unmarshal(once, &read); err != nil {
				t.Fatalf("%s record is malformed: %v", form, err)
			}
			if generated := marshal(t, &read); !bytes.Equal(withLength(once, generated), once) {
				t.Fatalf("%s record %x, generated code writes %x", form, once, generated)
			}
			again, err := ParseSession(once)
			if err != nil {
				t.Fatalf("%s record does not load again: %v", form, err)
			}
			if twice := write(again); !bytes.Equal(once, twice) {
				t.Fatalf("%s record %x becomes %x", form, once, twice)
			}
			// A copy is one.
			if c := write(s.Clone()); !bytes.Equal(once, c) {
				t.Fatalf("%s record %x, of the clone %x", form, once, c)
			}
		}
		// Whatever was loaded has to stand use.
		_, _, _ = s.Clone().Encrypt(nil, []byte("x"))
		before = record(s)
		if _, _, err := s.Decrypt(nil, forgery(t, 3), nil); err == nil {
			t.Fatal("decrypted a forgery")
		}
		if !bytes.Equal(record(s), before) {
			t.Fatal("a forgery changed the record")
		}
	})
}

// withLength is a record that generated code has written with the length where
// ours has it: in front. Generated code keeps what it does not know at the end.
func withLength(ours, generated []byte) []byte {
	_, n := binary.Uvarint(bytes.TrimPrefix(ours, []byte{0xb0, 6}))
	if !bytes.HasPrefix(ours, []byte{0xb0, 6}) || n <= 0 || len(generated) < n+2 {
		return generated
	}
	end := len(generated) - n - 2
	return append(bytes.Clone(generated[end:]), generated[:end]...)
}

// forgery returns a message of a ratchet key that nobody has.
func forgery(t testing.TB, counter uint32) []byte {
	t.Helper()
	m := SignalMessage{RatchetKey: PublicKey{9}, Counter: counter, Ciphertext: make([]byte, 16)}
	return must(m.AppendBinary(nil))(t)
}

func FuzzSenderKeyRecord(f *testing.F) {
	var k SenderKey
	if err := k.Create(); err != nil {
		f.Fatal(err)
	}
	f.Add(groupRecord(&k))
	var r SenderKey
	if _, err := r.Process(must(k.AppendDistribution(nil))(f)); err != nil {
		f.Fatal(err)
	}
	for range 3 {
		if _, err := k.Encrypt(nil, nil); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := r.Decrypt(nil, must(k.Encrypt(nil, []byte("after a gap")))(f)); err != nil {
		f.Fatal(err)
	}
	r.SetLease(70, [16]byte{1}, true)
	f.Add(groupRecord(&r))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := bounded(t, b, ParseSenderKey)
		if err != nil {
			if !errors.Is(err, ErrCorruptRecord) {
				t.Fatalf("error %v, want ErrCorruptRecord", err)
			}
			return
		}
		once := groupRecord(k)
		var read pb.SenderKeyRecordStructure
		if err := proto.Unmarshal(once, &read); err != nil {
			t.Fatalf("record is malformed: %v", err)
		}
		if generated := marshal(t, &read); !bytes.Equal(withLength(once, generated), once) {
			t.Fatalf("record %x, generated code writes %x", once, generated)
		}
		if twice := groupRecord(must(ParseSenderKey(once))(t)); !bytes.Equal(once, twice) {
			t.Fatalf("record %x becomes %x", once, twice)
		}
		if c := groupRecord(k.Clone()); !bytes.Equal(once, c) {
			t.Fatalf("record %x, of the clone %x", once, c)
		}
		_, _ = k.Encrypt(nil, []byte("x"))
	})
}

// FuzzPreKeyRecords reads the three kinds of stored keys.
func FuzzPreKeyRecords(f *testing.F) {
	d := newDevice(f, 1, 1)
	f.Add(must(d.oneTime[1].AppendBinary(nil))(f))
	f.Add(must(d.signed[1].AppendBinary(nil))(f))
	f.Add(must(d.local.Identity.AppendBinary(nil))(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if k, err := bounded(t, b, ParsePreKey); err == nil {
			written := must(k.AppendBinary(nil))(t)
			if !bytes.Equal(written, marshal(t, &pb.PreKeyRecordStructure{Id: &k.ID, PublicKey: k.Public[:], PrivateKey: k.Private[:]})) {
				t.Fatalf("prekey written as %x", written)
			}
			if again := must(ParsePreKey(written))(t); *again != *k {
				t.Fatal("prekey changes when written")
			}
		}
		if k, err := bounded(t, b, ParseSignedPreKey); err == nil {
			written := must(k.AppendBinary(nil))(t)
			if !bytes.Equal(written, marshal(t, &pb.SignedPreKeyRecordStructure{
				Id: &k.ID, PublicKey: k.Public[:], PrivateKey: k.Private[:], Signature: k.Signature[:], Timestamp: &k.Timestamp,
			})) {
				t.Fatalf("signed prekey written as %x", written)
			}
			if again := must(ParseSignedPreKey(written))(t); *again != *k {
				t.Fatal("signed prekey changes when written")
			}
		}
		if k, err := bounded(t, b, ParseIdentityKeyPair); err == nil {
			written := must(k.AppendBinary(nil))(t)
			tagged := k.public.Tagged()
			if !bytes.Equal(written, marshal(t, &pb.IdentityKeyPairStructure{PublicKey: tagged[:], PrivateKey: k.key.Bytes()})) {
				t.Fatalf("identity written as %x", written)
			}
		}
	})
}
