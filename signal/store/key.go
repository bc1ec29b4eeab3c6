package store

import (
	"cmp"
	"fmt"
)

// Table says which kind of record a row holds.
type Table uint8

// The kinds of records of an account. Prekeys and signed prekeys are keyed by
// id, all others by name.
const (
	Identities       Table = 1 + iota // the last seen identity key of an address
	Sessions                          // the session record of an address
	PreKeys                           // a one-time prekey
	SignedPreKeys                     // a signed prekey
	SenderKeys                        // the sender-key record of a group and sender
	SenderKeyDevices                  // which devices have a sender key of ours
	LIDs                              // what is known about a phone number and its LID
	BaseKeys                          // the base key of a session for which a retry was asked
)

// ByID reports whether the rows of t are keyed by id and not by name.
func (t Table) ByID() bool { return t == PreKeys || t == SignedPreKeys }

// Valid reports whether t is one of the tables above.
func (t Table) Valid() bool { return t >= Identities && t <= BaseKeys }

// String returns the name of the table as used in errors and in schemas.
func (t Table) String() string {
	switch t {
	case Identities:
		return "identities"
	case Sessions:
		return "sessions"
	case PreKeys:
		return "prekeys"
	case SignedPreKeys:
		return "signed_prekeys"
	case SenderKeys:
		return "sender_keys"
	case SenderKeyDevices:
		return "sender_key_devices"
	case LIDs:
		return "lids"
	case BaseKeys:
		return "base_keys"
	}
	return fmt.Sprintf("table(%d)", uint8(t))
}

// Key names one row of an account. Either Name or ID is used, as Table.ByID
// says; the other one is zero. Keys are comparable.
type Key struct {
	Table Table
	Name  string
	ID    uint32
}

// Identity returns the key of the identity row of an address.
func Identity(name string) Key { return Key{Table: Identities, Name: name} }

// Session returns the key of the session row of an address.
func Session(name string) Key { return Key{Table: Sessions, Name: name} }

// PreKey returns the key of a one-time prekey.
func PreKey(id uint32) Key { return Key{Table: PreKeys, ID: id} }

// SignedPreKey returns the key of a signed prekey.
func SignedPreKey(id uint32) Key { return Key{Table: SignedPreKeys, ID: id} }

// SenderKey returns the key of the sender-key row of a sender-key name.
func SenderKey(name string) Key { return Key{Table: SenderKeys, Name: name} }

// SenderKeyDevice returns the key of the device row of a sender-key name.
func SenderKeyDevice(name string) Key { return Key{Table: SenderKeyDevices, Name: name} }

// LID returns the key of the mapping row of a phone number or LID.
func LID(name string) Key { return Key{Table: LIDs, Name: name} }

// BaseKey returns the key of a base-key row.
func BaseKey(name string) Key { return Key{Table: BaseKeys, Name: name} }

// Compare orders keys by table, then by name or id.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Table, o.Table), cmp.Compare(k.Name, o.Name), cmp.Compare(k.ID, o.ID))
}

// check panics for a key that no backend can hold. Keys are built by code,
// not by bytes of a peer.
func (k Key) check() {
	if !k.Table.Valid() {
		panic("store: unknown table")
	}
	if k.Table.ByID() != (k.Name == "") {
		panic("store: key of the wrong kind for its table")
	}
}
