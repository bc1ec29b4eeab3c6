package signal

// MessageType says which kind of message a body is. The values are those of
// the protocol.
type MessageType uint8

// The message types, with their names in stanzas.
const (
	TypeSignal    MessageType = 2 // msg
	TypePreKey    MessageType = 3 // pkmsg
	TypeSenderKey MessageType = 7 // skmsg
)

// A Responder is what a PreKeySignalMessage is answered with if it starts a
// new session: who we are and the prekeys that the message names, nil if there
// is none of that id.
type Responder struct {
	Local        Local
	SignedPreKey *SignedPreKey
	PreKey       *PreKey
}

// Received says what a decrypted message did to the session.
type Received struct {
	// Identity is the sender's identity key, for the caller to save.
	Identity PublicKey

	// NewSession is set if the message set up a session. Only then is a
	// change of Identity one to report.
	NewSession bool

	// ConsumedPreKey is set if the new session used the one-time prekey
	// PreKeyID. Delete it together with writing the record, not before.
	ConsumedPreKey bool
	PreKeyID       uint32

	// Promoted is set if an archived session read the message and became the
	// current one.
	Promoted bool

	// Ratcheted is set if the sending chain was replaced by a fresh one.
	Ratcheted bool
}

// A Trust decides on the identity of a remote party. An error refuses it.
type Trust func(identity PublicKey) error

// Initiate starts a session from a bundle: X3DH as initiator. It becomes the
// current one and every message goes out as a PreKeySignalMessage until one is
// received. It draws the base key, 32 bytes, then the ratchet key, 32 bytes.
//
// ErrBadSignature is a bundle whose signature does not hold; then nothing is
// drawn and nothing changes. Trust in the identity is for the caller to ask
// before.
func (s *Session) Initiate(local Local, b *Bundle) error { panic("in work") }

// Encrypt appends the next message to dst and returns its type. It is a
// PreKeySignalMessage until the peer has answered. ErrNoSession: there is no
// current session, or it cannot send. Trust in RemoteIdentity is for the caller to ask before.
func (s *Session) Encrypt(dst, plaintext []byte) (MessageType, []byte, error) { panic("in work") }

// Decrypt appends the plaintext of a SignalMessage to dst. trust, if not nil, is
// asked about the remote identity when the current session read the message,
// before anything changes; its error is returned as it is.
//
// It draws the new ratchet key, 32 bytes, once a message with a new ratchet
// key is authenticated. On any error the session is unchanged.
func (s *Session) Decrypt(dst, message []byte, trust Trust) ([]byte, Received, error) {
	panic("in work")
}

// Matches reports whether the session that m belongs to is in the record. If
// it is, DecryptPreKey needs no prekeys.
func (s *Session) Matches(m *PreKeySignalMessage) bool { panic("in work") }

// DecryptPreKey appends the plaintext of a PreKeySignalMessage to dst. A
// message of a session that is in the record is read with it; any other one
// sets up a session with the keys of r. ErrSignedPreKeyID, ErrPreKeyID: the
// message names a prekey that r does not have. Trust in m.Identity is for the
// caller to ask before. On any error the session is unchanged.
func (s *Session) DecryptPreKey(dst []byte, m *PreKeySignalMessage, r *Responder) ([]byte, Received, error) {
	panic("in work")
}

// ParseSession reads a record: the protobuf RecordStructure, of this package
// or of another implementation. The error wraps ErrCorruptRecord.
func ParseSession(record []byte) (*Session, error) { panic("in work") }

// AppendBinary appends the record in its storage form, with skipped keys as
// seeds. The error is always nil.
func (s *Session) AppendBinary(dst []byte) ([]byte, error) { panic("in work") }

// AppendPortable appends the record in the form that every reader of Signal's
// protobuf records understands: skipped keys as cipher key, MAC key and IV, no
// lease.
func (s *Session) AppendPortable(dst []byte) []byte { panic("in work") }

// HasCurrent reports whether there is a current session.
func (s *Session) HasCurrent() bool { panic("in work") }

// Archived returns the number of superseded sessions.
func (s *Session) Archived() int { panic("in work") }

// Pending reports whether the current session was started here and has not
// been answered.
func (s *Session) Pending() bool { panic("in work") }

// Skipped returns the number of skipped keys that the current session holds.
func (s *Session) Skipped() int { panic("in work") }

// SenderCounter returns the counter of the next message that the current
// session sends.
func (s *Session) SenderCounter() uint32 { panic("in work") }

// RemoteIdentity returns the identity of the peer of the current session.
func (s *Session) RemoteIdentity() (PublicKey, bool) { panic("in work") }

// RemoteRegistrationID returns the registration id of the peer of the current
// session.
func (s *Session) RemoteRegistrationID() uint32 { panic("in work") }

// Clone returns a copy that shares nothing with s.
func (s *Session) Clone() *Session { panic("in work") }

// Lease returns the counter lease of the record: the exclusive ceiling of the
// counters that may have been used, 0 if there is none, and the incarnation of
// the store that wrote it, if any.
func (s *Session) Lease() (ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	panic("in work")
}

// SetLease sets the counter lease. A ceiling of 0 removes it.
func (s *Session) SetLease(ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	panic("in work")
}

// Session is the record of one remote device: the current session and the
// archived ones. The zero value is an empty record.
type Session struct{ x int }

// PreKeySignalMessage is the first message of a session, with what the
// receiver needs to set it up.
type PreKeySignalMessage struct {
	RegistrationID uint32
	HasPreKeyID    bool
	PreKeyID       uint32
	SignedPreKeyID uint32
	BaseKey        PublicKey
	Identity       PublicKey
	Message        SignalMessage
	// contains unexported fields
}

// SignalMessage is a message of an established session.
type SignalMessage struct {
	RatchetKey      PublicKey
	Counter         uint32
	PreviousCounter uint32
	Ciphertext      []byte
	// contains unexported fields
}

// ParsePreKeySignalMessage reads b, which m keeps a reference to.
func ParsePreKeySignalMessage(b []byte) (m PreKeySignalMessage, err error) { panic("in work") }

// ParseSignalMessage reads b, which m keeps a reference to.
func ParseSignalMessage(b []byte) (m SignalMessage, err error) { panic("in work") }
