package signal

import (
	"github.com/sigcore/sigcore/internal/kdf"
)

var ratchetInfo = []byte("WhisperRatchet")

// ratchetRoot is the root step of the double ratchet: from the root key and
// the agreement of a key of ours with one of theirs it derives the next root
// key and a chain key at index 0. nextRoot may be root.
func ratchetRoot(nextRoot *[32]byte, chain *chainKey, root *[32]byte, ours *PrivateKey, theirs *PublicKey) {
	var shared [32]byte
	ours.agree(&shared, theirs)
	rootStep(nextRoot, chain, root, &shared)
	clear(shared[:])
}

// rootStep is ratchetRoot with what was agreed on.
func rootStep(nextRoot *[32]byte, chain *chainKey, root, shared *[32]byte) {
	var okm [64]byte
	kdf.HKDF(okm[:], shared[:], root[:], ratchetInfo)
	*nextRoot = [32]byte(okm[:32])
	*chain = chainKey{key: [32]byte(okm[32:])}
	clear(okm[:])
}

// An opening is what an authenticated message is about to change in its state.
type opening struct {
	st       *state
	receiver *receiverChain // nil: a new chain
	ratchet  PublicKey      // of the new chain
	root     [32]byte       // after the receiving half of the new ratchet step
	counter  uint32         // of the message
	mark     uint16         // of the message
	stored   int            // position of the skipped key that was used, or -1
	chain    chainKey       // the receiver chain after the message
	skipped  []skippedKey   // keys to keep, of messages that were passed
	sender   senderChain    // after the sending half of the new ratchet step
}

// A budget bounds the chain steps that one message costs, over all states, and
// keeps the memory that they share.
type budget struct {
	steps   int // how many keys may yet be skipped
	scratch []skippedKey

	// What was spent, for the tests of the bound.
	derived    int // chain steps
	agreements int
}

func (b *budget) wipe() { clear(b.scratch[:cap(b.scratch)]) }

// open decrypts m in the state and appends the plaintext to dst. It fills o
// for commit and changes nothing else.
func (st *state) open(o *opening, dst []byte, m *SignalMessage, b *budget) ([]byte, error) {
	if st.version != sessionVersion {
		return nil, &VersionError{Got: st.version}
	}
	*o = opening{st: st, receiver: st.receiver(&m.RatchetKey), ratchet: m.RatchetKey, counter: m.Counter, mark: markOf(m.MAC[:]), stored: -1}
	var keys messageKeys
	defer keys.wipe()
	if err := o.selectKeys(&keys, m.Counter, b); err != nil {
		return nil, err
	}
	if err := m.verifyMAC(&keys.mac, &st.remoteIdentity, &st.localIdentity); err != nil {
		return nil, err
	}
	return appendCBCPlain(dst, &keys.cipher, &keys.iv, m.Ciphertext)
}

// selectKeys finds or derives the keys of the message counter.
func (o *opening) selectKeys(keys *messageKeys, counter uint32, b *budget) error {
	st, r := o.st, o.receiver
	if r != nil {
		o.chain = r.chain
		if counter < r.chain.index {
			i, ok := r.skipped.find(counter)
			if !ok {
				return r.used.refused(&r.skipped, r.chain.index, counter, o.mark)
			}
			o.stored = i
			k := r.skipped.at(i)
			k.messageKeys(keys)
			clear(k.seed[:])
			return nil
		}
		if r.closed {
			return ErrClosedChain
		}
	}
	// Everything that can be refused is refused before the agreement and the
	// steps are paid for.
	jump := counter - o.chain.index
	if limit := st.maxJump(); jump > limit {
		return &SkipError{Next: o.chain.index, Counter: counter, Max: limit}
	}
	if b.steps -= int(jump); b.steps < 0 {
		return &SkipError{Next: o.chain.index, Counter: counter, Max: maxSteps}
	}
	if r == nil {
		if !st.sender.keyed {
			return errNoSenderChain
		}
		ratchetRoot(&o.root, &o.chain, &st.root, &st.sender.private, &o.ratchet)
		b.agreements++
	}
	b.derived += int(jump) + 1
	var seed [32]byte
	var err error
	if b.scratch, err = o.chain.advance(counter, &seed, b.scratch[:0]); err != nil {
		return err
	}
	o.skipped = b.scratch
	keys.derive(&seed)
	clear(seed[:])
	return nil
}

// prepare draws what commit needs. It is the last step that can fail.
func (o *opening) prepare() error {
	if o.receiver != nil {
		return nil
	}
	if err := generatePrivateKey(&o.sender.private); err != nil {
		return err
	}
	o.sender.keyed, o.sender.open = true, true
	o.sender.public = o.sender.private.public()
	ratchetRoot(&o.root, &o.sender.chain, &o.root, &o.sender.private, &o.ratchet)
	return nil
}

// commit changes the state. It reports whether the sending chain was replaced.
func (o *opening) commit() (ratcheted bool) {
	st := o.st
	st.changed()
	st.pending = pendingPreKey{}
	switch {
	case o.stored >= 0:
		r := o.receiver
		r.skipped.remove(o.stored)
		r.used.use(r.chain.index, o.counter, o.mark)
		return false
	case o.receiver != nil:
		o.advance(o.receiver)
		return false
	}
	r := receiverChain{ratchet: o.ratchet}
	o.advance(&r)
	st.addReceiver(r)
	st.root = o.root
	// The number of messages of the replaced chain but one, and 0 for none, as
	// deployed peers count it; no receiver uses it.
	st.previousCounter = 0
	if n := st.sender.chain.index; n > 0 {
		st.previousCounter = n - 1
	}
	st.sender = o.sender
	return true
}

// advance moves the chain behind the message.
func (o *opening) advance(r *receiverChain) {
	r.used.pass(r.chain.index, o.counter, o.mark)
	r.skipped.pass(r.chain.index, o.counter, o.skipped)
	r.chain = o.chain
}
