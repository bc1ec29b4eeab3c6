// Command exchange is one device over the store of whatsmeow in an SQLite file. It
// reads requests and writes answers, as JSON, one a line.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/libsignal/groups"
	"go.mau.fi/libsignal/keys/identity"
	"go.mau.fi/libsignal/keys/prekey"
	"go.mau.fi/libsignal/protocol"
	"go.mau.fi/libsignal/session"
	"go.mau.fi/libsignal/util/optional"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	_ "modernc.org/sqlite"
)

// A Request is one of: open (DB, Name), bundle, process (Name, Bundle), encrypt
// (Name, Body), decrypt (Name, Kind, Body), create (Group), take (Group, Name,
// Body), gencrypt (Group, Body), gdecrypt (Group, Name, Body).
type Request struct {
	Op, DB, Name, Group string
	Kind                uint32
	Body                []byte
	Bundle              *Bundle
}

// An Answer has what the request asks for, or an error.
type Answer struct {
	Kind   uint32
	Body   []byte
	Bundle *Bundle
	Error  string
}

// A Bundle is what a device publishes.
type Bundle struct {
	RegistrationID, PreKeyID, SignedPreKeyID  uint32
	Identity, PreKey, SignedPreKey, Signature []byte
}

var (
	ctx    = context.Background()
	device *store.Device
)

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.NewFile(3, "answers"))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r Request
		a := new(Answer)
		if err = json.Unmarshal(line, &r); err == nil {
			err = serve(&r, a)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			panic(err)
		}
	}
}

func address(name string) *protocol.SignalAddress { return protocol.NewSignalAddress(name, 0) }

func cipher(name string) *session.Cipher {
	return session.NewCipher(session.NewBuilderFromSignal(device, address(name), store.SignalProtobufSerializer), address(name))
}

func groupCipher(group, name string) (*groups.SessionBuilder, *groups.GroupCipher, *protocol.SenderKeyName) {
	b := groups.NewGroupSessionBuilder(device, store.SignalProtobufSerializer)
	n := protocol.NewSenderKeyName(group, address(name))
	return b, groups.NewGroupCipher(b, n, device), n
}

func serve(r *Request, a *Answer) (err error) {
	switch r.Op {
	case "open":
		return open(r.DB, r.Name)
	case "bundle":
		k, err := device.PreKeys.GenOnePreKey(ctx)
		if err != nil {
			return err
		}
		a.Bundle = &Bundle{
			RegistrationID: device.RegistrationID, Identity: device.IdentityKey.Pub[:],
			PreKeyID: k.KeyID, PreKey: k.Pub[:],
			SignedPreKeyID: device.SignedPreKey.KeyID, SignedPreKey: device.SignedPreKey.Pub[:],
			Signature: device.SignedPreKey.Signature[:],
		}
	case "process":
		b := r.Bundle
		return session.NewBuilderFromSignal(device, address(r.Name), store.SignalProtobufSerializer).ProcessBundle(ctx, prekey.NewBundle(
			b.RegistrationID, 0, optional.NewOptionalUint32(b.PreKeyID), b.SignedPreKeyID,
			ecc.NewDjbECPublicKey([32]byte(b.PreKey)), ecc.NewDjbECPublicKey([32]byte(b.SignedPreKey)), [64]byte(b.Signature),
			identity.NewKey(ecc.NewDjbECPublicKey([32]byte(b.Identity)))))
	case "encrypt":
		m, err := cipher(r.Name).Encrypt(ctx, r.Body)
		if err != nil {
			return err
		}
		a.Kind, a.Body = m.Type(), m.Serialize()
	case "decrypt":
		if r.Kind == protocol.PREKEY_TYPE {
			m, err := protocol.NewPreKeySignalMessageFromBytes(r.Body, store.SignalProtobufSerializer.PreKeySignalMessage, store.SignalProtobufSerializer.SignalMessage)
			if err != nil {
				return err
			}
			a.Body, err = cipher(r.Name).DecryptMessage(ctx, m)
			return err
		}
		m, err := protocol.NewSignalMessageFromBytes(r.Body, store.SignalProtobufSerializer.SignalMessage)
		if err != nil {
			return err
		}
		a.Body, err = cipher(r.Name).Decrypt(ctx, m)
		return err
	case "create":
		b, _, n := groupCipher(r.Group, device.ID.User)
		m, err := b.Create(ctx, n)
		if err != nil {
			return err
		}
		a.Body = m.Serialize()
	case "take":
		b, _, n := groupCipher(r.Group, r.Name)
		m, err := protocol.NewSenderKeyDistributionMessageFromBytes(r.Body, store.SignalProtobufSerializer.SenderKeyDistributionMessage)
		if err != nil {
			return err
		}
		return b.Process(ctx, n, m)
	case "gencrypt":
		_, c, _ := groupCipher(r.Group, device.ID.User)
		m, err := c.Encrypt(ctx, r.Body)
		if err != nil {
			return err
		}
		a.Body = m.SignedSerialize()
	case "gdecrypt":
		_, c, _ := groupCipher(r.Group, r.Name)
		m, err := protocol.NewSenderKeyMessageFromBytes(r.Body, store.SignalProtobufSerializer.SenderKeyMessage)
		if err != nil {
			return err
		}
		a.Body, err = c.Decrypt(ctx, m)
		return err
	default:
		return fmt.Errorf("unknown request %s", r.Op)
	}
	return nil
}

// open opens the device of a file, and makes it if there is none.
func open(file, user string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=foreign_keys(1)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	c := sqlstore.NewWithDB(db, "sqlite3", nil)
	if err := c.Upgrade(ctx); err != nil {
		return err
	}
	if device, err = c.GetFirstDevice(ctx); err != nil {
		return err
	}
	if device.ID != nil {
		return nil
	}
	jid := types.NewJID(user, types.DefaultUserServer)
	jid.Device = 1
	device.ID = &jid
	device.Account = &waAdv.ADVSignedDeviceIdentity{
		Details: []byte{}, AccountSignature: make([]byte, 64), AccountSignatureKey: make([]byte, 32), DeviceSignature: make([]byte, 64),
	}
	return c.PutDevice(ctx, device)
}
