package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// Ciphertext is an encrypted message and its kind.
type Ciphertext struct {
	Type MessageType
	Body []byte
}

// Decrypted is what came of a message.
type Decrypted struct {
	Plaintext []byte

	// Identity is the identity key of the sender.
	Identity PublicKey

	// IdentityChanged is set if another identity key of the sender was known.
	// It is not set for messages of an archived session, nor for a
	// PreKeySignalMessage of a session that was there already.
	IdentityChanged bool

	// Change is that change, with both keys; nil if there was none.
	Change *IdentityChange

	// NewSession is set if the message set up a session.
	NewSession bool

	// ConsumedPreKey is set if the session used up the one-time prekey
	// PreKeyID, which is deleted.
	ConsumedPreKey bool
	PreKeyID       uint32
}

// peer is what an account knows about one address.
type peer struct {
	addr     Address
	row      *row     // of the session
	session  *Session // nil if there is no row
	identity knownIdentity
	starting bool  // initiateAll is about to start a session
	sending  bool  // encryptTo is about to encrypt
	err      error // of reading the rows
}

// peerKeys appends the rows of an address.
func peerKeys(keys []store.Key, addr Address) []store.Key {
	name := addr.String()
	return append(keys, store.Session(name), store.Identity(name))
}

// newPeer returns the peer of an address whose rows are those, in the order of
// peerKeys.
func newPeer(addr Address, rows []*row) (*peer, error) {
	p := new(peer)
	if err := p.set(addr, rows); err != nil {
		return nil, err
	}
	return p, nil
}

// set makes p the peer of an address, as newPeer does.
func (p *peer) set(addr Address, rows []*row) (err error) {
	*p = peer{addr: addr, row: rows[0], session: rows[0].session}
	if rows[0].err != nil {
		return rows[0].err
	}
	p.identity, err = parseKnownIdentity(addr, rows[1].record())
	return err
}

// moved says that the session is not what it was.
func (p *peer) moved() { p.row.setSession(p.session) }

// initiateAll starts the sessions of peers from bundles, in memory.
func (a *Account) initiateAll(peers []*peer, items []AddressedBundle, workers int, b putter) []BundleResult {
	out := make([]BundleResult, len(items))
	policy := a.policy()
	started := make([]Initiation, 0, len(items))
	at := make([]int, 0, len(items))
	finish := func() {
		initiateMany(&a.local, started, workers)
		for k, i := range at {
			p := peers[i]
			p.starting = false
			if out[i].Err = started[k].Err; out[i].Err != nil {
				continue
			}
			p.session = started[k].Session
			p.moved()
			out[i].Change = p.identity.see(b, items[i].Bundle.Identity)
			out[i].IdentityChanged = out[i].Change != nil
		}
		started, at = started[:0], at[:0]
	}
	for i, p := range peers {
		// What is known of an address may follow from an item before.
		if p.starting {
			finish()
		}
		if out[i].Err = p.err; p.err == nil {
			out[i].Err = p.identity.check(policy, items[i].Bundle.Identity)
		}
		if out[i].Err != nil {
			continue
		}
		s := p.session
		if s == nil {
			s = new(Session)
		}
		started, at = append(started, Initiation{Session: s, Bundle: items[i].Bundle}), append(at, i)
		p.starting = true
	}
	finish()
	return out
}

// check reports whether there is a session to send with, and a trusted identity.
func (p *peer) check(policy TrustPolicy) error {
	if p.err != nil {
		return p.err
	}
	if p.session == nil || !p.session.HasCurrent() {
		return ErrNoSession
	}
	remote, ok := p.session.RemoteIdentity()
	if !ok {
		return fmt.Errorf("signal: session without remote identity: %w", ErrCorruptRecord)
	}
	return p.identity.check(policy, remote)
}

// sessionKeys returns the locks of addresses.
func sessionKeys(addrs []Address) []store.Key {
	keys := make([]store.Key, len(addrs))
	for i, addr := range addrs {
		keys[i] = store.Session(addr.String())
	}
	return keys
}

