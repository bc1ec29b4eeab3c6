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
	session  *Session // nil if there is no row
	identity knownIdentity
	dirty    bool  // the session is to be written
	starting bool  // initiateAll is about to start a session
	sending  bool  // encryptTo is about to encrypt
	err      error // of reading the rows
}

// peerKeys appends the rows of an address.
func peerKeys(keys []store.Key, addr Address) []store.Key {
	name := addr.String()
	return append(keys, store.Session(name), store.Identity(name))
}

// parsePeer reads the rows of an address, as peerKeys orders them.
func parsePeer(addr Address, recs []store.Record) (*peer, error) {
	p := &peer{addr: addr}
	var err error
	if p.identity, err = parseKnownIdentity(addr, recs[1]); err != nil {
		return nil, err
	}
	if recs[0].Found {
		if p.session, err = ParseSession(recs[0].Value); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// put adds the session to a batch if it has changed.
func (p *peer) put(b *store.Batch) error {
	if !p.dirty {
		return nil
	}
	rec, err := p.session.AppendBinary(nil)
	if err != nil {
		return err
	}
	b.Put(store.Session(p.addr.String()), rec)
	p.dirty = false
	return nil
}

// initiateAll starts the sessions of peers from bundles, in memory.
func (a *Account) initiateAll(peers []*peer, items []AddressedBundle, workers int, b *store.Batch) []BundleResult {
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
			p.session, p.dirty = started[k].Session, true
			out[i].IdentityChanged = p.identity.see(b, items[i].Bundle.Identity)
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

// lockSessions takes the locks of addresses.
func (a *Account) lockSessions(ctx context.Context, addrs ...Address) (*heldLocks, error) {
	keys := make([]store.Key, len(addrs))
	for i, addr := range addrs {
		keys[i] = store.Session(addr.String())
	}
	return a.lock(ctx, keys...)
}

func (a *Account) lock(ctx context.Context, keys ...store.Key) (*heldLocks, error) {
	locks, err := a.locks.acquire(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("signal: lock session: %w", err)
	}
	return locks, nil
}

// peers loads the rows of addresses in one read.
func (a *Account) peers(ctx context.Context, addrs []Address) ([]*peer, error) {
	keys := make([]store.Key, 0, 2*len(addrs))
	for _, addr := range addrs {
		keys = peerKeys(keys, addr)
	}
	recs, err := a.load(ctx, "sessions", keys...)
	if err != nil {
		return nil, err
	}
	return parsePeers(addrs, recs), nil
}

// parsePeers reads the rows of addresses. An address that is named twice has
// one peer. A row that does not parse is an error of its peer alone.
func parsePeers(addrs []Address, recs []store.Record) []*peer {
	out := make([]*peer, len(addrs))
	var seen map[Address]*peer
	if len(addrs) > 1 {
		seen = make(map[Address]*peer, len(addrs))
	}
	for i, addr := range addrs {
		p := seen[addr]
		if p == nil {
			var err error
			if p, err = parsePeer(addr, recs[2*i:2*i+2]); err != nil {
				p = &peer{addr: addr, err: err}
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
	IdentityChanged bool
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
	locks, err := a.lockSessions(ctx, addrs...)
	if err != nil {
		return nil, err
	}
	defer locks.release()
	peers, err := a.peers(ctx, addrs)
	if err != nil {
		return nil, err
	}
	var b store.Batch
	out := a.initiateAll(peers, items, workerCount(0), &b)
	if err := putPeers(&b, peers); err != nil {
		return nil, err
	}
	if err := a.save(ctx, "sessions", &b); err != nil {
		return nil, err
	}
	return out, nil
}

// putPeers adds the sessions that have changed to a batch.
func putPeers(b *store.Batch, peers []*peer) error {
	for _, p := range peers {
		if err := p.put(b); err != nil {
			return err
		}
	}
	return nil
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
	addrs := make([]Address, len(items))
	for i := range items {
		addrs[i] = items[i].To
	}
	locks, err := a.lockSessions(ctx, addrs...)
	if err != nil {
		return nil, nil, err
	}
	defer locks.release()
	peers, err := a.peers(ctx, addrs)
	if err != nil {
		return nil, nil, err
	}
	var b store.Batch
	started := a.startMissing(peers, start, &b)
	out := a.encryptTo(peers, items, start.workers(), &b)
	if err := putPeers(&b, peers); err != nil {
		return nil, nil, err
	}
	if err := a.save(ctx, "sessions", &b); err != nil {
		return nil, nil, err
	}
	return out, started, nil
}

// encryptTo encrypts items to their peers, in memory. The bodies share memory.
func (a *Account) encryptTo(peers []*peer, items []Outgoing, workers int, b *store.Batch) []EncryptResult {
	out := make([]EncryptResult, len(items))
	policy := a.policy()
	todo := make([]Encryption, 0, len(items))
	at := make([]int, 0, len(items))
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
		p.dirty = true
		remote, _ := p.session.RemoteIdentity()
		p.identity.see(b, remote)
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
// *VersionError; ErrMalformed and the key errors; ErrPreKeyID and
// ErrSignedPreKeyID; *UntrustedIdentityError.
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
	locks, err := a.lockSessions(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer locks.release()
	recs, err := a.load(ctx, "session", peerKeys(nil, addr)...)
	if err != nil {
		return nil, err
	}
	p, err := parsePeer(addr, recs)
	if err != nil {
		return nil, err
	}
	if p.session == nil {
		return nil, ErrNoSession
	}
	policy := a.policy()
	plaintext, recv, err := p.session.Decrypt(nil, body, func(identity PublicKey) error {
		return p.identity.check(policy, identity)
	})
	if err != nil {
		return nil, err
	}
	return a.commit(ctx, p, plaintext, &recv, !recv.Promoted)
}

func (a *Account) decryptPreKey(ctx context.Context, addr Address, body []byte) (*Decrypted, error) {
	m, err := ParsePreKeySignalMessage(body)
	if err != nil {
		return nil, err
	}
	locked := []store.Key{store.Session(addr.String())}
	rows := append(peerKeys(nil, addr), store.SignedPreKey(m.SignedPreKeyID))
	if m.HasPreKeyID {
		// Two messages that name one prekey, of whatever addresses, must not
		// both find it.
		locked = append(locked, store.PreKey(m.PreKeyID))
		rows = append(rows, store.PreKey(m.PreKeyID))
	}
	locks, err := a.lock(ctx, locked...)
	if err != nil {
		return nil, err
	}
	defer locks.release()
	recs, err := a.load(ctx, "session", rows...)
	if err != nil {
		return nil, err
	}
	p, err := parsePeer(addr, recs)
	if err != nil {
		return nil, err
	}
	if err := p.identity.check(a.policy(), m.Identity); err != nil {
		return nil, err
	}
	if p.session == nil {
		p.session = new(Session)
	}
	r := Responder{Local: a.local}
	if !p.session.Matches(&m) {
		if r.SignedPreKey, err = parseSignedPreKeyRow(recs[2], m.SignedPreKeyID); err != nil {
			return nil, err
		}
		if m.HasPreKeyID {
			if r.PreKey, err = parsePreKeyRow(recs[3], m.PreKeyID); err != nil {
				return nil, err
			}
		}
	}
	plaintext, recv, err := p.session.DecryptPreKey(nil, &m, &r)
	if err != nil {
		return nil, err
	}
	return a.commit(ctx, p, plaintext, &recv, recv.NewSession)
}

// commit writes what a decrypted message changed. report says whether a change
// of the identity is one to report.
func (a *Account) commit(ctx context.Context, p *peer, plaintext []byte, recv *Received, report bool) (*Decrypted, error) {
	var b store.Batch
	p.dirty = true
	if err := p.put(&b); err != nil {
		return nil, err
	}
	changed := p.identity.see(&b, recv.Identity)
	if recv.ConsumedPreKey {
		b.Delete(store.PreKey(recv.PreKeyID))
	}
	if err := a.save(ctx, "session", &b); err != nil {
		clear(plaintext)
		return nil, err
	}
	return &Decrypted{
		Plaintext:       plaintext,
		Identity:        recv.Identity,
		IdentityChanged: changed && report,
		NewSession:      recv.NewSession,
		ConsumedPreKey:  recv.ConsumedPreKey,
		PreKeyID:        recv.PreKeyID,
	}, nil
}
