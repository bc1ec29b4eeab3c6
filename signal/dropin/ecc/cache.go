package ecc

import (
	"crypto/subtle"
	"sync"

	"github.com/sigcore/sigcore/curve"
)

// Keys arrive as bytes with every call. What their first signature or
// verification computes is kept for the next ones.

const (
	maxSigners   = 64   // of some 200 bytes each
	maxVerifiers = 1024 // of 200 bytes, or 6 KiB once they have verified a few signatures
)

var (
	signers   signerCache
	verifiers verifierCache
)

// A signerCache keeps private keys. It is searched whole, by comparisons in
// constant time: which keys are in it shows, and nothing of their bytes.
type signerCache struct {
	mu    sync.Mutex
	bytes [maxSigners][32]byte
	keys  [maxSigners]*curve.PrivateKey
	next  int
}

func (c *signerCache) of(key *[32]byte) *curve.PrivateKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := -1
	for i := range c.bytes {
		match := subtle.ConstantTimeCompare(c.bytes[i][:], key[:])
		found = subtle.ConstantTimeSelect(match, i, found)
	}
	if found >= 0 && c.keys[found] != nil {
		return c.keys[found]
	}
	k, err := curve.NewPrivateKey(key[:])
	if err != nil {
		panic("ecc: private key of another length") // it has 32 bytes
	}
	c.bytes[c.next], c.keys[c.next] = *key, k
	c.next = (c.next + 1) % maxSigners
	return k
}

// A verifierCache keeps public keys, half of which make place when it is full.
type verifierCache struct {
	mu         sync.Mutex
	young, old map[[32]byte]*curve.VerificationKey
}

func (c *verifierCache) of(u *[32]byte) *curve.VerificationKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.young[*u]
	if k != nil {
		return k
	}
	if k = c.old[*u]; k == nil {
		k = curve.NewVerificationKey(u)
	}
	if c.young == nil || len(c.young) >= maxVerifiers/2 {
		c.young, c.old = make(map[[32]byte]*curve.VerificationKey, 16), c.young
	}
	c.young[*u] = k
	return k
}
