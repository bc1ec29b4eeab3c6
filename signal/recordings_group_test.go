package signal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/kdf"
	"github.com/sigcore/sigcore/internal/testvec"
)

type groupTranscript struct {
	Name  string
	Steps []groupStep
}

type groupStep struct {
	Op        string // create, process, encrypt or decrypt
	Who, From string
	Msg       int
	SKDM      testvec.Hex
	SKDMStep  int `json:"skdm_step"`
	Parsed    struct {
		KeyID     uint32      `json:"key_id"`
		Iteration uint32      `json:"iteration"`
		ChainKey  testvec.Hex `json:"chain_key"`
		Public    testvec.Hex `json:"signing_pub"`
	}
	SigningPriv     testvec.Hex `json:"signing_priv"`
	Plaintext, Body testvec.Hex
	Info            struct{ Iteration uint32 }
	SigRandom       string            `json:"sig_random"` // of 64 bytes, or why it is not known
	Note            string            `json:"note"`
	Results         map[string]string `json:"results"`
	RecordsAfter    map[string]struct {
		Format, Data string
	} `json:"receiver_records_after"`
}

func groupTranscripts(t *testing.T) []groupTranscript {
	t.Helper()
	var file struct{ Transcripts []groupTranscript }
	testvec.Load(t, "sender_keys", &file)
	if len(file.Transcripts) == 0 {
		t.Fatal("no transcripts")
	}
	return file.Transcripts
}

// groupMessages returns the bodies by message number.
func groupMessages(tr *groupTranscript) map[int]testvec.Hex {
	m := make(map[int]testvec.Hex)
	for i := range tr.Steps {
		if s := &tr.Steps[i]; s.Op == "encrypt" {
			m[s.Msg] = s.Body
		}
	}
	return m
}

func TestRecordedGroupReceivers(t *testing.T) {
	for _, tr := range groupTranscripts(t) {
		for _, reload := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%v", tr.Name, reload), func(t *testing.T) {
				if reload && (testing.Short() || strings.HasPrefix(tr.Name, "jump")) {
					t.Skip("slow")
				}
				replayReceivers(t, &tr, reload)
			})
		}
	}
}

// replayReceivers lets two receivers follow a transcript: main is there from
// the start, late gets only the distribution message of a late joiner.
func replayReceivers(t *testing.T, tr *groupTranscript, reload bool) {
	receivers := map[string]map[string]*SenderKey{"main": {}, "late": {}}
	late := map[string]SenderKeyDistributionMessage{}
	bodies := groupMessages(tr)
	refuse := func(what string, k *SenderKey, body []byte) error {
		t.Helper()
		before := groupRecord(k)
		_, err := k.Decrypt(nil, body)
		if err == nil {
			t.Fatalf("%s: accepted", what)
		}
		if !bytes.Equal(groupRecord(k), before) {
			t.Fatalf("%s: the record changed, after %v", what, err)
		}
		return err
	}
	for i := range tr.Steps {
		s := &tr.Steps[i]
		step := fmt.Sprintf("step %d, %s %s", i, s.Op, s.Note)
		switch s.Op {
		case "process":
			skdm := tr.Steps[s.SKDMStep].SKDM
			who := "main"
			if strings.Contains(s.Note, "only the receiver") {
				who = "late"
				late[s.From] = must(ParseSenderKeyDistributionMessage(skdm))(t)
			}
			if receivers[who][s.From] == nil {
				receivers[who][s.From] = new(SenderKey)
			}
			if _, err := receivers[who][s.From].Process(skdm); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		case "decrypt":
			body, original := s.Body, s.Body == nil
			if original {
				body = bodies[s.Msg]
			}
			want := map[string]bool{"main": s.Results["model"] == "ok"}
			if d, ok := late[s.From]; ok && original {
				m := must(ParseSenderKeyMessage(body))(t)
				want["late"] = m.Iteration >= d.Iteration
			}
			for who, want := range want {
				k := receivers[who][s.From]
				if k == nil {
					k = new(SenderKey)
				}
				if reload {
					k = must(ParseSenderKey(groupRecord(k)))(t)
					receivers[who][s.From] = k
				}
				if !want {
					err := refuse(step, k, body)
					if len(body) >= 65 {
						wantVersionError(t, step, err, body)
					}
					continue
				}
				for _, at := range []int{len(body) - 40, len(body) - 65} {
					bad := bytes.Clone(body)
					bad[at] ^= 1
					wantError(t, step, refuse(step, k, bad), ErrBadSignature)
				}
				plain, err := k.Decrypt(nil, body)
				if err != nil {
					t.Fatalf("%s: %v", step, err)
				}
				if !bytes.Equal(plain, s.Plaintext) {
					t.Fatalf("%s: plaintext %x, want %x", step, plain, s.Plaintext)
				}
				wantError(t, step, refuse(step, k, body), ErrDuplicate)
			}
		}
	}
}

