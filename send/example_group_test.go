package send_test

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/store"
)

// A group: the first message carries the sender key, the second one does not,
// and a member that has lost the key asks for it.
func ExampleTracker() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()

	// Bob and Carol have published bundles. In a client, the source asks the
	// server for them.
	bob := binary.JID{User: "15550000002", Server: binary.ServerUser}
	carol := binary.JID{User: "15550000003", Server: binary.ServerUser}
	accounts := map[binary.JID]*signal.Account{}
	for _, j := range []binary.JID{bob, carol} {
		accounts[j] = exampleAccount(ctx, backend, j.User)
		if _, err := accounts[j].GenerateSignedPreKey(ctx, 1, uint64(time.Now().Unix())); err != nil {
			panic(err)
		}
	}
	source := send.BundleFunc(func(ctx context.Context, devices []binary.JID) ([]send.BundleAnswer, error) {
		fmt.Println(len(devices), "bundles are requested")
		var out []send.BundleAnswer
		for _, d := range devices {
			b, err := accounts[d].Bundle(ctx, 0)
			out = append(out, send.BundleAnswer{Device: d, Bundle: b, Err: err})
		}
		return out, nil
	})

	alice := exampleAccount(ctx, backend, "alice")
	self := send.Self{
		PN:             binary.JID{User: "15550000001", Server: binary.ServerUser, Device: 4},
		DeviceIdentity: []byte("what pairing left"),
	}
	tracker := send.NewTracker(alice, self, send.TrackerOptions{Sessions: send.Sessions{Source: source}})

	group := binary.JID{User: "120363000000000001", Server: binary.ServerGroup}
	// A send.Resolver makes rosters from the group and the device lists.
	roster := send.NewRoster([]binary.JID{bob, carol, self.PN})
	say := func(text string) {
		id, err := send.MessageID(time.Now(), self.PN)
		if err != nil {
			panic(err)
		}
		stanza, err := tracker.Group(ctx, roster, &send.GroupMessage{
			To: group, ID: id, Type: "text",
			Message: protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), text),
		}, func(_ context.Context, s *send.GroupStanza) error {
			// Here the client marshals the node, sends it, and waits for the
			// server to acknowledge it.
			for _, j := range []binary.JID{bob, carol} {
				fmt.Println(j.User, "reads", read(ctx, accounts[j], j, self.PN, group, s.Node))
			}
			return nil
		})
		if err != nil {
			panic(err)
		}
		fmt.Println(len(stanza.Distributed), "devices got the key")
	}
	say("hello")
	say("all of you")

	// Carol's phone has lost the key, and says so in a retry receipt.
	verdict, err := tracker.Retry(ctx, &send.RetryReceipt{Chat: group, Device: carol, ID: "3EB0", Count: 1, Listed: true})
	if err != nil {
		panic(err)
	}
	fmt.Println("to be sent again:", verdict == send.RetryResend)
	say("once more")

	// Bob leaves: the next message is under a key that he does not have.
	roster = send.NewRoster([]binary.JID{carol, self.PN})
	say("without Bob")
	// Output:
	// 2 bundles are requested
	// 15550000002 reads "\n\x05hello"
	// 15550000003 reads "\n\x05hello"
	// 2 devices got the key
	// 15550000002 reads "\n\nall of you"
	// 15550000003 reads "\n\nall of you"
	// 0 devices got the key
	// to be sent again: true
	// 15550000002 reads "\n\tonce more"
	// 15550000003 reads "\n\tonce more"
	// 1 devices got the key
	// 15550000002 reads signal: no sender key
	// 15550000003 reads "\n\vwithout Bob"
	// 1 devices got the key
}

// read is what a member does with a stanza: it takes in the key that is in its
// copy, if there is one, and decrypts the message.
func read(ctx context.Context, a *signal.Account, self, sender, group binary.JID, n *binary.Node) string {
	name := signal.SenderKeyName{Group: group.String(), Sender: send.SignalAddress(sender)}
	if list := n.Child("participants"); list != nil {
		for _, to := range list.Content.Nodes() {
			if v, _ := to.Attr("jid"); v != self.Value() {
				continue
			}
			plaintext, err := open(ctx, a, sender, to.Child("enc"))
			if err != nil {
				return err.Error()
			}
			// Message.senderKeyDistributionMessage, and in it the field 2.
			if _, err := a.ProcessSenderKey(ctx, name, field(field(plaintext, 2), 2)); err != nil {
				return err.Error()
			}
		}
	}
	plaintext, err := a.DecryptGroup(ctx, name, n.Child("enc").Content.Data())
	if err != nil {
		return err.Error()
	}
	if plaintext, err = send.Unpad(plaintext, 2); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%q", plaintext)
}

// field returns a field of an encoded protobuf, nil if there is none.
func field(b []byte, want protowire.Number) []byte {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		if num == want && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[n:])
			return v
		}
		if b = b[n:]; protowire.ConsumeFieldValue(num, typ, b) < 0 {
			return nil
		}
		b = b[protowire.ConsumeFieldValue(num, typ, b):]
	}
	return nil
}

// A direct message to devices that there may be no session with.
func ExampleSessions_For() {
	ctx := context.Background()
	backend := store.NewMemory()
	defer backend.Close()
	alice, bob := exampleAccount(ctx, backend, "alice"), exampleAccount(ctx, backend, "bob")
	if _, err := bob.GenerateSignedPreKey(ctx, 1, uint64(time.Now().Unix())); err != nil {
		panic(err)
	}
	bobJID := binary.JID{User: "15550000002", Server: binary.ServerUser}
	sessions := send.Sessions{Source: send.BundleFunc(func(ctx context.Context, devices []binary.JID) ([]send.BundleAnswer, error) {
		b, err := bob.Bundle(ctx, 0)
		return []send.BundleAnswer{{Device: devices[0], Bundle: b, Err: err}}, nil
	})}

	devices := []binary.JID{bobJID}
	prepared, err := sessions.For(ctx, alice, devices)
	if err != nil {
		panic(err)
	}
	stanza, err := send.Direct(ctx, prepared, &send.DirectMessage{
		Self: send.Self{PN: binary.JID{User: "15550000001", Server: binary.ServerUser}, DeviceIdentity: []byte("what pairing left")},
		To:   bobJID, ID: "3EB0", Type: "text",
		Message: []byte("\x0a\x05hello"),
		Devices: devices, Address: prepared.Address,
	})
	if err != nil {
		panic(err)
	}
	enc := stanza.Node.Child("participants").Child("to").Child("enc")
	kind, _ := enc.Attr("type")
	fmt.Println(len(stanza.Failures), "failures, type", kind)
	// Output: 0 failures, type pkmsg
}
