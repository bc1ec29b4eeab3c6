package send

import (
	"crypto/sha1" // what the server compares with
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/signal"
)

// keyTypeByte is the type of all keys, in the nodes that carry them bare.
const keyTypeByte = 5

// PreKeyUpload returns the request that uploads one-time prekeys together with
// what is in a bundle of the account: its registration id, its identity and its
// signed prekey. The order of the keys stays.
func PreKeyUpload(id string, b *signal.Bundle, keys []signal.PublicPreKey) *binary.Node {
	list := make([]binary.Node, len(keys))
	for i, k := range keys {
		list[i] = keyNode("key", k.ID, k.Public)
	}
	return &binary.Node{
		Tag: "iq",
		Attrs: []binary.Attr{
			attr("id", id), attr("xmlns", "encrypt"), attr("type", "set"),
			{Key: "to", Value: binary.JID{Server: binary.ServerUser}.Value()},
		},
		Content: binary.NodesContent(
			registrationNode(b.RegistrationID),
			bytesNode("type", []byte{keyTypeByte}),
			bytesNode("identity", b.Identity[:]),
			binary.Node{Tag: "list", Content: binary.NodesContent(list...)},
			signedKeyNode(b),
		),
	}
}

func bytesNode(tag string, b []byte) binary.Node {
	return binary.Node{Tag: tag, Content: binary.BytesContent(b)}
}

// keyNode returns the node of a prekey: its id, 3 bytes, and its key.
func keyNode(tag string, id uint32, k signal.PublicKey) binary.Node {
	return binary.Node{Tag: tag, Content: binary.NodesContent(
		bytesNode("id", []byte{byte(id >> 16), byte(id >> 8), byte(id)}),
		bytesNode("value", k[:]),
	)}
}

// signedKeyNode returns the node of the signed prekey of a bundle.
func signedKeyNode(b *signal.Bundle) binary.Node {
	n := keyNode("skey", b.SignedPreKeyID, b.SignedPreKey)
	n.Content = binary.NodesContent(append(n.Content.Nodes(), bytesNode("signature", b.Signature[:]))...)
	return n
}

func registrationNode(r uint32) binary.Node {
	return bytesNode("registration", []byte{byte(r >> 24), byte(r >> 16), byte(r >> 8), byte(r)})
}

// PreKeyDigest returns the digest of what the server should hold: SHA-1 over the
// identity, the signed prekey, its signature and the one-time prekeys in the order
// of the server's list.
func PreKeyDigest(b *signal.Bundle, keys []signal.PublicPreKey) (digest [sha1.Size]byte) {
	h := sha1.New()
	h.Write(b.Identity[:])
	h.Write(b.SignedPreKey[:])
	h.Write(b.Signature[:])
	for i := range keys {
		h.Write(keys[i].Public[:])
	}
	h.Sum(digest[:0])
	return digest
}

// ParseBundles reads the server's answer to a request of bundles: an iq or the
// list in it. A device that the server refuses has a [*RejectedError], one whose
// bundle cannot be read an error that wraps signal.ErrMalformed, and one that does
// not prove to belong to its account [ErrDeviceIdentity]. account, if not nil,
// returns the identity of the primary device of a user where it is known. The
// error of the whole wraps signal.ErrMalformed: there is no list.
func ParseBundles(n *binary.Node, account func(user binary.JID) (signal.PublicKey, bool)) ([]BundleAnswer, error) {
	list := n
	if n != nil && n.Tag == "iq" {
		list = n.Child("list")
	}
	if list == nil || list.Tag != "list" {
		return nil, malformed("answer without a list")
	}
	var out []BundleAnswer
	for user := range list.Children("user") {
		v, _ := user.Attr("jid")
		j, ok := v.JID()
		if !ok {
			var err error
			if j, err = binary.ParseJID(v.String()); err != nil {
				continue // it answers for nobody
			}
		}
		b, err := parseBundle(user)
		if err == nil {
			err = verifyCompanion(user, j, b, account)
		}
		if err != nil {
			b = nil
		}
		out = append(out, BundleAnswer{Device: j, Bundle: b, Err: err})
	}
	return out, nil
}

func malformed(what string) error { return fmt.Errorf("send: %s: %w", what, signal.ErrMalformed) }

// parseBundle reads what the server says about one device.
func parseBundle(user *binary.Node) (*signal.Bundle, error) {
	if e := user.Child("error"); e != nil {
		v, _ := e.Attr("code")
		code, err := strconv.ParseUint(v.String(), 10, 16)
		if err != nil {
			return nil, malformed("refusal without a code")
		}
		return nil, &RejectedError{Code: uint16(code)}
	}
	registration := data(user, "registration")
	if len(registration) != 4 {
		return nil, malformed(fmt.Sprintf("registration id of %d bytes", len(registration)))
	}
	return parseKeys(user, bigEndian(registration))
}

// bigEndian reads a number of at most four bytes.
func bigEndian(b []byte) (n uint32) {
	for _, c := range b {
		n = n<<8 | uint32(c)
	}
	return n
}

// parseKeys reads the keys of a bundle.
func parseKeys(user *binary.Node, registration uint32) (b *signal.Bundle, err error) {
	b = &signal.Bundle{RegistrationID: registration}
	if b.Identity, err = bareKey(user, "identity"); err != nil {
		return nil, err
	}
	signed := user.Child("skey")
	if signed == nil {
		return nil, malformed("bundle without signed prekey")
	}
	if b.SignedPreKeyID, err = keyID(signed); err != nil {
		return nil, err
	}
	if b.SignedPreKey, err = bareKey(signed, "value"); err != nil {
		return nil, err
	}
	if n := copy(b.Signature[:], data(signed, "signature")); n != len(b.Signature) || len(data(signed, "signature")) != n {
		return nil, malformed("signature of another size")
	}
	one := user.Child("key")
	if one == nil {
		return b, nil
	}
	b.HasPreKey = true
	if b.PreKeyID, err = keyID(one); err != nil {
		return nil, err
	}
	b.PreKey, err = bareKey(one, "value")
	return b, err
}

// data returns the content of a child, nil if there is none.
func data(n *binary.Node, tag string) []byte {
	c := n.Child(tag)
	if c == nil {
		return nil
	}
	return c.Content.Data()
}

func bareKey(n *binary.Node, tag string) (k signal.PublicKey, err error) {
	b := data(n, tag)
	if len(b) != len(k) {
		return k, malformed(fmt.Sprintf("key of %d bytes", len(b)))
	}
	return signal.PublicKey(b), nil
}

// keyID reads the id of a prekey: 3 bytes, or their six hexadecimal digits.
func keyID(n *binary.Node) (id uint32, err error) {
	b := data(n, "id")
	if len(b) == 6 {
		if b, err = hex.DecodeString(string(b)); err != nil {
			return 0, malformed("prekey id")
		}
	}
	if len(b) != 3 {
		return 0, malformed(fmt.Sprintf("prekey id of %d bytes", len(b)))
	}
	return bigEndian(b), nil
}

// verifyCompanion checks the device identity in an answer, if there is one.
func verifyCompanion(user *binary.Node, j binary.JID, b *signal.Bundle, account func(binary.JID) (signal.PublicKey, bool)) error {
	encoded := data(user, "device-identity")
	if len(encoded) == 0 || j.Device == 0 {
		return nil
	}
	d, err := ParseDeviceIdentity(encoded)
	if err != nil {
		return err
	}
	var known *signal.PublicKey
	if account != nil {
		if k, ok := account(j.NonAD()); ok {
			known = &k
		}
	}
	_, err = d.Verify(b.Identity, known)
	return err
}
