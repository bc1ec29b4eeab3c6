package signal

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/sigcore/sigcore/internal/testvec"
)

// dummyKey is a draw whose key takes no part in what is compared.
var dummyKey = bytes.Repeat([]byte{0x11}, 32)

func TestRecordedSessions(t *testing.T) {
	for _, name := range []string{
		"session_basic", "session_opk", "session_no_opk", "session_order", "session_replay", "session_sizes",
		"session_chains", "session_byte34", "session_simul", "session_rebuild", "session_long", "session_zero",
	} {
		t.Run(name, func(t *testing.T) {
			for n, tr := range testvec.Sessions(t, name) {
				for _, who := range []string{"alice", "bob"} {
					for _, reload := range []string{"", "compact", "portable"} {
						t.Run(fmt.Sprintf("%d-%s-%s%s", n, &tr, who, reload), func(t *testing.T) {
							if reload != "" && (testing.Short() || name == "session_sizes" || name == "session_long") {
								t.Skip("slow")
							}
							replaySide(t, &tr, who, reload)
						})
					}
				}
			}
		})
	}
}

// replaySide does what one side of a transcript did.
func replaySide(t *testing.T, tr *testvec.Transcript, who, reload string) {
	d := loadDevice(t, tr.Party(who))
	acts := tr.Acts(t, who)
	if len(acts) == 0 {
		t.Skip("nothing to do for a correct implementation")
	}
	for _, a := range acts {
		step := fmt.Sprintf("step %d, %s %s", a.Index, a.Op, a.Note)
		switch reload {
		case "compact":
			d.session = must(ParseSession(record(d.session)))(t)
		case "portable":
			d.session = must(ParseSession(d.session.AppendPortable(nil)))(t)
		}
		switch a.Op {
		case "process_bundle":
			b := loadBundle(t, &a.Bundle)
			if a.Want == testvec.Refuse {
				err := d.unchanged(t, step, func() error { return withDraws(t, func() error { return d.session.Initiate(d.local, b) }) })
				wantError(t, step, err, ErrBadSignature)
				continue
			}
			if a.BasePriv == nil {
				d.session = loadRecord(t, a.RecordAfter)
				continue
			}
			if err := withDraws(t, func() error { return d.session.Initiate(d.local, b) }, a.BasePriv, a.NewRatchetPriv); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		case "delete_session":
			d.session = new(Session)
		case "encrypt":
			for range a.Skipped {
				if _, _, err := d.session.Encrypt(nil, nil); err != nil {
					t.Fatalf("%s: %v", step, err)
				}
			}
			typ, body, err := d.session.Encrypt(nil, a.Plaintext)
			if err != nil {
				t.Fatalf("%s: %v", step, err)
			}
			if typ.String() != a.Type {
				t.Fatalf("%s: a %v, want a %s", step, typ, a.Type)
			}
			if err := testvec.SameMessage(a.Type, a.Body, body, a.OPKID); err != nil {
				t.Fatalf("%s: %v", step, err)
			}
		case "decrypt":
			draw := dummyKey
			if a.NewRatchetPriv != nil {
				draw = a.NewRatchetPriv
			}
			if a.Want == testvec.Refuse {
				err := d.unchanged(t, step, func() error {
					return withDraws(t, func() error { _, _, err := d.decrypt(messageType(a.Type), a.Body); return err })
				})
				wantVersionError(t, step, err, a.Body)
				continue
			}
			if reload == "" && len(a.Body) < 4096 {
				bad, err := testvec.Tampered(a.Type, a.Body)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range bad {
					err := d.unchanged(t, step, func() error {
						// Without a draw: none may be made for a forgery.
						return withDraws(t, func() error { _, _, err := d.decrypt(messageType(a.Type), b); return err })
					})
					wantError(t, step, err, ErrBadMAC)
				}
			}
			var plain []byte
			var rec Received
			err := maybeDraws(t, func() (err error) {
				plain, rec, err = d.decrypt(messageType(a.Type), a.Body)
				return err
			}, draw)
			if err != nil {
				t.Fatalf("%s: %v", step, err)
			}
			if !bytes.Equal(plain, a.Plaintext) {
				t.Fatalf("%s: plaintext %x, want %x", step, plain, a.Plaintext)
			}
			if rec.Identity != publicKey(t, tr.Other(who).IdentityPub) {
				t.Fatalf("%s: identity of somebody else", step)
			}
		}
	}
}

