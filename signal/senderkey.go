package signal

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/internal/aescbc"
	"github.com/sigcore/sigcore/internal/kdf"
	"github.com/sigcore/sigcore/internal/random"
)

// A SenderKey is the record of one sender in one group: its keys, the current
// one first. For a group of ours it holds the key that we send with. The zero
// value is an empty record. It prints as a placeholder.
type SenderKey struct {
	states []*senderKeyState
	lease  lease
	parsed bool // from a record that there was
	used   day  // when the row was last written
}

// A senderKeyState is one key of a sender: a chain and the key that signs.
type senderKeyState struct {
	id      uint32
	chain   chainKey
	public  PublicKey
	private PrivateKey // zero unless canSign
	canSign bool
	skipped skippedKeys // oldest first
	used    usedCounters

	signer   *curve.PrivateKey      // of private, made at the first use
	verifier *curve.VerificationKey // of public, made at the first use
}

// Distribution says what processing a distribution message did.
type Distribution uint8

// The outcomes of [SenderKey.Process] and [Account.ProcessSenderKey].
const (
	DistributionNew      Distribution = iota // the key is new and current
	DistributionKnown                        // the key was known: kept as it was, and current
	DistributionConflict                     // the key is new and current, and replaced one of the same id
)

// String returns new, known or conflict.
func (d Distribution) String() string {
	switch d {
	case DistributionNew:
		return "new"
	case DistributionKnown:
		return "known"
	case DistributionConflict:
		return "conflict"
	}
	return fmt.Sprintf("Distribution(%d)", uint8(d))
}

// Err returns nil, ErrAlreadyKnown or ErrConflict, for callers to whom that is
// a failure.
func (d Distribution) Err() error {
	switch d {
	case DistributionKnown:
		return ErrAlreadyKnown
	case DistributionConflict:
		return ErrConflict
	}
	return nil
}

// Create makes a key of our own if there is no record yet. It draws the id, 4
// bytes, the chain key, 32 bytes, and the signing key, 32 bytes. The error wraps
// ErrCorruptRecord if there was a record without a key: what it held is lost,
// and only Rotate may take its place.
func (k *SenderKey) Create() error {
	switch {
	case len(k.states) > 0:
		return nil
	case k.parsed:
		return fmt.Errorf("signal: stored sender key without a key: %w", ErrCorruptRecord)
	}
	return k.Rotate()
}

// Rotate replaces all keys by a fresh one of our own, which has to be
// distributed to every member. It draws as Create does; on an error the record
// is unchanged.
func (k *SenderKey) Rotate() error {
	st := &senderKeyState{canSign: true}
	var id [4]byte
	if err := random.Read(id[:]); err != nil {
		return err
	}
	// 31 bits, because some peers keep ids as signed numbers.
	st.id = binary.LittleEndian.Uint32(id[:]) >> 1
	if err := random.Read(st.chain.key[:]); err != nil {
		return err
	}
	if err := generatePrivateKey(&st.private); err != nil {
		return err
	}
	signer, err := curve.NewPrivateKey(st.private[:])
	if err != nil {
		return err
	}
	st.signer, st.public = signer, signer.PublicKey()
	k.states = []*senderKeyState{st}
	k.lease.ceiling = 0
	return nil
}

// NeedsRotation reports whether the current key has reached RotationThreshold.
func (k *SenderKey) NeedsRotation() bool { return k.Iteration() >= RotationThreshold }

// Distribution returns the distribution message of the current key at its
// current iteration: who gets it reads from there on. ErrNoSenderKey: there is
// no key.
func (k *SenderKey) Distribution() (SenderKeyDistributionMessage, error) {
	if len(k.states) == 0 {
		return SenderKeyDistributionMessage{}, ErrNoSenderKey
	}
	st := k.states[0]
	return SenderKeyDistributionMessage{
		KeyID:      st.id,
		Iteration:  st.chain.index,
		ChainKey:   st.chain.key,
		SigningKey: st.public,
	}, nil
}

// AppendDistribution appends the wire form of Distribution.
func (k *SenderKey) AppendDistribution(dst []byte) ([]byte, error) {
	m, err := k.Distribution()
	if err != nil {
		return nil, err
	}
	return m.AppendBinary(dst)
}

