package signal

import "slices"

// Encrypt appends the next message to dst and returns its type. It is a
// PreKeySignalMessage until the peer has answered. dst's capacity must not
// overlap plaintext.
//
// The error is ErrNoSession if no current session can send, ErrChainEnd, or a
// *VersionError for an imported session of another version. On any error the
// record is unchanged. Whether RemoteIdentity is trusted is for the caller to
// ask before.
func (s *Session) Encrypt(dst, plaintext []byte) (MessageType, []byte, error) {
	st := s.current
	switch {
	case st == nil || !st.sender.open:
		return 0, nil, ErrNoSession
	case st.version != sessionVersion:
		return 0, nil, &VersionError{Got: st.version}
	}
	next := st.sender.chain
	var seed [32]byte
	if err := next.step(&seed); err != nil {
		return 0, nil, err
	}
	var keys messageKeys
	keys.derive(&seed)
	clear(seed[:])

	counter := st.sender.chain.index
	n := paddedSize(len(plaintext))
	header := signalHeaderSize(counter, st.previousCounter, n)
	size := header + n + macSize
	typ := TypeSignal
	var envelope PreKeySignalMessage
	if p := &st.pending; p.ok {
		typ = TypePreKey
		envelope = PreKeySignalMessage{
			RegistrationID: st.localID,
			HasPreKeyID:    p.hasPreKeyID,
			PreKeyID:       p.preKeyID,
			SignedPreKeyID: p.signedPreKeyID,
			BaseKey:        p.baseKey,
			Identity:       st.localIdentity,
		}
		dst = slices.Grow(dst, envelope.headerSize(size)+size+envelope.trailerSize())
		dst = envelope.appendHeader(dst, size)
	} else {
		dst = slices.Grow(dst, size)
	}
	start := len(dst)
	dst = appendSignalHeader(dst, &st.sender.public, counter, st.previousCounter, n)
	dst = appendCBC(dst, &keys.cipher, &keys.iv, plaintext)
	mac := messageMAC(&keys.mac, &st.localIdentity, &st.remoteIdentity, dst[start:])
	dst = append(dst, mac[:]...)
	keys.wipe()
	if typ == TypePreKey {
		dst = envelope.appendTrailer(dst)
	}
	st.sender.chain = next
	return typ, dst, nil
}
