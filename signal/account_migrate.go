package signal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sigcore/sigcore/signal/store"
)

// Migration says what became of the rows of one kind that a device had under its
// phone number.
type Migration uint8

// The outcomes.
const (
	MigrationNone   Migration = iota // there was nothing
	MigrationMoved                   // it is under the LID now
	MigrationMerged                  // both had it: the LID's goes on, and holds what the other had
	MigrationDrop                    // the LID's goes on, and the other was of an identity that is no longer valid
)

// String returns none, moved, merged or dropped.
func (m Migration) String() string {
	switch m {
	case MigrationNone:
		return "none"
	case MigrationMoved:
		return "moved"
	case MigrationMerged:
		return "merged"
	case MigrationDrop:
		return "dropped"
	}
	return fmt.Sprintf("Migration(%d)", uint8(m))
}

// DeviceMigration is what MigrateToLID did with one device.
type DeviceMigration struct {
	From, To Address

	Session Migration

	// Dropped is how many sessions, archived ones included, were not merged: of
	// another identity, or not to be read.
	Dropped int

	// IdentityConflict is set if the device had another identity under each
	// name. That of the LID holds.
	IdentityConflict bool

	// SenderKeys is how many sender keys, of as many groups, were moved or
	// merged.
	SenderKeys int

	// Err says why something was left where it is. ErrCorruptRecord is in its
	// chain for a row of either name that cannot be read, ErrUntrustedIdentity if
	// the identities differ and are pinned. A session is left with its identity;
	// a sender key that cannot be read is left alone.
	Err error
}

// LIDMigration is what MigrateToLID did with one user.
type LIDMigration struct {
	LIDMapping
	Devices []DeviceMigration // in ascending order, those that had anything to move
}

// MigrateToLID stores a mapping and moves what is kept under the phone number of
// that user to the LID, in one transaction: for each device its session, its
// identity and its sender keys in all groups.
//
// If a device has a session under both names that of the LID stays current, and
// what the other record holds is archived behind it: messages in it are still
// read, and no message key is used twice. If the identities differ, the LID's
// holds and the session of the other one is dropped; with TrustPinned both are
// left as they are.
//
// Sender keys of our own are not moved: members know them under the name that
// they came with. Neither are the marks of SenderKeyDevices, which name devices
// as the group does.
//
// It can be called again at any time. What is stored under the phone number while
// it runs, or afterwards, is moved by the next call; whoever resolves addresses
// with ResolveLIDs first stores nothing there. A failed call has changed nothing.
func (a *Account) MigrateToLID(ctx context.Context, m LIDMapping) (LIDMigration, error) {
	out, err := a.MigrateToLIDs(ctx, []LIDMapping{m})
	if err != nil {
		return LIDMigration{}, err
	}
	return out[0], nil
}

