package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// TrustPolicy says what an account does when the identity key of an address is
// not the one that it saw last.
type TrustPolicy uint32

const (
	// TrustAlways takes the new identity and reports the change. It is what
	// WhatsApp's clients do.
	TrustAlways TrustPolicy = iota

	// TrustPinned refuses the new identity with an *UntrustedIdentityError,
	// until SetIdentity says otherwise. The first identity of an address is
	// taken.
	TrustPinned
)

// IdentityChange says that an address has another identity than the one that was
// seen last. It names a person: keep it out of logs.
type IdentityChange struct {
	Addr Address
	Old  PublicKey
	New  PublicKey
}

// SetTrust sets the policy, for operations that begin after it. It is not
// stored: an account opens with TrustAlways.
func (a *Account) SetTrust(p TrustPolicy) { a.trust.Store(uint32(p)) }

// RemoteIdentity returns the identity key that was last seen of an address, and
// whether one was.
func (a *Account) RemoteIdentity(ctx context.Context, addr Address) (key PublicKey, ok bool, err error) {
	recs, err := a.load(ctx, "identity", store.Identity(addr.String()))
	if err != nil {
		return key, false, err
	}
	k, err := parseKnownIdentity(addr, recs[0])
	return k.key, k.ok, err
}

// SetIdentity makes key the identity of an address, as if it had been seen.
func (a *Account) SetIdentity(ctx context.Context, addr Address, key PublicKey) error {
	row := store.Identity(addr.String())
	return a.update(ctx, "identity", nil, []store.Key{row}, func(_ []store.Record, b *store.Batch) error {
		b.Put(row, key[:])
		return nil
	})
}

// knownIdentity is the identity row of an address.
type knownIdentity struct {
	addr Address
	key  PublicKey
	ok   bool // there is one
}

// parseKnownIdentity reads an identity row: the 32 bytes of the key.
func parseKnownIdentity(addr Address, r store.Record) (knownIdentity, error) {
	k := knownIdentity{addr: addr}
	if !r.Found {
		return k, nil
	}
	if len(r.Value) != len(k.key) {
		return k, fmt.Errorf("signal: identity of %d bytes: %w", len(r.Value), ErrCorruptRecord)
	}
	copy(k.key[:], r.Value)
	k.ok = true
	return k, nil
}

// is reports whether key is the known identity.
func (k *knownIdentity) is(key PublicKey) bool { return k.ok && k.key.Equal(key) }

// check asks the policy about the use of key.
func (k *knownIdentity) check(p TrustPolicy, key PublicKey) error {
	if p == TrustPinned && k.ok && !k.key.Equal(key) {
		return &UntrustedIdentityError{Addr: k.addr, Known: k.key, Offered: key}
	}
	return nil
}

// putter is where raw records are stored.
type putter interface {
	Put(k store.Key, value []byte)
}

// see records in b that key was seen. If another key was known before, it returns
// the change.
func (k *knownIdentity) see(b putter, key PublicKey) *IdentityChange {
	if k.is(key) {
		return nil
	}
	var change *IdentityChange
	if k.ok {
		change = &IdentityChange{Addr: k.addr, Old: k.key, New: key}
	}
	k.key, k.ok = key, true
	b.Put(store.Identity(k.addr.String()), append([]byte(nil), key[:]...)) // so that key stays on the stack
	return change
}

func (a *Account) policy() TrustPolicy { return TrustPolicy(a.trust.Load()) }