// peersKeys returns the locks and the rows of addresses, of few of them in the
// memory of few.
func peersKeys(addrs []Address, few *[3]store.Key) (locked, rows []store.Key) {
	locked, rows = few[:0:1], few[1:1]
	if len(addrs) > 1 {
		keys := make([]store.Key, 3*len(addrs))
		locked, rows = keys[:0:len(addrs)], keys[len(addrs):len(addrs)]
	}
	for _, addr := range addrs {
		rows = peerKeys(rows, addr)
		locked = append(locked, rows[len(rows)-2])
	}
	return locked, rows
}

// encryptFew is what encrypting to a few addresses works with, in one piece of
// memory. The results are a part of it.
type encryptFew struct {
	out   [2]EncryptResult
	peer  [2]peer
	peers [2]*peer
	todo  [2]Encryption
	at    [2]int
}

// done lets go of everything but the results.
func (f *encryptFew) done() { *f = encryptFew{out: f.out} }

// newPeers returns the peers of addresses whose rows are those. An address that
// is named twice has one peer. A row that does not parse is an error of its peer
// alone. They are in few if it is not nil and has the room.
func newPeers(addrs []Address, rows []*row, few *encryptFew) []*peer {
	var out []*peer
	if few != nil && len(addrs) <= len(few.peers) {
		out = few.peers[:len(addrs)]
	} else {
		few, out = nil, make([]*peer, len(addrs))
	}
	var seen map[Address]*peer
	if len(addrs) > 1 {
		seen = make(map[Address]*peer, len(addrs))
	}
	for i, addr := range addrs {
		p := seen[addr]
		if p == nil {
			if few != nil {
				p = &few.peer[i]
			} else {
				p = new(peer)
			}
			if err := p.set(addr, rows[2*i:2*i+2]); err != nil {
				*p = peer{addr: addr, row: rows[2*i], err: err}
			}
			if seen != nil {
				seen[addr] = p
			}
		}
		out[i] = p
	}
	return out
}

// ProcessBundle starts a session with addr from a published bundle and makes it
// the current one; what was current is archived. It reports whether another
// identity of addr was known. It draws the base key, 32 bytes, then the
// ratchet key, 32 bytes. ErrBadSignature and *UntrustedIdentityError refuse the
// bundle, and then nothing is drawn.
func (a *Account) ProcessBundle(ctx context.Context, addr Address, bundle *Bundle) (identityChanged bool, err error) {
	res, err := a.ProcessBundles(ctx, []AddressedBundle{{addr, bundle}})
	if err != nil {
		return false, err
	}
	return res[0].IdentityChanged, res[0].Err
}

// AddressedBundle is a bundle and the address that it is of.
type AddressedBundle struct {
	Addr   Address
	Bundle *Bundle
}

// BundleResult is what came of one bundle.
type BundleResult struct {
	IdentityChanged bool            // another identity of the address was known
	Change          *IdentityChange // with both keys; nil if there was none
	Err             error
}