// MigrateToLIDs is MigrateToLID for many users, each in a transaction of its own.
// It lists the sender keys of the account once. If it fails, out has the users
// that are done.
func (a *Account) MigrateToLIDs(ctx context.Context, mappings []LIDMapping) (out []LIDMigration, err error) {
	users := make([]migration, len(mappings))
	at := make(map[string]int, len(mappings))
	for i, m := range mappings {
		if users[i].pn, users[i].lid, err = m.split(); err != nil {
			return nil, err
		}
		users[i].LIDMapping = m
		at[users[i].pn.user] = i
	}
	err = a.eachPage(ctx, store.SenderKeys, "", func(keys []store.Key) error {
		for _, k := range keys {
			name, ok := parseSenderKeyName(k.Name)
			if !ok {
				continue
			}
			if n, ok := splitName(name.Sender.Name); ok {
				if i, ok := at[n.user]; ok && users[i].owns(n) {
					users[i].senderKeys = append(users[i].senderKeys, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range users {
		if err := a.migrate(ctx, &users[i]); err != nil {
			return out, err
		}
		out = append(out, LIDMigration{LIDMapping: mappings[i], Devices: users[i].devices})
	}
	return out, nil
}

// A migration is that of one user.
type migration struct {
	LIDMapping
	pn, lid    userName
	devices    []DeviceMigration
	senderKeys []SenderKeyName // under the phone number
}

// owns reports whether a device is one of the phone number.
func (m *migration) owns(n userName) bool {
	_, ok := lidServerOf(n.server)
	return ok && n.user == m.pn.user
}

// to returns the name of a device of the phone number under the LID.
func (m *migration) to(addr Address) Address {
	n, _ := splitName(addr.Name)
	n.user = m.lid.user
	n.server, _ = lidServerOf(n.server)
	return Address{Name: n.String(), Device: addr.Device}
}

// findDevices lists the devices that have anything under the phone number.
func (a *Account) findDevices(ctx context.Context, m *migration) error {
	var found []Address
	for _, name := range m.senderKeys {
		found = append(found, name.Sender)
	}
	err := a.eachUserRow(ctx, m.pn.user, func(addr Address) {
		if n, ok := splitName(addr.Name); ok && m.owns(n) {
			found = append(found, addr)
		}
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found, Address.compare)
	for _, addr := range slices.Compact(found) {
		m.devices = append(m.devices, DeviceMigration{From: addr, To: m.to(addr)})
	}
	return nil
}

// eachUserRow calls f with the address of each session and identity row whose
// name begins with a user, with any device and server.
func (a *Account) eachUserRow(ctx context.Context, user string, f func(Address)) error {
	for _, t := range []store.Table{store.Sessions, store.Identities} {
		for _, prefix := range []string{user + "@", user + ":"} {
			err := a.eachPage(ctx, t, prefix, func(keys []store.Key) error {
				for _, k := range keys {
					if addr, ok := parseAddress(k.Name); ok {
						f(addr)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// HasUser reports whether there is a session or an identity of any device of a
// user, whose name has no device, as in "15550000001@c.us".
func (a *Account) HasUser(ctx context.Context, name string) (found bool, err error) {
	user, ok := splitName(name)
	if !ok || user.device != "" {
		return false, fmt.Errorf("signal: name of a user: %w", ErrMalformed)
	}
	err = a.eachUserRow(ctx, user.user, func(addr Address) {
		n, ok := splitName(addr.Name)
		found = found || ok && n.user == user.user && n.server == user.server
	})
	return found, err
}

// migrate moves the rows of one user.
func (a *Account) migrate(ctx context.Context, m *migration) error {
	if err := a.findDevices(ctx, m); err != nil {
		return err
	}
	rows := []store.Key{store.LID(m.PN), store.LID(m.LID)}
	for i := range m.devices {
		d := &m.devices[i]
		rows = peerKeys(peerKeys(rows, d.From), d.To)
	}
	for _, name := range m.senderKeys {
		rows = append(rows, name.key(), m.renamed(name).key())
	}
	found := m.devices
	return a.update(ctx, "migration", rows, []store.Key{lidLock}, func(recs []store.Record, b *store.Batch) error {
		m.devices = slices.Clone(found)
		putMappings([]LIDMapping{m.LIDMapping}, recs[:2], b)
		recs = recs[2:]
		for i := range m.devices {
			d := &m.devices[i]
			d.Err = d.move(a.policy(), recs[:4], b)
			recs = recs[4:]
		}
		for _, name := range m.senderKeys {
			i, _ := slices.BinarySearchFunc(m.devices, name.Sender, func(d DeviceMigration, addr Address) int { return d.From.compare(addr) })
			m.devices[i].moveSenderKey(name.key(), m.renamed(name).key(), recs[:2], b)
			recs = recs[2:]
		}
		m.devices = slices.DeleteFunc(m.devices, func(d DeviceMigration) bool { return d.idle() })
		return nil
	})
}

// renamed returns the name of a sender key of the phone number under the LID.
func (m *migration) renamed(n SenderKeyName) SenderKeyName {
	return SenderKeyName{Group: n.Group, Sender: m.to(n.Sender)}
}

// idle reports whether nothing was found that could be moved.
func (d *DeviceMigration) idle() bool {
	return d.Session == MigrationNone && !d.IdentityConflict && d.SenderKeys == 0 && d.Err == nil
}

// move adds to a batch what moves the session and the identity of a device. recs
// are the rows of both names, each as peerKeys orders them. On an error nothing
// is added.
func (d *DeviceMigration) move(policy TrustPolicy, recs []store.Record, b *store.Batch) error {
	from, err := parsePeer(d.From, recs[:2])
	if err != nil {
		return err
	}
	to, err := parsePeer(d.To, recs[2:])
	if err != nil {
		return err
	}
	if !recs[0].Found && !recs[1].Found {
		return nil
	}
	old, hasOld := from.knownKey()
	key, hasKey := to.knownKey()
	conflict := hasOld && hasKey && !old.Equal(key)
	if conflict && policy == TrustPinned {
		return &UntrustedIdentityError{Addr: d.To, Known: key, Offered: old}
	}
	d.IdentityConflict = conflict
	if hasOld && !hasKey {
		key = old
		to.identity.see(b, key)
	}
	if recs[1].Found {
		b.Delete(store.Identity(d.From.String()))
	}
	if from.session == nil {
		return nil
	}
	b.Delete(store.Session(d.From.String()))
	switch {
	case conflict:
		d.Session, d.Dropped = MigrationDrop, from.session.sessions()
		return nil
	case to.session == nil:
		d.Session = MigrationMoved
		to.session = from.session
	default:
		d.Session = MigrationMerged
		d.Dropped = to.session.absorb(from.session, key)
	}
	rec, err := to.session.AppendBinary(max(to.session.used, from.session.used).append(nil))
	if err != nil {
		return err
	}
	b.Put(store.Session(d.To.String()), rec)
	return nil
}

// knownKey returns the identity of an address: the one that was seen last, or
// else that of its session.
func (p *peer) knownKey() (key PublicKey, ok bool) {
	if p.identity.ok || p.session == nil {
		return p.identity.key, p.identity.ok
	}
	return p.session.RemoteIdentity()
}

// sessions returns the number of sessions of a record.
func (s *Session) sessions() int {
	n := len(s.archived)
	if s.current != nil {
		n++
	}
	return n
}

// moveSenderKey adds to a batch what moves a sender key of the device. recs are
// the rows of both names.
func (d *DeviceMigration) moveSenderKey(from, to store.Key, recs []store.Record, b *store.Batch) {
	if !recs[0].Found {
		return
	}
	k, err := ParseSenderKey(recs[0].Value)
	if err == nil && k.own() {
		return
	}
	target := new(SenderKey)
	if err == nil && recs[1].Found {
		target, err = ParseSenderKey(recs[1].Value)
	}
	if err == nil && target.own() {
		err = errors.New("signal: sender key of another device under our own name")
	}
	if err != nil {
		d.Err = errors.Join(d.Err, err)
		return
	}
	target.absorb(k)
	rec, _ := target.AppendBinary(max(target.used, k.used).append(nil)) // never fails
	b.Put(to, rec)
	b.Delete(from)
	d.SenderKeys++
}

// own reports whether a record has a key that we send with.
func (k *SenderKey) own() bool {
	return slices.ContainsFunc(k.states, func(st *senderKeyState) bool { return st.canSign })
}

// parseAddress reads the printed form of an address.
func parseAddress(s string) (Address, bool) {
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 {
		return Address{}, false
	}
	device, err := strconv.ParseUint(s[dot+1:], 10, 32)
	a := Address{Name: s[:dot], Device: uint32(device)}
	return a, err == nil && a.String() == s
}

// parseSenderKeyName reads the printed form of a name.
func parseSenderKeyName(s string) (n SenderKeyName, ok bool) {
	size, rest, ok := strings.Cut(s, ":")
	length, err := strconv.Atoi(size)
	if !ok || err != nil || length < 0 || length >= len(rest) || rest[length] != ':' {
		return n, false
	}
	n.Group = rest[:length]
	n.Sender, ok = parseAddress(rest[length+1:])
	return n, ok && n.String() == s
}
