package curve

import (
	"fmt"
	"sync/atomic"

	"github.com/sigcore/sigcore/internal/random"
)

// A PrivateKey is a clamped Curve25519 private key: it agrees by X25519 and
// signs by XEdDSA. It computes its public key and its signing state once, when
// they are first asked for, and is safe for concurrent use. It must not be
// copied.
type PrivateKey struct {
	k       [32]byte
	public  atomic.Pointer[[32]byte]
	signing atomic.Pointer[signingState]
}

// NewPrivateKey returns the key of the 32 bytes b, which it copies and clamps.
// Another length is an error that wraps ErrKeyLength.
func NewPrivateKey(b []byte) (*PrivateKey, error) {
	if len(b) != PrivateKeySize {
		return nil, fmt.Errorf("curve: private key of %d bytes: %w", len(b), ErrKeyLength)
	}
	p := &PrivateKey{k: [32]byte(b)}
	clamp(&p.k)
	return p, nil
}

// GenerateKey draws 32 bytes and returns the key of them. It fails only if the
// draw does.
func GenerateKey() (*PrivateKey, error) {
	var b [PrivateKeySize]byte
	if err := random.Read(b[:]); err != nil {
		return nil, fmt.Errorf("curve: generate key: %w", err)
	}
	return NewPrivateKey(b[:])
}

// Bytes returns a copy of the 32 clamped bytes of the key.
func (p *PrivateKey) Bytes() []byte {
	// Outlined so that the array is allocated in the caller.
	b := p.k
	return b[:]
}

// PublicKey returns the Montgomery u-coordinate of the public key. The first
// call costs a fixed-base multiplication. Constant time.
func (p *PrivateKey) PublicKey() [32]byte {
	if u := p.public.Load(); u != nil {
		return *u
	}
	u := new([32]byte)
	PublicKey(u, &p.k)
	// Callers that race compute and store the same bytes.
	p.public.Store(u)
	return *u
}

// Agree sets dst to the X25519 shared secret with the public key peer, as the
// function X25519 does: it never fails, and low order points give zeros. The
// arguments may overlap. Constant time.
func (p *PrivateKey) Agree(dst, peer *[32]byte) { montgomeryMult(dst, &p.k, peer) }