// ProcessBundles is ProcessBundle for many addresses, with one read and one
// write. The results are in the order of items, draws too. An error of the
// whole means that no session was set up.
func (a *Account) ProcessBundles(ctx context.Context, items []AddressedBundle) ([]BundleResult, error) {
	addrs := make([]Address, len(items))
	for i := range items {
		addrs[i] = items[i].Addr
	}
	var out []BundleResult
	var few [3]store.Key
	locked, rows := peersKeys(addrs, &few)
	err := a.run(ctx, "session", locked, rows, func(t *txn) error {
		out = a.initiateAll(newPeers(addrs, t.asked, nil), items, workerCount(0), t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Encrypt encrypts plaintext to addr and returns it once the session that it
// advanced is written. The plaintext is encrypted as it is; padding is the
// caller's. Errors: ErrNoSession, *UntrustedIdentityError.
func (a *Account) Encrypt(ctx context.Context, addr Address, plaintext []byte) (Ciphertext, error) {
	res, err := a.EncryptMany(ctx, []Outgoing{{addr, plaintext}})
	if err != nil {
		return Ciphertext{}, err
	}
	return res[0].Ciphertext, res[0].Err
}

// Outgoing is a plaintext and whom it is for.
type Outgoing struct {
	To        Address
	Plaintext []byte
}

// EncryptResult is what came of one Outgoing: a ciphertext, or the reason why
// there is none.
type EncryptResult struct {
	Ciphertext

	// Change is set if the identity of the session is not the one that was seen
	// last.
	Change *IdentityChange

	Err error
}

// EncryptMany is Encrypt for many messages, with one read and one write. The
// results are in the order of items; an address may be named more than once. A
// message that could not be encrypted has changed nothing and does not hinder
// the others. An error of the whole means that there is no ciphertext at all.
func (a *Account) EncryptMany(ctx context.Context, items []Outgoing) ([]EncryptResult, error) {
	out, _, err := a.EncryptManyFrom(ctx, items, nil)
	return out, err
}

// EncryptManyFrom is EncryptMany that first starts the sessions that are
// missing, in the same read and the same write. With nil it is EncryptMany. The
// second result is what came of each bundle of the start, in their order.
func (a *Account) EncryptManyFrom(ctx context.Context, items []Outgoing, start *Start) ([]EncryptResult, []BundleResult, error) {
	var fewAddrs [2]Address
	addrs := fewAddrs[:0]
	if len(items) > len(fewAddrs) {
		addrs = make([]Address, 0, len(items))
	}
	for i := range items {
		addrs = append(addrs, items[i].To)
	}
	var (
		out     []EncryptResult
		started []BundleResult
		few     [3]store.Key
	)
	locked, rows := peersKeys(addrs, &few)
	err := a.run(ctx, "session", locked, rows, func(t *txn) error {
		var work *encryptFew
		if len(items) <= len(work.out) {
			work = new(encryptFew)
			defer work.done()
		}
		peers := newPeers(addrs, t.asked, work)
		started = a.startMissing(peers, start, t)
		out = a.encryptTo(peers, items, start.workers(), t, work)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return out, started, nil
}

// encryptTo encrypts items to their peers, in memory. The bodies share memory.
// The results are in few if it is not nil and has the room.
func (a *Account) encryptTo(peers []*peer, items []Outgoing, workers int, b putter, few *encryptFew) []EncryptResult {
	var (
		out  []EncryptResult
		todo []Encryption
		at   []int
	)
	if few != nil && len(items) <= len(few.out) {
		out, todo, at = few.out[:len(items):len(items)], few.todo[:0], few.at[:0]
	} else {
		out, todo, at = make([]EncryptResult, len(items)), make([]Encryption, 0, len(items)), make([]int, 0, len(items))
	}
	policy := a.policy()
	for i, p := range peers {
		if out[i].Err = p.check(policy); out[i].Err == nil {
			if p.sending {
				workers = 1 // the second message of a session needs the first
			}
			p.sending = true
			todo, at = append(todo, Encryption{Session: p.session, Plaintext: items[i].Plaintext}), append(at, i)
		}
	}
	encryptMany(todo, workers)
	for k, i := range at {
		c := &todo[k]
		p := peers[i]
		p.sending = false
		if out[i].Err = c.Err; c.Err != nil {
			continue
		}
		out[i].Ciphertext = Ciphertext{Type: c.Type, Body: c.Body}
		p.moved()
		p.row.sent = true
		remote, _ := p.session.RemoteIdentity()
		out[i].Change = p.identity.see(b, remote)
	}
	return out
}

// Decrypt decrypts a message of addr and returns the plaintext, with its
// padding, once the session is written and the one-time prekey that a new
// session used up is deleted, in one transaction. On any error nothing is
// changed and nothing deleted, and the message can be given again.
//
// Errors: ErrNoSession; ErrBadMAC; a *DuplicateError; a
// *RolledBackError; a *NoMessageKeyError; a *SkipError; a
// *VersionError; ErrMalformed and the key errors; a *PreKeyIDError;
// *UntrustedIdentityError.
func (a *Account) Decrypt(ctx context.Context, addr Address, typ MessageType, body []byte) (*Decrypted, error) {
	switch typ {
	case TypeSignal:
		return a.decryptSignal(ctx, addr, body)
	case TypePreKey:
		return a.decryptPreKey(ctx, addr, body)
	}
	return nil, fmt.Errorf("signal: message of type %d: %w", typ, ErrMalformed)
}

func (a *Account) decryptSignal(ctx context.Context, addr Address, body []byte) (*Decrypted, error) {
	// What does not even parse is refused before the backend is asked.
	if _, err := ParseSignalMessage(body); err != nil {
		return nil, err
	}
	var out *Decrypted
	err := a.run(ctx, "session", sessionKeys([]Address{addr}), peerKeys(nil, addr), func(t *txn) error {
		p, err := newPeer(addr, t.asked)
		if err != nil {
			return err
		}
		if p.session == nil {
			return ErrNoSession
		}
		policy := a.policy()
		plaintext, recv, err := p.session.Decrypt(nil, body, func(identity PublicKey) error {
			return p.identity.check(policy, identity)
		})
		if err != nil {
			return err
		}
		out = t.received(p, plaintext, &recv, !recv.Promoted)
		return nil
	})
	return out.unless(err)
}

func (a *Account) decryptPreKey(ctx context.Context, addr Address, body []byte) (*Decrypted, error) {
	m, err := ParsePreKeySignalMessage(body)
	if err != nil {
		return nil, err
	}
	locked := []store.Key{store.Session(addr.String())}
	prekeys := []store.Key{store.SignedPreKey(m.SignedPreKeyID)}
	if m.HasPreKeyID {
		// Two messages that name one prekey, of whatever addresses, must not
		// both find it.
		locked = append(locked, store.PreKey(m.PreKeyID))
		prekeys = append(prekeys, store.PreKey(m.PreKeyID))
	}
	rows := peerKeys(nil, addr)
	if a.cache == nil {
		rows = append(rows, prekeys...) // in the same read
	}
	var out *Decrypted
	err = a.run(ctx, "session", locked, rows, func(t *txn) error {
		p, err := newPeer(addr, t.asked)
		if err != nil {
			return err
		}
		if err := p.identity.check(a.policy(), m.Identity); err != nil {
			return err
		}
		if p.session == nil {
			p.session = new(Session)
		}
		r := Responder{Local: a.local}
		if !p.session.Matches(&m) {
			if err := t.load(ctx, prekeys...); err != nil {
				return err
			}
			if r.SignedPreKey, err = parseSignedPreKeyRow(t.find(prekeys[0]).record(), m.SignedPreKeyID); err != nil {
				return err
			}
			if m.HasPreKeyID {
				if r.PreKey, err = parsePreKeyRow(t.find(prekeys[1]).record(), m.PreKeyID); err != nil {
					return err
				}
			}
		}
		plaintext, recv, err := p.session.DecryptPreKey(nil, &m, &r)
		if err != nil {
			return err
		}
		out = t.received(p, plaintext, &recv, recv.NewSession)
		return nil
	})
	return out.unless(err)
}

// received takes in what a decrypted message has changed. report says whether a
// change of the identity is one to report.
func (t *txn) received(p *peer, plaintext []byte, recv *Received, report bool) *Decrypted {
	p.moved()
	change := p.identity.see(t, recv.Identity)
	if !report {
		change = nil
	}
	if recv.ConsumedPreKey {
		t.Delete(store.PreKey(recv.PreKeyID))
		t.staged[len(t.staged)-1].with = p.row
	}
	return &Decrypted{
		Plaintext:       plaintext,
		Identity:        recv.Identity,
		IdentityChanged: change != nil,
		Change:          change,
		NewSession:      recv.NewSession,
		ConsumedPreKey:  recv.ConsumedPreKey,
		PreKeyID:        recv.PreKeyID,
	}
}

// unless returns d unless there is an error, and then wipes the plaintext.
func (d *Decrypted) unless(err error) (*Decrypted, error) {
	if err == nil {
		return d, nil
	}
	if d != nil {
		clear(d.Plaintext)
	}
	return nil, err
}
