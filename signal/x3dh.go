package signal

import "github.com/sigcore/sigcore/internal/kdf"

var x3dhInfo = []byte("WhisperText")

// x3dhSecret collects the input keying material of X3DH: 32 bytes of 0xff,
// which no point encodes to, then the agreements.
type x3dhSecret struct {
	b [5 * 32]byte
	n int
}

func newX3DHSecret() (s x3dhSecret) {
	for i := range 32 {
		s.b[i] = 0xff
	}
	s.n = 32
	return s
}

// slot returns the place of the next agreement.
func (s *x3dhSecret) slot() *[32]byte {
	s.n += 32
	return (*[32]byte)(s.b[s.n-32 : s.n])
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

// initiate returns the state of the initiator.
func initiate(local *Local, b *Bundle) (*state, error) {
	var base, ratchet PrivateKey
	if err := generatePrivateKey(&base); err != nil {
		return nil, err
	}
	if err := generatePrivateKey(&ratchet); err != nil {
		return nil, err
	}
	st := &state{body: &body{
		version:        sessionVersion,
		localIdentity:  local.Identity.public,
		remoteIdentity: b.Identity,
		localID:        local.RegistrationID,
		remoteID:       b.RegistrationID,
		baseKey:        base.public(),
		hasBaseKey:     true,
	}}
	st.pending = pendingPreKey{
		ok:             true,
		hasPreKeyID:    b.HasPreKey,
		preKeyID:       b.PreKeyID,
		signedPreKeyID: b.SignedPreKeyID,
		baseKey:        st.baseKey,
	}
	s := newX3DHSecret()
	local.Identity.key.Agree(s.slot(), (*[32]byte)(&b.SignedPreKey))
	base.agree(s.slot(), &b.Identity)
	base.agree(s.slot(), &b.SignedPreKey)
	if b.HasPreKey {
		base.agree(s.slot(), &b.PreKey)
	}
	r := receiverChain{ratchet: b.SignedPreKey}
	s.derive(&st.root, &r.chain)
	clear(base[:])

	// The signed prekey is the responder's first ratchet key: its chain is
	// what X3DH gives, ours comes from a step against it.
	st.receivers = []receiverChain{r}
	st.sender = senderChain{keyed: true, open: true, public: ratchet.public(), private: ratchet}
	ratchetRoot(&st.root, &st.sender.chain, &st.root, &ratchet, &b.SignedPreKey)
	return st, nil
}

// respond returns the state of the responder.
func respond(m *PreKeySignalMessage, r *Responder) (*state, error) {
	if r.SignedPreKey == nil || r.SignedPreKey.ID != m.SignedPreKeyID {
		return nil, ErrSignedPreKeyID
	}
	if m.HasPreKeyID && (r.PreKey == nil || r.PreKey.ID != m.PreKeyID) {
		return nil, ErrPreKeyID
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
	s := newX3DHSecret()
	signed := &r.SignedPreKey.Private
	signed.agree(s.slot(), &m.Identity)
	r.Local.Identity.key.Agree(s.slot(), (*[32]byte)(&m.BaseKey))
	signed.agree(s.slot(), &m.BaseKey)
	if m.HasPreKeyID {
		r.PreKey.Private.agree(s.slot(), &m.BaseKey)
	}
	st.sender = senderChain{keyed: true, open: true, public: r.SignedPreKey.Public, private: *signed}
	s.derive(&st.root, &st.sender.chain)
	return st, nil
}
