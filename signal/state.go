package signal

import (
	"slices"
)

// A state is one session: one X3DH agreement and the ratchet that grew from
// it. Its methods that open a message change nothing; opening.commit does.
type state struct {
	*body // nil while it is unread

	// stored is the form in which an archived state was read, until it changes.
	stored []byte
}

// A body is what a state holds.
type body struct {
	version        uint32
	localIdentity  PublicKey
	remoteIdentity PublicKey
	localID        uint32 // registration ids
	remoteID       uint32
	baseKey        PublicKey // of the initiator; says which agreement this is
	hasBaseKey     bool
	needsRefresh   bool // carried, not acted upon

	root            [32]byte
	previousCounter uint32
	sender          senderChain
	receivers       []receiverChain // oldest first
	pending         pendingPreKey
}

// A senderChain is our current ratchet key and its chain. If the chain is not
// open it cannot send, because an imported record has no chain key or because
// its counters could not be proved unused; the next ratchet step of the peer
// opens a new one. Without a ratchet key, keyed, not even that is possible.
type senderChain struct {
	keyed   bool
	open    bool
	public  PublicKey
	private PrivateKey
	chain   chainKey
}

// A receiverChain is the chain of one ratchet key of the peer. A closed one
// has skipped keys only; its index says where it ended.
type receiverChain struct {
	ratchet PublicKey
	closed  bool
	chain   chainKey
	skipped skippedKeys
	used    usedCounters
}

// A pendingPreKey is what every message repeats until the peer has answered.
type pendingPreKey struct {
	ok             bool
	hasPreKeyID    bool
	preKeyID       uint32
	signedPreKeyID uint32
	baseKey        PublicKey
	since          uint64 // seconds, of records that have it; carried, not acted upon
}

// receiver returns the chain of a ratchet key of the peer, the newest one if
// an imported record has several, or nil.
func (st *state) receiver(ratchet *PublicKey) *receiverChain {
	for i := len(st.receivers) - 1; i >= 0; i-- {
		if st.receivers[i].ratchet == *ratchet {
			return &st.receivers[i]
		}
	}
	return nil
}

// addReceiver appends a chain and drops the oldest over MaxReceiverChains.
func (st *state) addReceiver(c receiverChain) {
	if n := len(st.receivers); n >= MaxReceiverChains {
		st.receivers = slices.Delete(st.receivers, 0, n-MaxReceiverChains+1)
	}
	st.receivers = append(st.receivers, c)
}

// maxJump is how many keys a message of the peer may skip.
func (st *state) maxJump() uint32 {
	if st.remoteIdentity == st.localIdentity {
		return MaxForwardJumpSelf
	}
	return MaxForwardJump
}

func (st *state) clone() *state {
	if st.unread() {
		return &state{stored: st.stored}
	}
	b := *st.body
	c := state{body: &b, stored: st.stored}
	c.receivers = slices.Clone(st.receivers)
	for i := range c.receivers {
		c.receivers[i].skipped = c.receivers[i].skipped.clone()
	}
	return &c
}
