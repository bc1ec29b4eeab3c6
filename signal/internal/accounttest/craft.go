package accounttest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/signal"
)

// This file makes messages that a sender with the right keys would never send.
// It derives the keys from exported records by the standard library alone.

// field returns the last value of a field of a protobuf message: the bytes, or
// the varint as a number.
func field(t *testing.T, msg []byte, want protowire.Number) (b []byte, n uint64) {
	t.Helper()
	for len(msg) > 0 {
		num, typ, size := protowire.ConsumeField(msg)
		if size < 0 {
			t.Fatalf("a record is not protobuf: %v", protowire.ParseError(size))
		}
		_, _, tag := protowire.ConsumeTag(msg)
		if num == want {
			switch typ {
			case protowire.BytesType:
				b, _ = protowire.ConsumeBytes(msg[tag:])
			case protowire.VarintType:
				n, _ = protowire.ConsumeVarint(msg[tag:])
			}
		}
		msg = msg[size:]
	}
	return b, n
}

func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// chain is the sending state of a session.
type chain struct {
	ratchet, ours, theirs     []byte // tagged public keys
	counter                   uint64
	cipherKey, macKey, vector []byte // of the next message
}

// sendingChain returns the state from which p sends its next message to q.
func (p *party) sendingChain(q *party) chain {
	t := p.t
	t.Helper()
	rec, err := p.ExportSession(t.Context(), q.addr, signal.FormatSignalProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	session, _ := field(t, rec, 1)
	sender, _ := field(t, session, 6)
	key, _ := field(t, sender, 3)
	var c chain
	c.ours, _ = field(t, session, 2)
	c.theirs, _ = field(t, session, 3)
	c.ratchet, _ = field(t, sender, 1)
	_, c.counter = field(t, key, 1)
	chainKey, _ := field(t, key, 2)
	keys, err := hkdf.Key(sha256.New, mac(chainKey, []byte{1}), nil, "WhisperMessageKeys", 80)
	if err != nil {
		t.Fatal(err)
	}
	c.cipherKey, c.macKey, c.vector = keys[:32], keys[32:64], keys[64:]
	return c
}

// message returns a SignalMessage with the body as it is, correctly
// authenticated.
func (c *chain) message(body []byte) []byte {
	m := []byte{0x33}
	m = protowire.AppendBytes(protowire.AppendTag(m, 1, protowire.BytesType), c.ratchet)
	m = protowire.AppendVarint(protowire.AppendTag(m, 2, protowire.VarintType), c.counter)
	m = protowire.AppendVarint(protowire.AppendTag(m, 3, protowire.VarintType), 0)
	m = protowire.AppendBytes(protowire.AppendTag(m, 4, protowire.BytesType), body)
	return append(m, mac(c.macKey, c.ours, c.theirs, m)[:8]...)
}

// cbc encrypts whole blocks, without padding them.
func cbc(key, iv, blocks []byte) []byte {
	b, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	out := make([]byte, len(blocks))
	cipher.NewCBCEncrypter(b, iv).CryptBlocks(out, blocks)
	return out
}

// badBodies returns bodies that no sender of good faith makes: of lengths that
// are not whole blocks, and with padding that is not one.
func badBodies(key, iv []byte) map[string][]byte {
	out := map[string][]byte{}
	for name, n := range map[string]int{"length 0": 0, "length 1": 1, "length 15": 15, "length 17": 17, "length 31": 31} {
		out[name] = make([]byte, n)
	}
	block := func(last ...byte) []byte {
		b := []byte("sixteen bytes ok")
		copy(b[16-len(last):], last)
		return cbc(key, iv, b)
	}
	out["padding 0"] = block(0)
	out["padding 17"] = block(17)
	out["padding 255"] = block(255)
	out["padding inconsistent"] = block(3, 2, 3)
	return out
}

// groupChain is the sending state of a sender key.
type groupChain struct {
	id, iteration uint64
	signing       []byte
	key, iv       []byte
}

func (p *party) groupChain() groupChain {
	t := p.t
	t.Helper()
	rec, err := p.ExportSenderKey(t.Context(), p.senderKey(), signal.FormatSignalProtobuf)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := field(t, rec, 1)
	chainKey, _ := field(t, state, 2)
	signing, _ := field(t, state, 3)
	var c groupChain
	_, c.id = field(t, state, 1)
	_, c.iteration = field(t, chainKey, 1)
	seed, _ := field(t, chainKey, 2)
	c.signing, _ = field(t, signing, 2)
	keys, err := hkdf.Key(sha256.New, mac(seed, []byte{1}), nil, "WhisperGroup", 48)
	if err != nil {
		t.Fatal(err)
	}
	c.iv, c.key = keys[:16], keys[16:]
	return c
}

// message returns a SenderKeyMessage with the body as it is, correctly signed.
func (c *groupChain) message(t *testing.T, body []byte) []byte {
	m := []byte{0x33}
	m = protowire.AppendVarint(protowire.AppendTag(m, 1, protowire.VarintType), c.id)
	m = protowire.AppendVarint(protowire.AppendTag(m, 2, protowire.VarintType), c.iteration)
	m = protowire.AppendBytes(protowire.AppendTag(m, 3, protowire.BytesType), body)
	key, err := curve.NewPrivateKey(c.signing)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := key.Sign(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(m, sig[:]...)
}