// wantVersionError checks the class of the error if the version byte demands
// one.
func wantVersionError(t *testing.T, what string, err error, body []byte) {
	t.Helper()
	if len(body) == 0 {
		return
	}
	switch v := body[0] >> 4; {
	case v < 3:
		wantError(t, what, err, ErrLegacyVersion)
	case v > 3:
		wantError(t, what, err, ErrUnknownVersion)
	}
}

func loadRecord(t *testing.T, r *testvec.Record) *Session {
	t.Helper()
	switch r.Format {
	case "signal-protobuf", "wacore-protobuf":
	default:
		t.Fatalf("record format %s", r.Format)
	}
	return must(ParseSession(must(hex.DecodeString(r.Data))(t)))(t)
}

func TestRecordedRecords(t *testing.T) {
	type message struct {
		Type            string
		Body, Plaintext testvec.Hex
		Counter         uint32
	}
	var file struct {
		Records []struct {
			Peer, Format string
			Record       string
			Party        testvec.Party
			Next         message     `json:"next_message"`
			Converted    testvec.Hex `json:"converted_protobuf"`
		}
		Resaved []struct {
			Record  testvec.Hex
			Party   testvec.Party
			Skipped []message `json:"skipped_messages"`
		}
	}
	testvec.Load(t, "session_records", &file)
	read := func(t *testing.T, d *device, m message) {
		t.Helper()
		if m.Type == "" {
			m.Type = "msg"
		}
		bad, err := testvec.Tampered(m.Type, m.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bad {
			_ = d.unchanged(t, "tampered", func() error { _, _, err := d.decrypt(messageType(m.Type), b); return err })
		}
		plain, _, err := d.decrypt(messageType(m.Type), m.Body)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(plain, m.Plaintext) {
			t.Fatalf("plaintext %x, want %x", plain, m.Plaintext)
		}
	}
	// each reads a message with a record, and with what becomes of the record
	// in both of our forms.
	each := func(t *testing.T, data []byte, p *testvec.Party, m message) {
		t.Helper()
		for _, form := range []string{"as it is", "compact", "portable"} {
			d := loadDevice(t, p)
			d.session = must(ParseSession(data))(t)
			switch form {
			case "compact":
				d.session = must(ParseSession(record(d.session)))(t)
			case "portable":
				d.session = must(ParseSession(d.session.AppendPortable(nil)))(t)
			}
			read(t, d, m)
		}
	}
	read1 := 0
	for n, r := range file.Records {
		t.Run(fmt.Sprintf("%d-%s", n, r.Peer), func(t *testing.T) {
			if r.Format == "wacore-protobuf" || r.Format == "signal-protobuf" {
				each(t, must(hex.DecodeString(r.Record))(t), &r.Party, r.Next)
				read1++
			}
			if r.Converted != nil {
				each(t, r.Converted, &r.Party, r.Next)
				read1++
			}
		})
	}
	if read1 < len(file.Records) {
		t.Errorf("read %d records of %d", read1, len(file.Records))
	}
	for n, r := range file.Resaved {
		t.Run(fmt.Sprintf("resaved-%d", n), func(t *testing.T) {
			for _, form := range []string{"as it is", "compact", "portable"} {
				d := loadDevice(t, &r.Party)
				d.session = must(ParseSession(r.Record))(t)
				for _, m := range r.Skipped {
					switch form {
					case "compact":
						d.session = must(ParseSession(record(d.session)))(t)
					case "portable":
						d.session = must(ParseSession(d.session.AppendPortable(nil)))(t)
					}
					read(t, d, m)
				}
			}
		})
	}
}

func TestRecordedWireVariants(t *testing.T) {
	var file struct {
		Cases []struct {
			Variant         string
			Bob             testvec.Party
			Type            string
			Body, Plaintext testvec.Hex
			Verdicts        map[string]string
		}
	}
	testvec.Load(t, "wire_variants", &file)
	for _, c := range file.Cases {
		t.Run(c.Variant, func(t *testing.T) {
			// Equal verdicts hold, the reference decides a split, and a counter
			// that is left out is 0 although the reference refuses it.
			ok := func(v string) bool { return len(v) >= 2 && v[:2] == "ok" }
			want := ok(c.Verdicts["wrb"]) || c.Variant == "counter omitted when 0"
			d := loadDevice(t, &c.Bob)
			if !want {
				err := d.unchanged(t, c.Variant, func() error { _, _, err := d.decrypt(messageType(c.Type), c.Body); return err })
				wantVersionError(t, c.Variant, err, c.Body)
				return
			}
			plain, _, err := d.decrypt(messageType(c.Type), c.Body)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(plain, c.Plaintext) {
				t.Fatalf("plaintext %x, want %x", plain, c.Plaintext)
			}
		})
	}
}
