package send

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

var (
	hello = unhex("0a0548656c6c6f") // conversation "Hello"
	// a context with a secret of 32 times 42 and the reporting version 2
	helloContext = append(append(unhex("1a20"), bytes.Repeat([]byte{0x42}, 32)...), 0x40, 2)
	// field 35 with that context
	contextField = append(unhex("9a0224"), helloContext...)
)

const worked = "9a02241a2042424242424242424242424242424242424242424242424242424242424242424002"

func TestPlaintexts(t *testing.T) {
	m, err := parse(hello, helloContext)
	if err != nil {
		t.Fatal(err)
	}
	const group = "120363000000000001@g.us"
	skdm := unhex("3308f8acd1910110001a202222222222222222222222222222222222222222222222222222222222222222222105736845d54e87de09d6bb114aa7042c50a4a015bd9901d1a0026f5956533a1519")
	for _, c := range []struct {
		name  string
		build func() ([]byte, error)
		want  string
	}{
		{"recipient", m.plaintext, "0a0548656c6c6f" + worked},
		{
			"own device", func() ([]byte, error) { return m.ownPlaintext("5511888776655@s.whatsapp.net") },
			"fa01270a1c3535313138383837373636353540732e77686174736170702e6e657412070a0548656c6c6f" + worked,
		},
		{
			"distribution", func() ([]byte, error) { return distributionPlaintext(group, skdm) },
			"12690a17" + hex.EncodeToString([]byte(group)) + "124e" + hex.EncodeToString(skdm),
		},
	} {
		queue(t, []byte{2})
		got, err := c.build()
		if want := append(unhex(c.want), 3, 3, 3); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v; want %x", c.name, got, err, want)
		}
		if cap(got) > len(got)+MaxPadding+32 {
			t.Errorf("%s: %d bytes allocated for %d", c.name, cap(got), len(got))
		}
	}
}

// TestContext: a context in the message moves to the end, its fields replaced
// by those that are attached.
func TestContext(t *testing.T) {
	other := unhex("9a02040a020801") // field 35: a device list
	secret := unhex("9a02051a03010203")
	text := unhex("32070a0548656c6c6f") // field 6
	for _, c := range []struct {
		name             string
		message, context []byte
		content, want    []byte
	}{
		{"none", hello, nil, hello, nil},
		{"attached", hello, helloContext, hello, helloContext},
		{"in front", append(bytes.Clone(contextField), hello...), nil, hello, helloContext},
		{"between", append(append(bytes.Clone(hello), contextField...), text...), nil, append(bytes.Clone(hello), text...), helloContext},
		{"in two pieces", append(append(append([]byte(nil), other...), hello...), secret...), nil, hello, unhex("0a0208011a03010203")},
		{"joined", append(append([]byte(nil), other...), hello...), helloContext, hello, append(unhex("0a020801"), helloContext...)},
		{"replaced", append(append(append([]byte(nil), other...), secret...), hello...), helloContext, hello, append(unhex("0a020801"), helloContext...)},
		{"alone", contextField, nil, nil, helloContext},
	} {
		input := bytes.Clone(c.message)
		m, err := parse(c.message, c.context)
		if err != nil || !bytes.Equal(m.content, c.content) || !bytes.Equal(m.context, c.want) {
			t.Errorf("%s: %x and %x, %v; want %x and %x", c.name, m.content, m.context, err, c.content, c.want)
		}
		if !bytes.Equal(input, c.message) {
			t.Errorf("%s: the message was changed", c.name)
		}
	}
	for name, c := range map[string][2][]byte{
		"message cut off":  {hello[:4], nil},
		"context cut off":  {hello, helloContext[:5]},
		"both, cut off":    {append(bytes.Clone(contextField), hello...), helloContext[:5]},
		"inner, cut off":   {append(unhex("9a02021a20"), hello...), helloContext},
		"field number 0":   {[]byte{0, 0}, nil},
		"length over 2^63": {unhex("0affffffffffffffffff01"), nil},
	} {
		if m, err := parse(c[0], c[1]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %+v, %v; want ErrMalformed", name, m, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(hello, helloContext)
	f.Add(append(bytes.Clone(contextField), hello...), helloContext)
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, message, context []byte) {
		m, err := parse(message, context)
		if err != nil {
			return
		}
		// What was put together is taken apart into the same pieces.
		again, err := parse(m.appendContext(bytes.Clone(m.content)), nil)
		if err != nil || !bytes.Equal(again.content, m.content) || !bytes.Equal(again.context, m.context) {
			t.Fatalf("%x and %x become %x and %x, %v", m.content, m.context, again.content, again.context, err)
		}
	})
}