func TestRecordedGroupSenders(t *testing.T) {
	same := 0
	for _, tr := range groupTranscripts(t) {
		t.Run(tr.Name, func(t *testing.T) {
			senders := map[string]*SenderKey{}
			for i := range tr.Steps {
				s := &tr.Steps[i]
				k := senders[s.Who]
				switch s.Op {
				case "create":
					if k == nil || k.states[0].id != s.Parsed.KeyID {
						st := &senderKeyState{
							id:      s.Parsed.KeyID,
							chain:   chainKey{key: [32]byte(s.Parsed.ChainKey), index: s.Parsed.Iteration},
							public:  publicKey(t, s.Parsed.Public),
							private: privateKey(t, s.SigningPriv),
							canSign: true,
						}
						k = must(ParseSenderKey(groupRecord(&SenderKey{states: []*senderKeyState{st}})))(t)
						senders[s.Who] = k
					}
					// Some senders leave iterations out.
					skipTo(t, k, s.Parsed.Iteration)
					if got := must(k.AppendDistribution(nil))(t); !bytes.Equal(got, s.SKDM) {
						t.Fatalf("step %d: distribution message\n%x, want\n%x", i, got, s.SKDM)
					}
				case "encrypt":
					skipTo(t, k, s.Info.Iteration)
					z, err := hex.DecodeString(s.SigRandom)
					known := err == nil && len(z) == 64
					if !known {
						z = make([]byte, 64)
					}
					var body []byte
					err = withDraws(t, func() (err error) {
						body, err = k.Encrypt(nil, s.Plaintext)
						return err
					}, z)
					if err != nil {
						t.Fatalf("step %d: %v", i, err)
					}
					want := s.Body
					if !known {
						body, want = body[:len(body)-SignatureSize], want[:len(want)-SignatureSize]
					} else {
						same++
					}
					if !bytes.Equal(body, want) {
						t.Fatalf("step %d: message\n%x, want\n%x", i, body, want)
					}
				}
			}
		})
	}
	if same < 50 {
		t.Errorf("%d messages compared with their signatures, that is too few", same)
	}
}

