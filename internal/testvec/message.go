package testvec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Message is the content of a recorded message, with its envelope if it is a
// pkmsg. Counters are as wide as the wire allows.
type Message struct {
	Version           byte
	Ratchet           []byte
	Counter, Previous uint64
	Ciphertext, MAC   []byte

	Envelope *Envelope
	inner    []byte
}

// Envelope is what a pkmsg carries around its message. OPKID is nil if absent.
type Envelope struct {
	Version        byte
	RegID, SPKID   uint64
	OPKID          *uint64
	Base, Identity []byte
}

var errRecording = errors.New("recorded message is malformed")

// fields splits a protobuf message of varints and byte strings.
func fields(b []byte) (nums map[uint64]uint64, strs map[uint64][]byte, err error) {
	nums, strs = make(map[uint64]uint64), make(map[uint64][]byte)
	varint := func() (v uint64) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err, n = errRecording, len(b)
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 && err == nil {
		tag := varint()
		v := varint()
		switch tag & 7 {
		case 0:
			nums[tag>>3] = v
		case 2:
			if err != nil || v > uint64(len(b)) {
				return nil, nil, errRecording
			}
			strs[tag>>3], b = b[:v:v], b[v:]
		default:
			return nil, nil, errRecording
		}
	}
	return nums, strs, err
}

// ParseMessage reads a well-formed recorded message of the type typ.
func ParseMessage(typ string, body []byte) (*Message, error) {
	m := &Message{inner: body}
	if typ == "pkmsg" {
		if len(body) == 0 {
			return nil, errRecording
		}
		nums, strs, err := fields(body[1:])
		if err != nil {
			return nil, err
		}
		e := &Envelope{Version: body[0], RegID: nums[5], SPKID: nums[6], Base: strs[2], Identity: strs[3]}
		if id, ok := nums[1]; ok {
			e.OPKID = &id
		}
		m.Envelope, m.inner = e, strs[4]
	}
	if len(m.inner) < 9 {
		return nil, errRecording
	}
	end := len(m.inner) - 8
	nums, strs, err := fields(m.inner[1:end])
	if err != nil {
		return nil, err
	}
	m.Version, m.MAC = m.inner[0], m.inner[end:]
	m.Ratchet, m.Counter, m.Previous, m.Ciphertext = strs[1], nums[2], nums[3], strs[4]
	return m, nil
}

// Tampered returns copies of a message that must be refused: one with a byte
// of its MAC flipped, one with a byte of its ciphertext flipped.
func Tampered(typ string, body []byte) ([][]byte, error) {
	m, err := ParseMessage(typ, body)
	if err != nil {
		return nil, err
	}
	at := bytes.LastIndex(body, m.inner)
	mac, text := bytes.Clone(body), bytes.Clone(body)
	mac[at+len(m.inner)-1] ^= 1
	text[at+bytes.LastIndex(m.inner, m.Ciphertext)] ^= 1
	return [][]byte{mac, text}, nil
}

// SameMessage returns nil if got is what a correct implementation sends where
// a peer recorded want. The header quirks of peers are not to be imitated: a
// previous counter of 2^32-1 for 0, the version byte 0x34 for 0x33, a one-time
// prekey id 0 left out. opkID is the one of the session's bundle.
func SameMessage(typ string, want, got []byte, opkID *uint32) error {
	if bytes.Equal(want, got) {
		return nil
	}
	w, err := ParseMessage(typ, want)
	if err != nil {
		return err
	}
	g, err := ParseMessage(typ, got)
	if err != nil {
		return fmt.Errorf("unreadable: %w", err)
	}
	quirk := false
	if typ == "pkmsg" {
		if w.Envelope.OPKID == nil && opkID != nil && *opkID == 0 {
			w.Envelope.OPKID, quirk = new(uint64), true
		}
		quirk = quirk || w.Envelope.Version == 0x34
		if err := sameEnvelope(w.Envelope, g.Envelope); err != nil {
			return err
		}
	}
	freeMAC := w.Version == 0x34 || w.Previous == 1<<32-1
	if w.Version == 0x34 {
		w.Version = 0x33
	}
	if w.Previous == 1<<32-1 {
		w.Previous = 0
	}
	switch {
	case g.Version != w.Version:
		return fmt.Errorf("version byte %#x, want %#x", g.Version, w.Version)
	case !bytes.Equal(g.Ratchet, w.Ratchet):
		return errors.New("ratchet key differs")
	case g.Counter != w.Counter || g.Previous != w.Previous:
		return fmt.Errorf("counter %d and previous counter %d, want %d and %d", g.Counter, g.Previous, w.Counter, w.Previous)
	case !bytes.Equal(g.Ciphertext, w.Ciphertext):
		return errors.New("ciphertext differs")
	case !freeMAC && !bytes.Equal(g.MAC, w.MAC):
		return errors.New("MAC differs")
	case !bytes.Equal(g.inner[:len(g.inner)-8], canonical(g)):
		return errors.New("encoding is not canonical")
	case !freeMAC && !quirk:
		return errors.New("envelope encoding differs")
	}
	return nil
}

func sameEnvelope(w, g *Envelope) error {
	id := func(p *uint64) string {
		if p == nil {
			return "none"
		}
		return fmt.Sprint(*p)
	}
	switch {
	case g.Version != 0x33:
		return fmt.Errorf("envelope version byte %#x", g.Version)
	case id(g.OPKID) != id(w.OPKID):
		return fmt.Errorf("one-time prekey %s, want %s", id(g.OPKID), id(w.OPKID))
	case g.RegID != w.RegID || g.SPKID != w.SPKID:
		return fmt.Errorf("registration %d and signed prekey %d, want %d and %d", g.RegID, g.SPKID, w.RegID, w.SPKID)
	case !bytes.Equal(g.Base, w.Base):
		return errors.New("base key differs")
	case !bytes.Equal(g.Identity, w.Identity):
		return errors.New("identity differs")
	}
	return nil
}

// canonical returns the message without its MAC in ascending fields and
// minimal varints, both counters always present.
func canonical(m *Message) []byte {
	b := []byte{m.Version, 1<<3 | 2}
	b = binary.AppendUvarint(b, uint64(len(m.Ratchet)))
	b = append(b, m.Ratchet...)
	b = binary.AppendUvarint(append(b, 2<<3), m.Counter)
	b = binary.AppendUvarint(append(b, 3<<3), m.Previous)
	b = binary.AppendUvarint(append(b, 4<<3|2), uint64(len(m.Ciphertext)))
	return append(b, m.Ciphertext...)
}
