package send_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// A direct message: a stanza, a frame, and what the receiver does with it.
func ExampleDirect() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()
	alice, bob := exampleAccount(ctx, backend, "alice"), exampleAccount(ctx, backend, "bob")
	aliceJID := binary.JID{User: "15550000001", Server: binary.ServerUser}
	bobJID := binary.JID{User: "15550000002", Server: binary.ServerUser}

	// The server hands out the bundle of each device; Bob has one device.
	if _, err := bob.GenerateSignedPreKey(ctx, 1, uint64(time.Now().Unix())); err != nil {
		panic(err)
	}
	bundle, err := bob.Bundle(ctx, 0)
	if err != nil {
		panic(err)
	}
	if _, err := alice.ProcessBundle(ctx, send.SignalAddress(bobJID), bundle); err != nil {
		panic(err)
	}

	id, err := send.MessageID(time.Now(), aliceJID)
	if err != nil {
		panic(err)
	}
	stanza, err := send.Direct(ctx, alice, &send.DirectMessage{
		// The identity is what pairing left; first messages carry it.
		Self: send.Self{PN: aliceJID, DeviceIdentity: []byte("ADVSignedDeviceIdentity")},
		To:   bobJID,
		ID:   id,
		Type: "text",
		// The protobuf Message with its field conversation.
		Message: []byte("\x0a\x05hello"),
		Devices: []binary.JID{bobJID},
	})
	if err != nil {
		panic(err)
	}
	for _, f := range stanza.Failures {
		fmt.Println("not encrypted for a device:", f.Err)
	}
	frame, err := binary.Marshal(stanza.Node) // encrypted once more by the transport
	if err != nil {
		panic(err)
	}

	node, err := binary.UnmarshalFrame(frame)
	if err != nil {
		panic(err)
	}
	// The server delivers only the copy that is for the device, as the enc node
	// of the message.
	plaintext, err := open(ctx, bob, aliceJID, node.Child("participants").Child("to").Child("enc"))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%q\n", plaintext)
	// Output: "\n\x05hello"
}

// open decrypts an enc node of sender.
func open(ctx context.Context, a *signal.Account, sender binary.JID, enc *binary.Node) ([]byte, error) {
	name, _ := enc.Attr("type")
	typ, ok := signal.MessageTypeOf(name.String())
	if !ok || typ == signal.TypeSenderKey {
		return nil, errors.New("not a message of a session")
	}
	v, _ := enc.Attr("v")
	version, err := strconv.Atoi(v.String())
	if err != nil {
		return nil, err
	}
	m, err := a.Decrypt(ctx, send.SignalAddress(sender), typ, enc.Content.Data())
	if err != nil {
		return nil, err
	}
	return send.Unpad(m.Plaintext, version)
}

func exampleAccount(ctx context.Context, b store.Backend, name string) *signal.Account {
	a, err := signal.CreateAccount(ctx, b, name, signal.AccountOptions{})
	if err != nil {
		panic(err)
	}
	return a
}