// Process takes in the key of a [SenderKeyDistributionMessage] of the sender,
// and makes it the current one. A key that is known, of the same id and
// signing key, is kept as it is: never set back, so that nothing is decrypted
// twice. One of the same id and another signing key is replaced. The errors are
// those of [ParseSenderKeyDistributionMessage]; the record is then unchanged.
func (k *SenderKey) Process(message []byte) (Distribution, error) {
	var m SenderKeyDistributionMessage
	if err := m.parse(message); err != nil {
		return 0, err
	}
	defer clear(m.ChainKey[:])
	outcome := DistributionNew
	for i, st := range k.states {
		if st.id == m.KeyID && st.public == m.SigningKey {
			copy(k.states[1:i+1], k.states[:i])
			k.states[0] = st
			return DistributionKnown, nil
		}
	}
	k.states = slices.DeleteFunc(k.states, func(st *senderKeyState) bool {
		if st.id != m.KeyID {
			return false
		}
		outcome = DistributionConflict
		return true
	})
	if n := len(k.states); n >= MaxSenderKeyStates {
		k.states = slices.Delete(k.states, MaxSenderKeyStates-1, n)
	}
	k.states = slices.Insert(k.states, 0, &senderKeyState{
		id:      m.KeyID,
		chain:   chainKey{key: m.ChainKey, index: m.Iteration},
		public:  m.SigningKey,
		skipped: skippedKeys{floor: m.Iteration},
	})
	k.lease.ceiling = 0
	return outcome, nil
}

// groupKeys are the keys of one group message.
type groupKeys struct {
	iv     [16]byte
	cipher [32]byte
}

var groupLabel = kdf.NewLabel("WhisperGroup")

func (g *groupKeys) derive(seed *[32]byte) {
	var okm [64]byte
	groupLabel.SeedKeys64(&okm, seed)
	g.set(&okm)
	clear(okm[:])
}

func (g *groupKeys) set(okm *[64]byte) {
	g.iv, g.cipher = [16]byte(okm[:16]), [32]byte(okm[16:48])
}

// deriveGroupTwo is derive of two.
func deriveGroupTwo(g0, g1 *groupKeys, seed0, seed1 *[32]byte) {
	var okm [2][64]byte
	groupLabel.SeedKeys64Pair(&okm[0], &okm[1], seed0, seed1)
	g0.set(&okm[0])
	g1.set(&okm[1])
	okm = [2][64]byte{}
}

func (g *groupKeys) wipe() { *g = groupKeys{} }

// Encrypt appends the next SenderKeyMessage to dst. dst's capacity must not
// overlap plaintext. It draws 64 bytes for the signature.
//
// The error is ErrNoSenderKey if there is no key, ErrCannotSign if it is not
// ours, or ErrChainEnd. On any error the record is unchanged.
func (k *SenderKey) Encrypt(dst, plaintext []byte) ([]byte, error) {
	if len(k.states) == 0 {
		return nil, ErrNoSenderKey
	}
	st := k.states[0]
	if !st.canSign {
		return nil, ErrCannotSign
	}
	if st.signer == nil {
		signer, err := curve.NewPrivateKey(st.private[:])
		if err != nil {
			return nil, err
		}
		st.signer = signer
	}
	next := st.chain
	var seed [32]byte
	if err := next.step(&seed); err != nil {
		return nil, err
	}
	var z [64]byte
	if err := random.Read(z[:]); err != nil {
		return nil, err
	}
	var keys groupKeys
	keys.derive(&seed)
	clear(seed[:])

	n := paddedSize(len(plaintext))
	dst = slices.Grow(dst, senderHeaderSize(st.id, st.chain.index, n)+n+SignatureSize)
	start := len(dst)
	dst = appendSenderHeader(dst, st.id, st.chain.index, n)
	text := len(dst)
	dst = appendPadded(dst, plaintext)
	aescbc.Encrypt(dst[text:], &keys.cipher, &keys.iv)
	keys.wipe()
	sig := st.signer.SignWithRandom(&z, dst[start:])
	clear(z[:])
	st.chain = next
	return append(dst, sig[:]...), nil
}

// Decrypt appends the plaintext of a SenderKeyMessage to dst. dst's capacity
// must not overlap message. The signature is checked, over the bytes received,
// before anything is derived.
//
// The error is ErrNoSenderKey if no key has the message's id, ErrBadSignature,
// a *DuplicateError, a *RolledBackError, a *NoMessageKeyError, a *SkipError, or
// wraps ErrMalformed, also for an authentic message with a bad length or padding.
// On any error the record is unchanged.
func (k *SenderKey) Decrypt(dst, message []byte) ([]byte, error) {
	var o groupOpening
	if err := o.find(k, message); err != nil {
		return nil, err
	}
	if !o.st.verifier.Verify(o.m.signed, o.m.Signature[:]) {
		return nil, ErrBadSignature
	}
	return o.decrypt(dst)
}

