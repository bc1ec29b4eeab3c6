package signal

// SenderKey is the record of one sender in one group: up to
// MaxSenderKeyStates keys, the current one first. The zero value is an empty
// record.
type SenderKey struct{ x int }

// Distribution says what processing a distribution message did.
type Distribution uint8

const (
	DistributionNew      Distribution = iota // the key is new and current
	DistributionKnown                        // the key was known, and is as it was
	DistributionConflict                     // the key is new and current, and replaced one of the same id
)

// Err returns nil, ErrAlreadyKnown or ErrConflict.
func (d Distribution) Err() error { panic("in work") }

// Create makes a key of our own if the record has none. It draws the id, 4
// bytes, the chain key, 32 bytes, and the signing key, 32 bytes.
func (k *SenderKey) Create() error { panic("in work") }

// Rotate replaces all keys by a fresh one. It draws as Create does.
func (k *SenderKey) Rotate() error { panic("in work") }

// NeedsRotation reports whether the current key has reached RotationThreshold.
func (k *SenderKey) NeedsRotation() bool { panic("in work") }

// AppendDistribution appends the SenderKeyDistributionMessage of the current
// key at its current iteration. ErrNoSenderKey: there is none.
func (k *SenderKey) AppendDistribution(dst []byte) ([]byte, error) { panic("in work") }

// Process takes the key of a SenderKeyDistributionMessage in.
func (k *SenderKey) Process(message []byte) (Distribution, error) { panic("in work") }

// Encrypt appends the next SenderKeyMessage to dst. It draws 64 bytes.
// ErrNoSenderKey: there is no key; ErrCannotSign: the key is not ours.
func (k *SenderKey) Encrypt(dst, plaintext []byte) ([]byte, error) { panic("in work") }

// Decrypt appends the plaintext of a SenderKeyMessage to dst. On any error
// the record is unchanged.
func (k *SenderKey) Decrypt(dst, message []byte) ([]byte, error) { panic("in work") }

// ParseSenderKey reads a record: the protobuf SenderKeyRecordStructure. The
// error wraps ErrCorruptRecord.
func ParseSenderKey(record []byte) (*SenderKey, error) { panic("in work") }

// AppendBinary appends the record. The error is always nil.
func (k *SenderKey) AppendBinary(dst []byte) ([]byte, error) { panic("in work") }

// Empty reports whether the record has no key.
func (k *SenderKey) Empty() bool { panic("in work") }

// Iteration returns the iteration of the next message of the current key.
func (k *SenderKey) Iteration() uint32 { panic("in work") }

// KeyID returns the id of the current key.
func (k *SenderKey) KeyID() (uint32, bool) { panic("in work") }

// Clone returns a copy that shares nothing that changes with k.
func (k *SenderKey) Clone() *SenderKey { panic("in work") }

// Lease and SetLease are as those of [Session], over iterations.
func (k *SenderKey) Lease() (ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	panic("in work")
}

// SetLease sets the lease. A ceiling of 0 removes it.
func (k *SenderKey) SetLease(ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	panic("in work")
}
