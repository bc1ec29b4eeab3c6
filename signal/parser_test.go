package signal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A wireField is a field of a message for the parser matrix: a varint, or a
// byte string.
type wireField struct {
	num   byte
	v     uint32
	bytes []byte
	key   bool // a tagged public key
	exact bool // of which not even a tail is ignored
	need  bool // a varint that has to be there
}

// A wireKind is one of the four messages: its fields in order, how many bytes
// follow them, and its parser.
type wireKind struct {
	name   string
	fields []wireField
	tail   int
	parse  func(b []byte) error
}

func (k *wireKind) encode(fields []wireField) []byte {
	b := []byte{versionByte}
	for _, f := range fields {
		if f.bytes != nil {
			b = appendBytesField(b, f.num, f.bytes)
		} else {
			b = appendUintField(b, f.num, f.v)
		}
	}
	return append(b, bytes.Repeat([]byte{7}, k.tail)...)
}

func wireKinds() []wireKind {
	key := func(num, fill byte) wireField {
		return wireField{num: num, bytes: append([]byte{5}, bytes.Repeat([]byte{fill}, 32)...), key: true}
	}
	signal := wireKind{
		name:   "SignalMessage",
		fields: []wireField{key(1, 1), {num: 2, v: 300}, {num: 3, v: 7}, {num: 4, bytes: make([]byte, 16)}},
		tail:   8,
		parse:  func(b []byte) error { _, err := ParseSignalMessage(b); return err },
	}
	distribution := wireKind{
		name:   "SenderKeyDistributionMessage",
		fields: []wireField{{num: 1, v: 9, need: true}, {num: 2, v: 300, need: true}, {num: 3, bytes: make([]byte, 32)}, key(4, 4)},
		parse:  func(b []byte) error { _, err := ParseSenderKeyDistributionMessage(b); return err },
	}
	distribution.fields[3].exact = true
	return []wireKind{
		signal,
		{
			name: "PreKeySignalMessage",
			fields: []wireField{
				{num: 1, v: 5}, key(2, 2), key(3, 3), {num: 4, bytes: signal.encode(signal.fields)}, {num: 5, v: 300}, {num: 6, v: 1, need: true},
			},
			parse: func(b []byte) error { _, err := ParsePreKeySignalMessage(b); return err },
		},
		{
			name:   "SenderKeyMessage",
			fields: []wireField{{num: 1, v: 9, need: true}, {num: 2, v: 300, need: true}, {num: 3, bytes: make([]byte, 16)}},
			tail:   64,
			parse:  func(b []byte) error { _, err := ParseSenderKeyMessage(b); return err },
		},
		distribution,
	}
}

