package serialize

// The messages of the protobuf schemas, as structures. Nothing in this module
// uses them: they are for programs that name the types. They have no protobuf
// methods and are not registered, so that other code may be.

// CombinedFingerprints is a message of the schemas.
type CombinedFingerprints struct {
	Version           *uint32
	LocalFingerprint  *LogicalFingerprint
	RemoteFingerprint *LogicalFingerprint
}

// DeviceConsistencyCodeMessage is a message of the schemas.
type DeviceConsistencyCodeMessage struct {
	Generation *uint32
	Signature  []byte
}

// IdentityKeyPairStructure is a message of the schemas.
type IdentityKeyPairStructure struct {
	PublicKey  []byte
	PrivateKey []byte
}

// KeyExchangeMessage is a message of the schemas.
type KeyExchangeMessage struct {
	Id               *uint32
	BaseKey          []byte
	RatchetKey       []byte
	IdentityKey      []byte
	BaseKeySignature []byte
}

// LogicalFingerprint is a message of the schemas.
type LogicalFingerprint struct {
	Content    []byte
	Identifier []byte
}

// PreKeyRecordStructure is a message of the schemas.
type PreKeyRecordStructure struct {
	Id         *uint32
	PublicKey  []byte
	PrivateKey []byte
}

// PreKeySignalMessage is a message of the schemas.
type PreKeySignalMessage struct {
	RegistrationId *uint32
	PreKeyId       *uint32
	SignedPreKeyId *uint32
	BaseKey        []byte
	IdentityKey    []byte
	Message        []byte
}

// RecordStructure is a message of the schemas.
type RecordStructure struct {
	CurrentSession   *SessionStructure
	PreviousSessions []*SessionStructure
}

// SenderKeyDistributionMessage is a message of the schemas.
type SenderKeyDistributionMessage struct {
	Id         *uint32
	Iteration  *uint32
	ChainKey   []byte
	SigningKey []byte
}

// SenderKeyMessage is a message of the schemas.
type SenderKeyMessage struct {
	Id         *uint32
	Iteration  *uint32
	Ciphertext []byte
}

// SenderKeyRecordStructure is a message of the schemas.
type SenderKeyRecordStructure struct {
	SenderKeyStates []*SenderKeyStateStructure
}

// SenderKeyStateStructure is a message of the schemas.
type SenderKeyStateStructure struct {
	SenderKeyId       *uint32
	SenderChainKey    *SenderKeyStateStructure_SenderChainKey
	SenderSigningKey  *SenderKeyStateStructure_SenderSigningKey
	SenderMessageKeys []*SenderKeyStateStructure_SenderMessageKey
}

// SenderKeyStateStructure_SenderChainKey is a message of the schemas.
type SenderKeyStateStructure_SenderChainKey struct {
	Iteration *uint32
	Seed      []byte
}

// SenderKeyStateStructure_SenderMessageKey is a message of the schemas.
type SenderKeyStateStructure_SenderMessageKey struct {
	Iteration *uint32
	Seed      []byte
}

// SenderKeyStateStructure_SenderSigningKey is a message of the schemas.
type SenderKeyStateStructure_SenderSigningKey struct {
	Public  []byte
	Private []byte
}

// SessionStructure is a message of the schemas.
type SessionStructure struct {
	SessionVersion       *uint32
	LocalIdentityPublic  []byte
	RemoteIdentityPublic []byte
	RootKey              []byte
	PreviousCounter      *uint32
	SenderChain          *SessionStructure_Chain
	ReceiverChains       []*SessionStructure_Chain
	PendingKeyExchange   *SessionStructure_PendingKeyExchange
	PendingPreKey        *SessionStructure_PendingPreKey
	RemoteRegistrationId *uint32
	LocalRegistrationId  *uint32
	NeedsRefresh         *bool
	AliceBaseKey         []byte
}

// SessionStructure_Chain is a message of the schemas.
type SessionStructure_Chain struct {
	SenderRatchetKey        []byte
	SenderRatchetKeyPrivate []byte
	ChainKey                *SessionStructure_Chain_ChainKey
	MessageKeys             []*SessionStructure_Chain_MessageKey
}

// SessionStructure_Chain_ChainKey is a message of the schemas.
type SessionStructure_Chain_ChainKey struct {
	Index *uint32
	Key   []byte
}

// SessionStructure_Chain_MessageKey is a message of the schemas.
type SessionStructure_Chain_MessageKey struct {
	Index     *uint32
	CipherKey []byte
	MacKey    []byte
	Iv        []byte
}

// SessionStructure_PendingKeyExchange is a message of the schemas.
type SessionStructure_PendingKeyExchange struct {
	Sequence                *uint32
	LocalBaseKey            []byte
	LocalBaseKeyPrivate     []byte
	LocalRatchetKey         []byte
	LocalRatchetKeyPrivate  []byte
	LocalIdentityKey        []byte
	LocalIdentityKeyPrivate []byte
}

// SessionStructure_PendingPreKey is a message of the schemas.
type SessionStructure_PendingPreKey struct {
	PreKeyId       *uint32
	SignedPreKeyId *int32
	BaseKey        []byte
}

// SignalMessage is a message of the schemas.
type SignalMessage struct {
	RatchetKey      []byte
	Counter         *uint32
	PreviousCounter *uint32
	Ciphertext      []byte
}

// SignedPreKeyRecordStructure is a message of the schemas.
type SignedPreKeyRecordStructure struct {
	Id         *uint32
	PublicKey  []byte
	PrivateKey []byte
	Signature  []byte
	Timestamp  *uint64
}
