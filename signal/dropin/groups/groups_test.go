package groups_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/groups/state/record"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/serialize"
	"go.mau.fi/libsignal/signalerror"
)

var (
	ctx  = context.Background()
	wire = serialize.NewProtoBufSerializer()
	name = protocol.NewSenderKeyName("15550000001-1500000000@g.us", protocol.NewSignalAddress("15550000001", 1))
)

// bytesStore keeps records as bytes.
type bytesStore map[string][]byte

func (s bytesStore) key(n *protocol.SenderKeyName) string { return n.GroupID() + n.Sender().String() }

func (s bytesStore) StoreSenderKey(_ context.Context, n *protocol.SenderKeyName, r *record.SenderKey) error {
	s[s.key(n)] = r.Serialize()
	return nil
}

func (s bytesStore) LoadSenderKey(_ context.Context, n *protocol.SenderKeyName) (*record.SenderKey, error) {
	if b, ok := s[s.key(n)]; ok {
		return record.NewSenderKeyFromBytes(b, wire.SenderKeyRecord, wire.SenderKeyState)
	}
	return nil, nil
}

func pair(s bytesStore) (*groups.SessionBuilder, *groups.GroupCipher) {
	b := groups.NewGroupSessionBuilder(s, wire)
	return b, groups.NewGroupCipher(b, name, s)
}

func handOut(t *testing.T, from, to *groups.SessionBuilder) {
	t.Helper()
	m, err := from.Create(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.NewSenderKeyDistributionMessageFromBytes(m.Serialize(), wire.SenderKeyDistributionMessage)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Process(ctx, name, p); err != nil {
		t.Fatal(err)
	}
}

func encrypt(t *testing.T, c *groups.GroupCipher, text string) *protocol.SenderKeyMessage {
	t.Helper()
	m, err := c.Encrypt(ctx, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := protocol.NewSenderKeyMessageFromBytes(m.SignedSerialize(), wire.SenderKeyMessage)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSecondDecryption: a message is not decrypted in its own memory, so the
// second time it is one that was read, and not a forgery.
func TestSecondDecryption(t *testing.T) {
	a, b := bytesStore{}, bytesStore{}
	builderA, cipherA := pair(a)
	builderB, cipherB := pair(b)
	handOut(t, builderA, builderB)
	m := encrypt(t, cipherA, "hello")
	before := bytes.Clone(m.SignedSerialize())
	got, err := cipherB.Decrypt(ctx, m)
	if err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	if !bytes.Equal(m.SignedSerialize(), before) {
		t.Error("the message has changed")
	}
	if _, err := cipherB.Decrypt(ctx, m); !errors.Is(err, signalerror.ErrOldCounter) {
		t.Errorf("twice: %v", err)
	}
}

// TestDistributionAgain: a distribution message that comes again does not hide the
// keys of skipped messages, nor makes read messages readable.
func TestDistributionAgain(t *testing.T) {
	a, b := bytesStore{}, bytesStore{}
	builderA, cipherA := pair(a)
	builderB, cipherB := pair(b)
	first, err := builderA.Create(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	handOut(t, builderA, builderB)
	late := encrypt(t, cipherA, "late")
	read := encrypt(t, cipherA, "read")
	if _, err := cipherB.Decrypt(ctx, read); err != nil {
		t.Fatal(err)
	}
	again, err := protocol.NewSenderKeyDistributionMessageFromBytes(first.Serialize(), wire.SenderKeyDistributionMessage)
	if err != nil {
		t.Fatal(err)
	}
	if err := builderB.Process(ctx, name, again); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b[b.key(name)], []byte(`"KeyID"`)); n != 1 {
		t.Errorf("%d states", n)
	}
	if _, err := cipherB.Decrypt(ctx, read); !errors.Is(err, signalerror.ErrOldCounter) {
		t.Errorf("twice: %v", err)
	}
	if got, err := cipherB.Decrypt(ctx, late); err != nil || string(got) != "late" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReasons: what failed is in the chain of the error.
func TestReasons(t *testing.T) {
	a, b := bytesStore{}, bytesStore{}
	builderA, cipherA := pair(a)
	builderB, cipherB := pair(b)
	if _, err := cipherA.Encrypt(ctx, nil); !errors.Is(err, signalerror.ErrNoSenderKeyForUser) {
		t.Errorf("no sender key: %v", err)
	}
	handOut(t, builderA, builderB)
	other, cipherOther := pair(bytesStore{})
	if _, err := other.Create(ctx, name); err != nil {
		t.Fatal(err)
	}
	if _, err := cipherB.Decrypt(ctx, encrypt(t, cipherOther, "x")); !errors.Is(err, signalerror.ErrNoSenderKeyStateForID) {
		t.Errorf("another sender key: %v", err)
	}
	m := encrypt(t, cipherA, "x")
	forged := bytes.Clone(m.SignedSerialize())
	forged[len(forged)-1] ^= 1
	p, err := protocol.NewSenderKeyMessageFromBytes(forged, wire.SenderKeyMessage)
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(b)
	if _, err := cipherB.Decrypt(ctx, p); !errors.Is(err, signalerror.ErrSenderKeyStateVerificationFailed) {
		t.Errorf("forged: %v", err)
	}
	if fmt.Sprint(b) != before {
		t.Error("the record has changed")
	}
	for range 2001 {
		m = encrypt(t, cipherA, "far")
	}
	if _, err := cipherB.Decrypt(ctx, m); !errors.Is(err, signalerror.ErrTooFarIntoFuture) {
		t.Errorf("too far: %v", err)
	}
}

// TestHostileMessages: no bytes make the parsers panic.
func TestHostileMessages(t *testing.T) {
	builder, c := pair(bytesStore{})
	d, err := builder.Create(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	m := encrypt(t, c, "x").SignedSerialize()
	for _, whole := range [][]byte{d.Serialize(), m, {0x33, 0x22, 0}} {
		for i := range whole {
			if _, err := protocol.NewSenderKeyDistributionMessageFromBytes(whole[:i], wire.SenderKeyDistributionMessage); err == nil {
				t.Errorf("distribution of %x is read", whole[:i])
			}
			if p, err := protocol.NewSenderKeyMessageFromBytes(whole[:i], wire.SenderKeyMessage); err == nil {
				if _, err := c.Decrypt(ctx, p); err == nil {
					t.Errorf("message of %x is read", whole[:i])
				}
			}
		}
	}
}
