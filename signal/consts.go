package signal

// Limits of the protocol. All are on what a peer can make us store or compute.
const (
	sessionVersion   = 3
	senderKeyVersion = 3
	versionByte      = 0x33 // message version 3 in the high nibble

	// MaxForwardJump is how many message keys one message may skip, inclusive,
	// and MaxForwardJumpSelf the same between devices of one identity.
	MaxForwardJump     = 2000
	MaxForwardJumpSelf = 25000

	// MaxSkippedKeys is how many skipped keys are kept for each receiver chain
	// and each sender key. Pruning is amortised over pruneSlack insertions, so
	// that up to MaxSkippedKeys+pruneSlack may be held at a time.
	MaxSkippedKeys = 2000
	pruneSlack     = 50

	// MaxReceiverChains is how many receiver chains a session keeps.
	MaxReceiverChains = 5

	// MaxArchived is how many superseded sessions a record keeps.
	MaxArchived = 40

	// MaxSenderKeyStates is how many keys of one sender are kept.
	MaxSenderKeyStates = 5

	// RotationThreshold is the iteration from which a sender makes a new
	// sender key.
	RotationThreshold = 1000

	// maxSteps bounds the chain steps that one message can cost over all
	// states of a record. It is what the largest allowed jump in one state
	// costs. A genuine message meets it only if it comes first in its chain,
	// skips more than 600 keys and belongs to one of the oldest of 40 archived
	// sessions.
	maxSteps = MaxForwardJumpSelf
)