// A groupOpening is a group message on its way in. It changes nothing before
// commit.
type groupOpening struct {
	m  SenderKeyMessage
	st *senderKeyState

	stored  int          // position of the skipped key that was used, or -1
	next    chainKey     // the chain after the message
	skipped []skippedKey // keys to keep, of messages that were passed
	seed    [32]byte
	keys    groupKeys
}

// find reads the message and looks for its key, whose verifier it makes.
func (o *groupOpening) find(k *SenderKey, message []byte) error {
	if err := o.m.parse(message); err != nil {
		return err
	}
	i := slices.IndexFunc(k.states, func(st *senderKeyState) bool { return st.id == o.m.KeyID })
	if i < 0 {
		return ErrNoSenderKey
	}
	o.st = k.states[i]
	if o.st.verifier == nil {
		o.st.verifier = curve.NewVerificationKey((*[32]byte)(&o.st.public))
	}
	return nil
}

// decrypt decrypts a message whose signature holds, and commits it.
func (o *groupOpening) decrypt(dst []byte) ([]byte, error) {
	defer o.wipe()
	if err := o.selectSeed(o.st.chain); err != nil {
		return nil, err
	}
	o.keys.derive(&o.seed)
	return o.open(dst)
}

// open decrypts with the keys of the message, and commits it.
func (o *groupOpening) open(dst []byte) ([]byte, error) {
	plain, err := appendCBCPlain(dst, &o.keys.cipher, &o.keys.iv, o.m.Ciphertext)
	if err != nil {
		return nil, err
	}
	o.commit()
	return plain, nil
}

// selectSeed finds or derives the seed of the message, for a key at chain.
func (o *groupOpening) selectSeed(chain chainKey) error {
	st := o.st
	o.stored, o.next = -1, chain
	if o.m.Iteration < chain.index {
		var ok bool
		if o.stored, ok = st.skipped.find(o.m.Iteration); !ok {
			return st.used.refused(&st.skipped, st.chain.index, o.m.Iteration, markOf(o.m.Signature[:]))
		}
		o.seed = st.skipped.at(o.stored).seed
		return nil
	}
	if o.m.Iteration-o.next.index > MaxForwardJump {
		return &SkipError{Next: o.next.index, Counter: o.m.Iteration, Max: MaxForwardJump}
	}
	var err error
	o.skipped, err = o.next.advance(o.m.Iteration, &o.seed, o.skipped[:0])
	return err
}

func (o *groupOpening) commit() {
	st, mark := o.st, markOf(o.m.Signature[:])
	if o.stored >= 0 {
		st.skipped.remove(o.stored)
		st.used.use(st.chain.index, o.m.Iteration, mark)
		return
	}
	st.used.pass(st.chain.index, o.m.Iteration, mark)
	st.skipped.pass(st.chain.index, o.m.Iteration, o.skipped)
	st.chain = o.next
}

func (o *groupOpening) wipe() {
	clear(o.skipped)
	o.next, o.seed = chainKey{}, [32]byte{}
	o.keys.wipe()
}

// Empty reports whether the record has no key.
func (k *SenderKey) Empty() bool { return len(k.states) == 0 }

// States returns the number of keys.
func (k *SenderKey) States() int { return len(k.states) }

// Iteration returns the iteration of the next message of the current key, 0 if
// there is none.
func (k *SenderKey) Iteration() uint32 {
	if len(k.states) == 0 {
		return 0
	}
	return k.states[0].chain.index
}

// KeyID returns the id of the current key.
func (k *SenderKey) KeyID() (id uint32, ok bool) {
	if len(k.states) == 0 {
		return 0, false
	}
	return k.states[0].id, true
}

// CanEncrypt reports whether the current key is one of ours.
func (k *SenderKey) CanEncrypt() bool { return len(k.states) > 0 && k.states[0].canSign }

// Clone returns a copy that shares nothing that changes with k.
func (k *SenderKey) Clone() *SenderKey {
	c := &SenderKey{lease: k.lease, parsed: k.parsed}
	for _, st := range k.states {
		s := *st
		s.skipped = st.skipped.clone()
		c.states = append(c.states, &s)
	}
	return c
}

// Lease returns the iteration lease of the record: the exclusive ceiling of
// the iterations of the current key that may have been used, 0 if there is
// none, and the incarnation of the store that reserved them, if known.
func (k *SenderKey) Lease() (ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	return k.lease.ceiling, k.lease.incarnation, k.lease.hasIncarnation
}

// SetLease sets the lease. A ceiling of 0 removes it.
func (k *SenderKey) SetLease(ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	k.lease = lease{ceiling, incarnation, hasIncarnation}
}

// Format prints a placeholder for every verb.
func (SenderKey) Format(f fmt.State, _ rune) { redact(f) }

// String returns a placeholder.
func (SenderKey) String() string { return redacted }