// TestParserMatrix: every parser takes every length of nothing much, every cut
// and every size of key field, and answers with an error of the taxonomy or a
// valid message.
func TestParserMatrix(t *testing.T) {
	typed := func(t *testing.T, what string, err error) {
		t.Helper()
		for _, want := range []error{nil, ErrMalformed, ErrLegacyVersion, ErrUnknownVersion, ErrBadKeyType, ErrBadKeyLength} {
			if errors.Is(err, want) {
				return
			}
		}
		t.Errorf("%s: %v is of no known class", what, err)
	}
	for _, k := range wireKinds() {
		t.Run(k.name, func(t *testing.T) {
			valid := k.encode(k.fields)
			if err := k.parse(valid); err != nil {
				t.Fatalf("the valid message: %v", err)
			}
			for n := range 81 {
				for _, fill := range []byte{0, 0x33, 0xff} {
					err := k.parse(bytes.Repeat([]byte{fill}, n))
					if err == nil {
						t.Errorf("%d times %#x is accepted", n, fill)
					}
					typed(t, fmt.Sprintf("%d times %#x", n, fill), err)
				}
			}
			for n := range valid {
				err := k.parse(valid[:n])
				// What follows the fields is taken from the end: a cut moves
				// it into them, which a reader cannot always see.
				if k.tail == 0 && err == nil && n != len(valid) && !optionalTail(&k, valid[:n]) {
					t.Errorf("cut to %d of %d bytes is accepted", n, len(valid))
				}
				typed(t, "cut", err)
			}
			for v := range 16 {
				b := bytes.Clone(valid)
				b[0] = byte(v)<<4 | 3
				err := k.parse(b)
				switch {
				case v < 3:
					wantError(t, "version", err, ErrLegacyVersion)
				case v > 3:
					wantError(t, "version", err, ErrUnknownVersion)
				default:
					wantError(t, "version", err, nil)
				}
				b[0] = 0x30 | byte(v)
				if err := k.parse(b); err != nil {
					t.Errorf("low nibble %d: %v", v, err)
				}
			}
			for i, f := range k.fields {
				without := slices.Delete(slices.Clone(k.fields), i, i+1)
				err := k.parse(k.encode(without))
				if must := f.need || f.bytes != nil; must != (err != nil) {
					t.Errorf("without field %d: %v", f.num, err)
				}
				typed(t, "without a field", err)
				if f.bytes == nil {
					// Another wire type, and the last of several.
					wrong := slices.Clone(k.fields)
					wrong[i] = wireField{num: f.num, bytes: []byte{1}}
					wantError(t, fmt.Sprintf("field %d as bytes", f.num), k.parse(k.encode(wrong)), ErrMalformed)
					if err := k.parse(k.encode(append([]wireField{{num: f.num, v: 1}}, k.fields...))); err != nil {
						t.Errorf("field %d twice: %v", f.num, err)
					}
					continue
				}
				wrong := slices.Clone(k.fields)
				wrong[i] = wireField{num: f.num, v: 1}
				wantError(t, fmt.Sprintf("field %d as a varint", f.num), k.parse(k.encode(wrong)), ErrMalformed)
				if !f.key {
					wrong[i] = wireField{num: f.num, bytes: []byte{}}
					if err := k.parse(k.encode(wrong)); err == nil {
						t.Errorf("empty field %d is accepted", f.num)
					}
					continue
				}
				for _, n := range []int{0, 1, 31, 32, 33, 34, 40} {
					changed := slices.Clone(k.fields)
					changed[i].bytes = append([]byte{5}, bytes.Repeat([]byte{8}, 40)...)[:n]
					err := k.parse(k.encode(changed))
					if ok := n == 33 || n > 33 && !f.exact; ok != (err == nil) {
						t.Errorf("field %d of %d bytes: %v", f.num, n, err)
					} else if !ok && !errors.Is(err, ErrMalformed) { // which a message too short for its keys is
						wantError(t, "key of a wrong length", err, ErrBadKeyLength)
					}
				}
				for _, typ := range []byte{0, 4, 6, 255} {
					changed := slices.Clone(k.fields)
					changed[i].bytes = bytes.Clone(f.bytes)
					changed[i].bytes[0] = typ
					wantError(t, fmt.Sprintf("field %d of type %d", f.num, typ), k.parse(k.encode(changed)), ErrBadKeyType)
				}
			}
			// Any order, and unknown fields of every type.
			reversed := slices.Clone(k.fields)
			slices.Reverse(reversed)
			if err := k.parse(k.encode(reversed)); err != nil {
				t.Errorf("fields in reverse: %v", err)
			}
			body, tail := valid[:len(valid)-k.tail], valid[len(valid)-k.tail:]
			deep := func(n int) []byte {
				return append(bytes.Repeat([]byte{15<<3 | 3}, n), bytes.Repeat([]byte{15<<3 | 4}, n)...)
			}
			for name, c := range map[string]struct {
				extra []byte
				ok    bool
			}{
				"varint":                 {[]byte{15 << 3, 1}, true},
				"varint of ten bytes":    {append(append([]byte{15 << 3}, bytes.Repeat([]byte{0xff}, 9)...), 1), true},
				"varint of eleven bytes": {append(append([]byte{15 << 3}, bytes.Repeat([]byte{0xff}, 10)...), 1), false},
				"fixed64":                {append([]byte{15<<3 | 1}, make([]byte, 8)...), true},
				"bytes":                  {[]byte{15<<3 | 2, 2, 0, 0}, true},
				"fixed32":                {append([]byte{15<<3 | 5}, make([]byte, 4)...), true},
				"group":                  {[]byte{15<<3 | 3, 8, 1, 15<<3 | 4}, true},
				"nested groups":          {deep(maxGroupDepth), true},
				"too deep groups":        {deep(maxGroupDepth + 1), false},
				"a million groups":       {deep(1 << 20), false},
				"group of another end":   {[]byte{15<<3 | 3, 14<<3 | 4}, false},
				"group without an end":   {[]byte{15<<3 | 3, 8, 1}, false},
				"end without a group":    {[]byte{15<<3 | 4}, false},
				"wire type 6":            {[]byte{15<<3 | 6}, false},
				"field 0":                {[]byte{0, 1}, false},
				"field 2^29":             {[]byte{0x80, 0x80, 0x80, 0x80, 0x10, 1}, false},
				"bytes without an end":   {[]byte{15<<3 | 2, 0xff, 0xff, 0xff, 0xff, 7}, false},
			} {
				b := slices.Concat(body, c.extra, tail)
				if err := k.parse(b); (err == nil) != c.ok {
					t.Errorf("unknown field, %s: %v", name, err)
				}
			}
		})
	}
}

