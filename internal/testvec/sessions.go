package testvec

import (
	"fmt"
	"testing"
)

// A Transcript is one recorded conversation between two peers.
type Transcript struct {
	Name      string
	AlicePeer string `json:"alice_peer"`
	BobPeer   string `json:"bob_peer"`
	Alice     Party
	Bob       Party
	Steps     []Step
	Model     map[string]struct {
		DivergesAt *int `json:"diverges_at"`
	}
}

// Address names one device.
type Address struct {
	Name   string
	Device uint32
}

// PreKey is a one-time prekey or, with Sig, a signed prekey.
type PreKey struct {
	ID             uint32
	Priv, Pub, Sig Hex
}

// Party holds the long-term keys of one side. Public keys have 33 bytes.
type Party struct {
	Peer           string
	Address        Address
	RegistrationID uint32   `json:"registration_id"`
	IdentityPriv   Hex      `json:"identity_priv"`
	IdentityPub    Hex      `json:"identity_pub"`
	SignedPreKey   *PreKey  `json:"signed_prekey"`
	OneTimePreKeys []PreKey `json:"one_time_prekeys"`
}

// Bundle is what a session is started from. OPKID is nil if there is no
// one-time prekey.
type Bundle struct {
	RegID    uint32 `json:"reg_id"`
	Identity Hex
	SPKID    uint32 `json:"spk_id"`
	SPK      Hex
	SPKSig   Hex     `json:"spk_sig"`
	OPKID    *uint32 `json:"opk_id"`
	OPK      Hex
}

// Record is a stored record in the form that Format names: JSON text, or
// protobuf in hexadecimal.
type Record struct{ Format, Data string }

// Step is one recorded operation. Acts resolves which of them hold for a
// correct implementation.
type Step struct {
	Op             string // process_bundle, encrypt, decrypt or delete_session
	Who            string // alice or bob
	Bundle         Bundle
	Result         string
	BasePriv       Hex `json:"base_priv"`
	NewRatchetPriv Hex `json:"new_ratchet_priv"`
	Msg            int
	Type           string // pkmsg or msg
	Plaintext      Hex
	Body           Hex
	Expected       string
	Model          string
	Note           string
	RecordAfter    *Record `json:"record_after"`
}

// Verdict is what a correct implementation does with an Act.
type Verdict int

// The verdicts.
const (
	Accept Verdict = iota
	Refuse
)

// Act is one step of one side, ready to be replayed.
type Act struct {
	*Step
	Index int     // of the step in the transcript
	Want  Verdict // Refuse: an error, and no state may have changed

	// Skipped is how many messages to send, and drop, before an encrypt step:
	// the peer sent them and the recording does not have them.
	Skipped int
	// OPKID is, for an encrypt step, the one-time prekey of the bundle that
	// started the session, for SameMessage.
	OPKID *uint32
}

// Party returns the keys of the side who.
func (t *Transcript) Party(who string) *Party {
	if who == "alice" {
		return &t.Alice
	}
	return &t.Bob
}

// Other returns the keys of the side that is not who.
func (t *Transcript) Other(who string) *Party {
	if who == "alice" {
		return &t.Bob
	}
	return &t.Alice
}

func (t *Transcript) String() string {
	return fmt.Sprintf("%s-%s-%s", t.Name, t.AlicePeer, t.BobPeer)
}

// Acts returns what the side who does. It ends where the recorded peer left
// the protocol, leaves out steps on which correct implementations may differ,
// and fills in Body and Plaintext of decrypt steps from the message they read.
//
// A process_bundle act without BasePriv comes from a peer whose draws are not
// known: import RecordAfter instead.
func (t *Transcript) Acts(tb testing.TB, who string) []Act {
	tb.Helper()
	divergesAt := func(side string) int {
		if d := t.Model[side].DivergesAt; d != nil {
			return *d
		}
		return len(t.Steps)
	}
	own, other := divergesAt(who), divergesAt("alice")
	if who == "alice" {
		other = divergesAt("bob")
	}
	sent := make(map[int]int) // message number to step
	for i := range t.Steps {
		if t.Steps[i].Op == "encrypt" {
			sent[t.Steps[i].Msg] = i
		}
	}
	next := make(map[string]uint64) // ratchet key to the counter that follows
	var opk *uint32
	var acts []Act
	for i := range t.Steps {
		s := t.Steps[i]
		if s.Who != who {
			continue
		}
		// At the step of divergence itself the peer's input is still good.
		if i > own || i == own && s.Op != "decrypt" {
			break
		}
		a := Act{Step: &s, Index: i}
		switch s.Op {
		case "process_bundle":
			if s.Result != "ok" || len(s.Note) >= 23 && s.Note[:23] == "signed prekey signature" {
				a.Want = Refuse // one peer does not check this signature
			} else {
				opk = s.Bundle.OPKID
			}
		case "encrypt":
			a.OPKID = opk
			m, err := ParseMessage(s.Type, s.Body)
			if err != nil {
				tb.Fatalf("testvec: %s step %d: %v", t, i, err)
			}
			key := string(m.Ratchet)
			a.Skipped = int(m.Counter - next[key])
			next[key] = m.Counter + 1
		case "decrypt":
			m := &t.Steps[sent[s.Msg]]
			want := s.Expected
			// The sender may have been off the rails already.
			if s.Model != "" && s.Model != want && (want == "any" || sent[s.Msg] >= other) {
				want = s.Model
			}
			switch want {
			case "any":
				continue
			case "error":
				a.Want = Refuse
			}
			if s.Body == nil {
				s.Body, s.Plaintext = m.Body, m.Plaintext
			}
		case "delete_session":
		default:
			tb.Fatalf("testvec: %s step %d: unknown operation %q", t, i, s.Op)
		}
		acts = append(acts, a)
	}
	return acts
}

// Sessions loads the transcripts of a file such as "session_basic".
func Sessions(tb testing.TB, name string) []Transcript {
	tb.Helper()
	var file struct{ Transcripts []Transcript }
	Load(tb, name, &file)
	if len(file.Transcripts) == 0 {
		tb.Fatalf("testvec: %s has no transcripts", name)
	}
	return file.Transcripts
}
