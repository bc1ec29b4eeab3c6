package signal

import "github.com/sigcore/sigcore/internal/kdf"

var x3dhInfo = []byte("WhisperText")

// x3dhSecret collects the input keying material of X3DH: 32 bytes of 0xff,
// which no point encodes to, then the agreements.
type x3dhSecret struct {
	b [5 * 32]byte
	n int
}

func newX3DHSecret(agreements [][32]byte) (s x3dhSecret) {
	for i := range 32 {
		s.b[i] = 0xff
	}
	s.n = 32
	for i := range agreements {
		s.n += copy(s.b[s.n:], agreements[i][:])
	}
	return s
}

// derive sets the root key and the first chain key, and wipes the secret.
func (s *x3dhSecret) derive(root *[32]byte, chain *chainKey) {
	// The last third would seed a ratchet that this protocol version has not.
	var okm [96]byte
	kdf.HKDF(okm[:], s.b[:s.n], nil, x3dhInfo)
	*root = [32]byte(okm[:32])
	*chain = chainKey{key: [32]byte(okm[32:64])}
	clear(okm[:])
	clear(s.b[:])
}

// maxAgreements is how many agreements start a session: four of X3DH and one of
// the first ratchet step.
const maxAgreements = 5

// initiatorKeys are what a session that starts here draws.
type initiatorKeys struct{ base, ratchet PrivateKey }

func (k *initiatorKeys) draw() error {
	if err := generatePrivateKey(&k.base); err != nil {
		return err
	}
	return generatePrivateKey(&k.ratchet)
}

func (k *initiatorKeys) wipe() { *k = initiatorKeys{} }

// agreements returns how many agreements start a session with the bundle, and
// sets private and point to their keys, in the order of X3DH, the ratchet step
// last. identity is our private key.
func (k *initiatorKeys) agreements(private, point *[maxAgreements][32]byte, identity *[32]byte, b *Bundle) int {
	private[0], point[0] = *identity, b.SignedPreKey
	private[1], point[1] = k.base, b.Identity
	private[2], point[2] = k.base, b.SignedPreKey
	n := 3
	if b.HasPreKey {
		private[n], point[n] = k.base, b.PreKey
		n++
	}
	private[n], point[n] = k.ratchet, b.SignedPreKey
	return n + 1
}

// initiate returns the state of the initiator.
func initiate(local *Local, b *Bundle) (*state, error) {
	var k initiatorKeys
	defer k.wipe()
	if err := k.draw(); err != nil {
		return nil, err
	}
	var private, point, shared [maxAgreements][32]byte
	n := k.agreements(&private, &point, (*[32]byte)(local.Identity.key.Bytes()), b)
	agreeMany(shared[:n], private[:n], point[:n])
	public := [2]PublicKey{k.base.public(), k.ratchet.public()}
	st := k.state(local, b, &public, shared[:n])
	clear(private[:])
	clear(shared[:])
	return st, nil
}

// state returns the state of the initiator from its public keys, base and
// ratchet, and what was agreed on.
func (k *initiatorKeys) state(local *Local, b *Bundle, public *[2]PublicKey, shared [][32]byte) *state {
	st := &state{body: &body{
		version:        sessionVersion,
		localIdentity:  local.Identity.public,
		remoteIdentity: b.Identity,
		localID:        local.RegistrationID,
		remoteID:       b.RegistrationID,
		baseKey:        public[0],
		hasBaseKey:     true,
	}}
	st.pending = pendingPreKey{
		ok:             true,
		hasPreKeyID:    b.HasPreKey,
		preKeyID:       b.PreKeyID,
		signedPreKeyID: b.SignedPreKeyID,
		baseKey:        st.baseKey,
	}
	s := newX3DHSecret(shared[:len(shared)-1])
	ratchet := &shared[len(shared)-1]
	r := receiverChain{ratchet: b.SignedPreKey}
	s.derive(&st.root, &r.chain)

	// The signed prekey is the responder's first ratchet key: its chain is
	// what X3DH gives, ours comes from a step against it.
	st.receivers = []receiverChain{r}
	st.sender = senderChain{keyed: true, open: true, public: public[1], private: k.ratchet}
	rootStep(&st.root, &st.sender.chain, &st.root, ratchet)
	return st
}

// respond returns the state of the responder.
func respond(m *PreKeySignalMessage, r *Responder) (*state, error) {
	if r.SignedPreKey == nil || r.SignedPreKey.ID != m.SignedPreKeyID {
		return nil, &PreKeyIDError{ID: m.SignedPreKeyID, Signed: true}
	}
	if m.HasPreKeyID && (r.PreKey == nil || r.PreKey.ID != m.PreKeyID) {
		return nil, &PreKeyIDError{ID: m.PreKeyID}
	}
	st := &state{body: &body{
		version:        sessionVersion,
		localIdentity:  r.Local.Identity.public,
		remoteIdentity: m.Identity,
		localID:        r.Local.RegistrationID,
		remoteID:       m.RegistrationID,
		baseKey:        m.BaseKey,
		hasBaseKey:     true,
	}}
	signed := &r.SignedPreKey.Private
	private := [4][32]byte{*signed, [32]byte(r.Local.Identity.key.Bytes()), *signed}
	point := [4][32]byte{m.Identity, m.BaseKey, m.BaseKey, m.BaseKey}
	var shared [4][32]byte
	n := 3
	if m.HasPreKeyID {
		private[n] = r.PreKey.Private
		n++
	}
	agreeMany(shared[:n], private[:n], point[:n])
	s := newX3DHSecret(shared[:n])
	clear(private[:])
	clear(shared[:])
	st.sender = senderChain{keyed: true, open: true, public: r.SignedPreKey.Public, private: *signed}
	s.derive(&st.root, &st.sender.chain)
	return st, nil
}
