package send

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"slices"
	"testing"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/internal/testvec"
	"github.com/sigcore/sigcore/signal"
)

// TestRecordedIdentities: the signatures of the recordings hold, and no other.
func TestRecordedIdentities(t *testing.T) {
	var file struct {
		Cases []struct {
			Hosted           bool
			Account          testvec.Hex `json:"account_pub"`
			Device           testvec.Hex `json:"device_identity_pub"`
			Details          testvec.Hex
			AccountSignature testvec.Hex                     `json:"account_signature"`
			DeviceSignature  testvec.Hex                     `json:"device_signature"`
			Hosted0606       struct{ Signature testvec.Hex } `json:"device_signature_hosted_prefix_0606"`
			Encoded          testvec.Hex                     `json:"signed_device_identity"`
		}
	}
	testvec.Load(t, "adv", &file)
	if len(file.Cases) != 4 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for i, v := range file.Cases {
		account, device := signal.PublicKey(v.Account), signal.PublicKey(v.Device)
		parsed, err := ParseDeviceIdentity(v.Encoded)
		if err != nil || !bytes.Equal(parsed.Details, v.Details) || parsed.AccountKey == nil || *parsed.AccountKey != account ||
			!bytes.Equal(parsed.AccountSignature, v.AccountSignature) {
			t.Fatalf("case %d: %+v, %v", i, parsed, err)
		}
		d := DeviceIdentity{Details: v.Details, AccountSignature: v.AccountSignature, DeviceSignature: v.DeviceSignature}
		if known, err := d.Verify(device, nil); known || err != nil {
			t.Errorf("case %d: without a key: %v, %v", i, known, err)
		}
		check := func(what string, d DeviceIdentity, device signal.PublicKey, valid bool) {
			t.Helper()
			known, err := d.Verify(device, &account)
			if !known || (err == nil) != valid || err != nil && !errors.Is(err, ErrDeviceIdentity) {
				t.Errorf("case %d: %s: %v, %v", i, what, known, err)
			}
		}
		check("as recorded", d, device, true)
		check("another device", d, account, false)
		with := func(change func(*DeviceIdentity)) DeviceIdentity {
			c := d
			change(&c)
			return c
		}
		check("the prefix of hosted devices", with(func(c *DeviceIdentity) { c.DeviceSignature = v.Hosted0606.Signature }), device, v.Hosted)
		check("the key in the form counts", with(func(c *DeviceIdentity) { c.AccountKey = &device }), device, false)
		check("other details", with(func(c *DeviceIdentity) { c.Details = append(bytes.Clone(c.Details), 0) }), device, false)
		check("no signature of the account", with(func(c *DeviceIdentity) { c.AccountSignature = nil }), device, false)
		check("no signature of the device", with(func(c *DeviceIdentity) { c.DeviceSignature = nil }), device, false)
		check("signatures swapped", with(func(c *DeviceIdentity) {
			c.AccountSignature, c.DeviceSignature = c.DeviceSignature, c.AccountSignature
		}), device, false)
	}
	for _, bad := range []string{"0a", "1203010203", "0b"} {
		if _, err := ParseDeviceIdentity(unhex(bad)); !errors.Is(err, ErrDeviceIdentity) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if d, err := ParseDeviceIdentity(unhex("1200" + "2a00" + "0801")); err != nil || d.AccountKey != nil {
		t.Errorf("an empty key: %+v, %v", d, err)
	}
}

// TestUploadAndParse: what is uploaded reads back as the bundles that it is for.
func TestUploadAndParse(t *testing.T) {
	b := freshBundle(t)
	b.RegistrationID = 0x01020304
	keys := []signal.PublicPreKey{{ID: 0x0a0b0c, Public: b.PreKey}, {ID: 7, Public: b.Identity}}
	n := PreKeyUpload("42", b, keys)
	frame, err := binary.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	if n, err = binary.UnmarshalFrame(frame); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"id": "42", "xmlns": "encrypt", "type": "set", "to": "s.whatsapp.net"} {
		if v, _ := n.Attr(key); v.String() != want {
			t.Errorf("%s is %v, want %s", key, v, want)
		}
	}
	var tags []string
	for _, c := range n.Content.Nodes() {
		tags = append(tags, c.Tag)
	}
	if !slices.Equal(tags, []string{"registration", "type", "identity", "list", "skey"}) {
		t.Errorf("children %v", tags)
	}
	if !bytes.Equal(data(n, "registration"), []byte{1, 2, 3, 4}) || !bytes.Equal(data(n, "type"), []byte{5}) || !bytes.Equal(data(n, "identity"), b.Identity[:]) {
		t.Error("registration, type or identity")
	}
	list := n.Child("list").Content.Nodes()
	if len(list) != 2 || !bytes.Equal(data(&list[0], "id"), []byte{10, 11, 12}) || !bytes.Equal(data(&list[1], "value"), b.Identity[:]) {
		t.Errorf("list %+v", list)
	}

	var all []byte
	for _, k := range []signal.PublicKey{b.Identity, b.SignedPreKey} {
		all = append(all, k[:]...)
	}
	all = append(all, b.Signature[:]...)
	all = append(append(all, keys[0].Public[:]...), keys[1].Public[:]...)
	if PreKeyDigest(b, keys) != sha1.Sum(all) {
		t.Error("digest")
	}

	user := answerFor(b, jid(t, "15550000002@s.whatsapp.net"))
	for _, answer := range []*binary.Node{
		{Tag: "list", Content: binary.NodesContent(user)},
		{Tag: "iq", Content: binary.NodesContent(binary.Node{Tag: "list", Content: binary.NodesContent(user)})},
	} {
		got, err := ParseBundles(answer, nil)
		if err != nil || len(got) != 1 || got[0].Err != nil || *got[0].Bundle != *b {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// answerFor returns what the server says about a device with a bundle.
func answerFor(b *signal.Bundle, j binary.JID) binary.Node {
	signed := keyNode("skey", b.SignedPreKeyID, b.SignedPreKey)
	signed.Content = binary.NodesContent(append(signed.Content.Nodes(), bytesNode("signature", b.Signature[:]))...)
	r := b.RegistrationID
	return binary.Node{
		Tag: "user", Attrs: []binary.Attr{{Key: "jid", Value: j.Value()}},
		Content: binary.NodesContent(
			bytesNode("registration", []byte{byte(r >> 24), byte(r >> 16), byte(r >> 8), byte(r)}),
			bytesNode("type", []byte{5}),
			bytesNode("identity", b.Identity[:]),
			signed,
			keyNode("key", b.PreKeyID, b.PreKey),
		),
	}
}

// TestParseBundles: what is wrong with the answer for one device is an error of
// that device.
func TestParseBundles(t *testing.T) {
	b := freshBundle(t)
	phone, companion := jid(t, "15550000002@s.whatsapp.net"), jid(t, "15550000002:3@s.whatsapp.net")
	replace := func(tag string, by ...binary.Node) func(*binary.Node) {
		return func(n *binary.Node) {
			children := slices.DeleteFunc(slices.Clone(n.Content.Nodes()), func(c binary.Node) bool { return c.Tag == tag })
			n.Content = binary.NodesContent(append(children, by...)...)
		}
	}
	refused := func(code string) func(*binary.Node) {
		return func(n *binary.Node) {
			n.Content = binary.NodesContent(binary.Node{Tag: "error", Attrs: []binary.Attr{attr("code", code)}})
		}
	}
	identity := func(b string) func(*binary.Node) {
		return func(n *binary.Node) {
			n.Content = binary.NodesContent(append(slices.Clone(n.Content.Nodes()), bytesNode("device-identity", unhex(b)))...)
		}
	}
	hexID := func(n *binary.Node) {
		k := keyNode("key", 0, b.PreKey)
		k.Content = binary.NodesContent(bytesNode("id", []byte("0000ff")), k.Content.Nodes()[1])
		replace("key", k)(n)
	}
	for name, c := range map[string]struct {
		j      binary.JID
		change func(*binary.Node)
		want   error
	}{
		"as it is":                  {phone, func(*binary.Node) {}, nil},
		"no one-time prekey":        {phone, replace("key"), nil},
		"an id in hexadecimal":      {phone, hexID, nil},
		"no signed prekey":          {phone, replace("skey"), signal.ErrMalformed},
		"no signature":              {phone, replace("skey", keyNode("skey", 1, b.SignedPreKey)), signal.ErrMalformed},
		"registration of 3 bytes":   {phone, replace("registration", bytesNode("registration", []byte{1, 2, 3})), signal.ErrMalformed},
		"registration of 5 bytes":   {phone, replace("registration", bytesNode("registration", []byte{0, 1, 2, 3, 4})), signal.ErrMalformed},
		"no identity":               {phone, replace("identity"), signal.ErrMalformed},
		"identity of 33 bytes":      {phone, replace("identity", bytesNode("identity", make([]byte, 33))), signal.ErrMalformed},
		"one-time prekey, no value": {phone, replace("key", binary.Node{Tag: "key"}), signal.ErrMalformed},
		"refused":                   {phone, refused("406"), ErrUnregistered},
		"refused otherwise":         {phone, refused("404"), ErrNoBundle},
		"a code that is too large":  {phone, refused("65942"), signal.ErrMalformed}, // 406 if it were cut
		"an identity that is bad":   {companion, identity("0a"), ErrDeviceIdentity},
		"an identity without a key": {companion, identity("0a0101"), nil},
		"an identity of a phone":    {phone, identity("0a"), nil},
	} {
		n := answerFor(b, c.j)
		c.change(&n)
		good := answerFor(b, jid(t, "15550000009@s.whatsapp.net"))
		got, err := ParseBundles(&binary.Node{Tag: "list", Content: binary.NodesContent(n, good)}, nil)
		if err != nil || len(got) != 2 || got[0].Device != c.j || got[1].Err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if !errors.Is(got[0].Err, c.want) || (got[0].Bundle == nil) != (c.want != nil) {
			t.Errorf("%s: %+v, %v; want %v", name, got[0].Bundle, got[0].Err, c.want)
		}
	}
	// The account that is known is asked where the identity has no key.
	n := answerFor(b, companion)
	identity("0a0101")(&n)
	list := &binary.Node{Tag: "list", Content: binary.NodesContent(n)}
	got, err := ParseBundles(list, func(user binary.JID) (signal.PublicKey, bool) { return b.SignedPreKey, user == companion.NonAD() })
	if err != nil || !errors.Is(got[0].Err, ErrDeviceIdentity) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, n := range []*binary.Node{nil, {Tag: "iq"}, {Tag: "user"}} {
		if _, err := ParseBundles(n, nil); !errors.Is(err, signal.ErrMalformed) {
			t.Errorf("%+v: %v", n, err)
		}
	}
}