// optionalTail reports whether b is a message that lost whole optional fields.
func optionalTail(k *wireKind, b []byte) bool {
	for n := range k.fields {
		if k.fields[n].need || k.fields[n].bytes != nil {
			continue
		}
		if bytes.Equal(b, k.encode(k.fields[:n])) {
			return true
		}
	}
	return false
}

// TestWideVarints: counters keep their low 32 bits and the last of several
// counts.
func TestWideVarints(t *testing.T) {
	k := wireKinds()[0]
	b := k.encode(k.fields)
	b = slices.Concat(b[:len(b)-8], []byte{2 << 3, 0x85, 0x80, 0x80, 0x80, 0x70}, b[len(b)-8:])
	if m := must(ParseSignalMessage(b))(t); m.Counter != 5 {
		t.Errorf("counter %d, want 5", m.Counter)
	}
	b = slices.Concat(b[:len(b)-8], []byte{2 << 3, 0x86, 0x80, 0}, b[len(b)-8:])
	if m := must(ParseSignalMessage(b))(t); m.Counter != 6 {
		t.Errorf("counter %d, want 6", m.Counter)
	}
	b = k.encode(slices.Concat(k.fields[:1], k.fields[3:]))
	if m := must(ParseSignalMessage(b))(t); m.Counter != 0 || m.PreviousCounter != 0 {
		t.Errorf("counters %d and %d left out, want 0", m.Counter, m.PreviousCounter)
	}
}

func TestParsePublicKey(t *testing.T) {
	good := append([]byte{5}, bytes.Repeat([]byte{3}, 32)...)
	if k := must(ParsePublicKey(good))(t); k[0] != 3 {
		t.Errorf("%x", k[:])
	}
	for _, n := range []int{0, 1, 31, 32, 34, 66} {
		b := append(bytes.Clone(good), make([]byte, 40)...)[:n]
		_, err := ParsePublicKey(b)
		wantError(t, fmt.Sprintf("%d bytes", n), err, ErrBadKeyLength)
	}
	for _, typ := range []byte{0, 4, 6, 255} {
		good[0] = typ
		_, err := ParsePublicKey(good)
		wantError(t, fmt.Sprintf("type %d", typ), err, ErrBadKeyType)
	}
	for _, n := range []int{0, 31, 33} {
		_, err := NewPrivateKey(make([]byte, n))
		wantError(t, fmt.Sprintf("private key of %d bytes", n), err, ErrBadKeyLength)
	}
	if k := must(NewPrivateKey(bytes.Repeat([]byte{0xff}, 32)))(t); k[0] != 0xf8 || k[31] != 0x7f {
		t.Error("not clamped")
	}
}

// TestNothingSecretIsPrinted prints every type that holds a secret in every
// way and looks for it.
func TestNothingSecretIsPrinted(t *testing.T) {
	alice, bob := conversation(t)
	sender, _ := group(t)
	distribution := must(sender.Distribution())(t)
	prekey, signed := must(GeneratePreKey(1))(t), bob.signed[1]
	for name, v := range map[string]any{
		"Session": alice.session, "Session value": *alice.session, "SenderKey": sender, "SenderKey value": *sender,
		"IdentityKeyPair": alice.local.Identity, "IdentityKeyPair value": *alice.local.Identity, "Local": alice.local,
		"PrivateKey": prekey.Private, "PrivateKey pointer": &prekey.Private, "PreKey": prekey, "PreKey value": *prekey,
		"SignedPreKey": signed, "SignedPreKey value": *signed, "distribution": &distribution, "distribution value": distribution,
		"Responder": &Responder{Local: bob.local, SignedPreKey: signed, PreKey: prekey},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			s := fmt.Sprintf(verb, v)
			if !strings.Contains(s, redacted) && !strings.Contains(name, "Responder") {
				t.Errorf("%s prints as %s", name, s)
			}
			for what, secret := range map[string][]byte{
				"root key": alice.session.current.root[:], "ratchet key": alice.session.current.sender.private[:],
				"identity": alice.local.Identity.PrivateKey().Bytes(), "prekey": prekey.Private[:], "signed prekey": signed.Private[:],
				"group chain key": distribution.ChainKey[:],
			} {
				for _, form := range []string{fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret), fmt.Sprint(secret[:8])[1:20], string(secret)} {
					if strings.Contains(s, form) {
						t.Errorf("%s with %s prints the %s", name, verb, what)
					}
				}
			}
		}
	}
}