func skipTo(t *testing.T, k *SenderKey, iteration uint32) {
	t.Helper()
	for k.Iteration() < iteration {
		if _, err := k.Encrypt(nil, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRecordedGroupRecords reads the records that a peer stored, writes them
// as the peer did, and reads the next message with them.
func TestRecordedGroupRecords(t *testing.T) {
	loaded := 0
	for _, tr := range groupTranscripts(t) {
		bodies := groupMessages(&tr)
		last := map[string][]byte{}
		for i := range tr.Steps {
			s := &tr.Steps[i]
			switch s.Op {
			case "process":
				delete(last, s.From)
			case "decrypt":
				if rec := last[s.From]; rec != nil && s.Body == nil && s.Results["model"] == "ok" && s.Results["wrb"] == "ok" {
					k, err := ParseSenderKey(rec)
					if err != nil {
						t.Fatalf("%s step %d: %v", tr.Name, i, err)
					}
					if got := k.AppendPortable(nil); !bytes.Equal(got, rec) {
						t.Fatalf("%s step %d: record\n%x, want\n%x", tr.Name, i, got, rec)
					}
					plain, err := k.Decrypt(nil, bodies[s.Msg])
					if err != nil || !bytes.Equal(plain, s.Plaintext) {
						t.Fatalf("%s step %d: %x, %v", tr.Name, i, plain, err)
					}
					loaded++
				}
				if r, ok := s.RecordsAfter["wrb"]; ok && r.Format == "wacore-protobuf" {
					last[s.From] = must(hex.DecodeString(r.Data))(t)
				}
			}
		}
	}
	if loaded == 0 {
		t.Error("no record loaded")
	}
}

func TestRecordedIntermediates(t *testing.T) {
	type keys struct {
		ChainKey testvec.Hex `json:"chain_key"`
		Index    uint32
		Seed     testvec.Hex `json:"message_key_seed"`
		Cipher   testvec.Hex `json:"cipher_key"`
		MAC      testvec.Hex `json:"mac_key"`
		IV       testvec.Hex
	}
	type message struct {
		Type            string
		Body, Plaintext testvec.Hex
		Encrypt         struct {
			keys
			Ciphertext testvec.Hex
			Next       testvec.Hex `json:"next_chain_key"`
		}
	}
	var file struct {
		Sessions []struct {
			Alice, Bob  testvec.Party
			Bundle      testvec.Bundle
			SigRandom   testvec.Hex `json:"spk_signature_random"`
			BasePriv    testvec.Hex `json:"base_priv"`
			BasePub     testvec.Hex `json:"base_pub"`
			AliceRatch  testvec.Hex `json:"alice_ratchet_priv"`
			BobRatch    testvec.Hex `json:"bob_ratchet_priv"`
			AliceRatch2 testvec.Hex `json:"alice_ratchet2_priv"`
			X3DH        struct {
				DHs                          []testvec.Hex
				Secret, Root0, Chain0, Root1 testvec.Hex
				RatchetDH                    testvec.Hex `json:"ratchet_dh"`
				SendChain                    testvec.Hex `json:"send_chain"`
			} `json:"x3dh_alice"`
			Message1, Message2 message
		}
		HKDF []struct {
			IKM, Salt testvec.Hex
			Info      string
			Length    int
			OKM       testvec.Hex
		}
		Chain       []keys
		SenderChain []struct {
			Iteration uint32
			ChainKey  testvec.Hex `json:"chain_key"`
			Seed, IV  testvec.Hex
			Cipher    testvec.Hex `json:"cipher_key"`
		} `json:"sender_chain"`
	}
	testvec.Load(t, "kdf_intermediates", &file)
	equal := func(what string, got, want []byte) {
		t.Helper()
		if !bytes.Equal(got, want) {
			t.Fatalf("%s: %x, want %x", what, got, want)
		}
	}
	for i, c := range file.HKDF {
		okm := make([]byte, c.Length)
		kdf.HKDF(okm, c.IKM, c.Salt, []byte(c.Info))
		equal(fmt.Sprintf("HKDF %d", i), okm, c.OKM)
	}
	pairwise := func(what string, k keys) (next chainKey) {
		t.Helper()
		next = chainKey{key: [32]byte(k.ChainKey), index: k.Index}
		var seed [32]byte
		if err := next.step(&seed); err != nil {
			t.Fatal(err)
		}
		equal(what+" seed", seed[:], k.Seed)
		var m messageKeys
		m.derive(&seed)
		equal(what+" cipher key", m.cipher[:], k.Cipher)
		equal(what+" MAC key", m.mac[:], k.MAC)
		equal(what+" IV", m.iv[:], k.IV)
		return next
	}
	for i, c := range file.Chain {
		next := pairwise(fmt.Sprintf("chain %d", c.Index), c)
		if i+1 < len(file.Chain) {
			equal("next chain key", next.key[:], file.Chain[i+1].ChainKey)
		}
	}
	for _, c := range file.SenderChain {
		k := chainKey{key: [32]byte(c.ChainKey), index: c.Iteration}
		var seed [32]byte
		if err := k.step(&seed); err != nil {
			t.Fatal(err)
		}
		equal("group seed", seed[:], c.Seed)
		var g groupKeys
		g.derive(&seed)
		equal("group IV", g.iv[:], c.IV)
		equal("group cipher key", g.cipher[:], c.Cipher)
	}
	for n, s := range file.Sessions {
		what := fmt.Sprintf("session %d", n)
		alice, bob := loadDevice(t, &s.Alice), loadDevice(t, &s.Bob)
		b := loadBundle(t, &s.Bundle)
		tagged := b.SignedPreKey.Tagged()
		sig := bob.local.Identity.PrivateKey().SignWithRandom((*[64]byte)(s.SigRandom), tagged[:])
		equal(what+" bundle signature", sig[:], s.Bundle.SPKSig)

		base := privateKey(t, s.BasePriv)
		public := base.public()
		equal(what+" base key", public.appendTagged(nil), s.BasePub)
		var agreed [4][32]byte
		alice.local.Identity.PrivateKey().Agree(&agreed[0], (*[32]byte)(&b.SignedPreKey))
		base.agree(&agreed[1], &b.Identity)
		base.agree(&agreed[2], &b.SignedPreKey)
		n := 3
		if b.HasPreKey {
			base.agree(&agreed[n], &b.PreKey)
			n++
		}
		secret := newX3DHSecret(agreed[:n])
		equal(what+" X3DH secret", secret.b[:secret.n], s.X3DH.Secret)
		var root [32]byte
		var chain chainKey
		secret.derive(&root, &chain)
		equal(what+" root key", root[:], s.X3DH.Root0)
		equal(what+" chain key", chain.key[:], s.X3DH.Chain0)
		ratchet := privateKey(t, s.AliceRatch)
		ratchetRoot(&root, &chain, &root, &ratchet, &b.SignedPreKey)
		equal(what+" second root key", root[:], s.X3DH.Root1)
		equal(what+" sending chain", chain.key[:], s.X3DH.SendChain)

		if err := withDraws(t, func() error { return alice.session.Initiate(alice.local, b) }, s.BasePriv, s.AliceRatch); err != nil {
			t.Fatal(err)
		}
		for i, m := range []message{s.Message1, s.Message2} {
			from, to, draw := alice, bob, s.BobRatch
			if i == 1 {
				from, to, draw = bob, alice, s.AliceRatch2
			}
			what := fmt.Sprintf("%s message %d", what, i+1)
			next := pairwise(what, m.Encrypt.keys)
			equal(what+" next chain key", next.key[:], m.Encrypt.Next)
			typ, body, err := from.session.Encrypt(nil, m.Plaintext)
			if err != nil || typ.String() != m.Type {
				t.Fatalf("%s: %v, %v", what, typ, err)
			}
			equal(what, body, m.Body)
			err = withDraws(t, func() error {
				plain, _, err := to.decrypt(typ, m.Body)
				equal(what+" plaintext", plain, m.Plaintext)
				return err
			}, draw)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
