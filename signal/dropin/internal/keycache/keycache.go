// Package keycache keeps what the first use of a key has computed. Keys arrive as
// bytes with every call.
package keycache

import (
	"crypto/subtle"
	"sync"

	"github.com/sigcore/sigcore/curve"
)

const (
	maxPrivate = 64   // of some 200 bytes each
	maxPublic  = 1024 // of 200 bytes, or 6 KiB once they have verified a few signatures
)

var (
	private privateKeys
	public  publicKeys
)

// Private returns the key with these bytes. Constant time but for which call has
// the same key again.
func Private(key *[32]byte) *curve.PrivateKey { return private.of(key) }

// Public returns the verification key with these bytes.
func Public(u *[32]byte) *curve.VerificationKey { return public.of(u) }

// privateKeys keeps private keys. It is searched whole, by comparisons in
// constant time: which keys are in it shows, and nothing of their bytes.
type privateKeys struct {
	mu    sync.Mutex
	bytes [maxPrivate][32]byte
	keys  [maxPrivate]*curve.PrivateKey
	next  int
}

func (c *privateKeys) of(key *[32]byte) *curve.PrivateKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := -1
	for i := range c.keys {
		if c.keys[i] == nil {
			break
		}
		match := subtle.ConstantTimeCompare(c.bytes[i][:], key[:])
		found = subtle.ConstantTimeSelect(match, i, found)
	}
	if found >= 0 {
		return c.keys[found]
	}
	k, err := curve.NewPrivateKey(key[:])
	if err != nil {
		panic("keycache: private key of another length") // it has 32 bytes
	}
	c.bytes[c.next], c.keys[c.next] = *key, k
	c.next = (c.next + 1) % maxPrivate
	return k
}

// publicKeys keeps public keys, half of which make place when it is full.
type publicKeys struct {
	mu         sync.Mutex
	young, old map[[32]byte]*curve.VerificationKey
}

func (c *publicKeys) of(u *[32]byte) *curve.VerificationKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.young[*u]
	if k != nil {
		return k
	}
	if k = c.old[*u]; k == nil {
		k = curve.NewVerificationKey(u)
	}
	if c.young == nil || len(c.young) >= maxPublic/2 {
		c.young, c.old = make(map[[32]byte]*curve.VerificationKey, 16), c.young
	}
	c.young[*u] = k
	return k
}
