package signal

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/sigcore/sigcore/internal/testvec"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// TestWorkedVectors follows the conversation of the worked vectors: a bundle,
// "hello" and "world", a group message, and all stored forms.
func TestWorkedVectors(t *testing.T) {
	type pair struct{ Priv, Pub, Sig testvec.Hex }
	var v struct {
		IKa, IKb, SPKb, OPKb, EKa, RKa, RKb, SGN pair
		SPKSig                                   testvec.Hex                       `json:"spk_sig"`
		AliceRatchet                             struct{ Root, Chain testvec.Hex } `json:"alice_ratchet"`
		BobRatchet                               struct{ Root, Chain testvec.Hex } `json:"bob_ratchet"`
		Prekey0, Signal0, SKDM, SKMsg            testvec.Hex
		SignalBob0                               testvec.Hex `json:"signal_bob0"`
		NoOPKPrefix                              testvec.Hex `json:"prekey0_noopk_prefix"`
		PreKeyRec                                testvec.Hex `json:"prekey_rec"`
		PreKeyRecMax                             int         `json:"prekey_rec_max24"`
		SPKRec                                   testvec.Hex `json:"spk_rec"`
		IDPair                                   testvec.Hex
		SessRec                                  testvec.Hex `json:"sess_rec"`
		Lease64, Lease1000, SkipKey              testvec.Hex
		IncarnTag                                testvec.Hex `json:"incarn_tag"`
	}
	testvec.Load(t, "worked-vectors", &v)
	equal := func(what string, got, want []byte) {
		t.Helper()
		if len(want) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", what, got, want)
		}
	}
	var z [64]byte
	for i := range z {
		z[i] = byte(i)
	}

	alice := &device{local: Local{identity(t, v.IKa.Priv), 0x1234}, session: new(Session)}
	bob := &device{local: Local{identity(t, v.IKb.Priv), 0x4321}, session: new(Session)}
	signed := &SignedPreKey{}
	if err := withDraws(t, func() (err error) {
		signed, err = NewSignedPreKey(1, privateKey(t, v.SPKb.Priv), bob.local.Identity, 1_700_000_000)
		return err
	}, z[:]); err != nil {
		t.Fatal(err)
	}
	oneTime := NewPreKey(7, privateKey(t, v.OPKb.Priv))
	bob.signed = map[uint32]*SignedPreKey{1: signed}
	bob.oneTime = map[uint32]*PreKey{7: oneTime}
	equal("signed prekey", signed.Public[:], v.SPKb.Pub)
	equal("signature", signed.Signature[:], v.SPKSig)
	equal("one-time prekey", oneTime.Public[:], v.OPKb.Pub)
	for name, k := range map[string]pair{"IKa": v.IKa, "EKa": v.EKa, "SPKb": v.SPKb, "OPKb": v.OPKb, "RKb": v.RKb} {
		id := identity(t, k.Priv)
		public, sig := id.PublicKey(), id.PrivateKey().SignWithRandom(&z, []byte("xeddsa test"))
		equal(name, public[:], k.Pub)
		equal(name+" signature", sig[:], k.Sig)
	}

	// Stored keys.
	stored := *oneTime
	stored.ID = 1
	b := must(stored.AppendBinary(nil))(t)
	equal("prekey record", b, v.PreKeyRec)
	if got := must(ParsePreKey(b))(t); *got != stored {
		t.Error("prekey record reads as another key")
	}
	tagged := append([]byte("\x08\x07\x12\x21"), oneTime.Public.appendTagged(nil)...)
	tagged = append(append(tagged, 0x1a, 32), oneTime.Private[:]...)
	if got := must(ParsePreKey(tagged))(t); *got != *oneTime {
		t.Error("prekey record with a tagged key reads as another key")
	}
	if b := must((&PreKey{ID: MaxPreKeyID}).AppendBinary(nil))(t); len(b) != v.PreKeyRecMax {
		t.Errorf("prekey record of %d bytes, want %d", len(b), v.PreKeyRecMax)
	}
	b = must(signed.AppendBinary(nil))(t)
	equal("signed prekey record", b, v.SPKRec)
	if got := must(ParseSignedPreKey(b))(t); *got != *signed {
		t.Error("signed prekey record reads as another key")
	}
	b = must(alice.local.Identity.AppendBinary(nil))(t)
	equal("identity", b, v.IDPair)
	if got := must(ParseIdentityKeyPair(b))(t); got.PublicKey() != alice.local.Identity.PublicKey() {
		t.Error("identity reads as another key")
	}

	// The session.
	bundle := bob.bundle(0)
	bundle.HasPreKey, bundle.PreKeyID, bundle.PreKey = true, 7, oneTime.Public
	if err := withDraws(t, func() error { return alice.session.Initiate(alice.local, bundle) }, v.EKa.Priv, v.RKa.Priv); err != nil {
		t.Fatal(err)
	}
	equal("session record", record(alice.session), v.SessRec)
	// The portable form says since when the session is pending, as far in the
	// future as readers can hold, and is the same but for that.
	var portable pb.RecordStructure
	if err := proto.Unmarshal(alice.session.AppendPortable(nil), &portable); err != nil {
		t.Fatal(err)
	}
	pending := portable.CurrentSession.PendingPreKey
	if pending.GetTimestamp() != math.MaxUint32 {
		t.Errorf("pending since %d", pending.GetTimestamp())
	}
	pending.Timestamp = nil
	equal("portable session record", must(proto.MarshalOptions{Deterministic: true}.Marshal(&portable))(t), v.SessRec)
	pending.Timestamp = proto.Uint64(1_700_000_000)
	dated := must(ParseSession(must(proto.Marshal(&portable))(t)))(t)
	for name, b := range map[string][]byte{"own": record(dated), "portable": dated.AppendPortable(nil)} {
		var read pb.RecordStructure
		if err := proto.Unmarshal(b, &read); err != nil || !proto.Equal(&read, &portable) {
			t.Errorf("the time of a record is lost in the %s form: %v", name, err)
		}
	}
	equal("session record read and written", record(must(ParseSession(v.SessRec))(t)), v.SessRec)
	equal("root key", alice.session.current.root[:], v.AliceRatchet.Root)
	equal("chain key", alice.session.current.sender.chain.key[:], v.AliceRatchet.Chain)
	typ, body, err := alice.session.Encrypt(nil, []byte("hello"))
	if err != nil || typ != TypePreKey {
		t.Fatal(typ, err)
	}
	equal("prekey message", body, v.Prekey0)
	m := must(ParsePreKeySignalMessage(body))(t)
	equal("signal message", m.inner, v.Signal0)
	if err := withDraws(t, func() error {
		plain, r, err := bob.decrypt(typ, body)
		if err == nil && (!r.NewSession || !r.ConsumedPreKey || r.PreKeyID != 7 || !r.Ratcheted || r.Promoted) {
			t.Errorf("result %+v", r)
		}
		equal("plaintext", plain, []byte("hello"))
		return err
	}, v.RKb.Priv); err != nil {
		t.Fatal(err)
	}
	equal("root key of the answer", bob.session.current.root[:], v.BobRatchet.Root)
	equal("chain key of the answer", bob.session.current.sender.chain.key[:], v.BobRatchet.Chain)
	typ, body, err = bob.session.Encrypt(nil, []byte("world"))
	if err != nil || typ != TypeSignal {
		t.Fatal(typ, err)
	}
	equal("answer", body, v.SignalBob0)
	if plain, _, err := alice.decrypt(typ, body); err != nil || string(plain) != "world" {
		t.Fatal(plain, err)
	}

	// A session without a one-time prekey.
	alice.session = new(Session)
	bundle.HasPreKey = false
	if err := withDraws(t, func() error { return alice.session.Initiate(alice.local, bundle) }, v.EKa.Priv, v.RKa.Priv); err != nil {
		t.Fatal(err)
	}
	_, body, err = alice.session.Encrypt(nil, []byte("hello"))
	if err != nil || !bytes.HasPrefix(body, v.NoOPKPrefix) {
		t.Errorf("message without a one-time prekey: %x, %v", body, err)
	}

	// The group. The id is half of what is drawn, 0x2468acf0.
	var k SenderKey
	if err := withDraws(t, k.Create, []byte{0xf0, 0xac, 0x68, 0x24}, bytes.Repeat([]byte{0x22}, 32), v.SGN.Priv); err != nil {
		t.Fatal(err)
	}
	if id, ok := k.KeyID(); !ok || id != 0x12345678 {
		t.Errorf("sender key id %#x", id)
	}
	equal("distribution message", must(k.AppendDistribution(nil))(t), v.SKDM)
	var receiver SenderKey
	if d, err := receiver.Process(v.SKDM); err != nil || d != DistributionNew {
		t.Fatal(d, err)
	}
	if err := withDraws(t, func() (err error) {
		body, err = k.Encrypt(nil, []byte("group hi"))
		return err
	}, z[:]); err != nil {
		t.Fatal(err)
	}
	equal("group message", body, v.SKMsg)
	if plain, err := receiver.Decrypt(nil, body); err != nil || string(plain) != "group hi" {
		t.Error(plain, err)
	}

	// The extensions of the record.
	for _, c := range []struct {
		lease lease
		want  []byte
	}{
		{lease{ceiling: 64}, v.Lease64},
		{lease{ceiling: 1000}, v.Lease1000},
		{lease{ceiling: 64, hasIncarnation: true}, append(append(bytes.Clone(v.Lease64), v.IncarnTag...), make([]byte, 16)...)},
	} {
		s := &Session{lease: c.lease}
		equal("lease", record(s), c.want)
		if got := must(ParseSession(c.want))(t); got.lease != c.lease {
			t.Errorf("lease %+v reads as %+v", c.lease, got.lease)
		}
	}
	skipped := skippedKey{counter: 5, seed: [32]byte(bytes.Repeat([]byte{0x33}, 32))}
	equal("skipped key", skipped.append(appendBytesTag(nil, 4, skipped.size(compact, sessionSeed)), compact, sessionSeed), v.SkipKey)
}

func TestIdentityTypes(t *testing.T) {
	if s := (Address{"100000000000001:5@lid", 0}).String(); s != "100000000000001:5@lid.0" {
		t.Error(s)
	}
	k := publicKey(t, must(hex.DecodeString("058f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f"))(t))
	if k.String() != "058f40c5adb68f25624ae5b214ea767a6ec94d829d3d7b5e1ad1ba6f3e2138285f" {
		t.Error(k)
	}
	if b := must(k.AppendBinary([]byte("x")))(t); len(b) != 34 || b[0] != 'x' {
		t.Errorf("%x", b)
	}
	if other := k; !k.Equal(other) {
		t.Error("a key does not equal itself")
	}
	other := k
	other[31] ^= 0x80
	if k.Equal(other) {
		t.Error("keys that differ in a bit are equal")
	}
}
