package signal

import (
	"slices"

	"github.com/sigcore/sigcore/internal/aescbc"
)

// Encrypt appends the next message to dst and returns its type. It is a
// PreKeySignalMessage until the peer has answered. dst's capacity must not
// overlap plaintext.
//
// The error is ErrNoSession, or ErrSenderClosed, which wraps it, if there is a
// session that cannot send; ErrChainEnd; or a *VersionError for an imported
// session of another version. On any error the
// record is unchanged. Whether RemoteIdentity is trusted is for the caller to
// ask before.
func (s *Session) Encrypt(dst, plaintext []byte) (MessageType, []byte, error) {
	var x sealing
	if err := x.begin(s); err != nil {
		return 0, nil, err
	}
	dst = x.seal(dst, plaintext)
	return x.typ, dst, nil
}

// A sealing is a message on its way out. It changes nothing before commit.
type sealing struct {
	st   *state
	next chainKey // after the message
	seed [32]byte
	keys messageKeys
	typ  MessageType

	// Positions in the buffer: of the SignalMessage, its ciphertext and its MAC.
	start, text, mac int
}

// begin steps the chain. The errors are those of Encrypt.
func (x *sealing) begin(s *Session) error {
	st := s.current
	switch {
	case st == nil:
		return ErrNoSession
	case !st.sender.open:
		return ErrSenderClosed
	case st.version != sessionVersion:
		return &VersionError{Got: st.version}
	}
	x.st, x.next = st, st.sender.chain
	return x.next.step(&x.seed)
}

// seal appends the message and commits it.
func (x *sealing) seal(dst, plaintext []byte) []byte {
	x.keys.derive(&x.seed)
	dst = x.write(dst, plaintext)
	aescbc.Encrypt(dst[x.text:x.mac], &x.keys.cipher, &x.keys.iv)
	mac := messageMAC(&x.keys.mac, &x.st.localIdentity, &x.st.remoteIdentity, dst[x.start:x.mac])
	copy(dst[x.mac:], mac[:])
	x.commit()
	return dst
}

// maxOverhead is the most by which the message is longer than its plaintext, in
// bytes.
func (st *state) maxOverhead() int {
	const inner = 1 + keyFieldSize + 2*6 + 6 + 16 + macSize
	if st.pending.ok {
		return inner + 1 + 6 + 2*keyFieldSize + 6 + 2*6
	}
	return inner
}

// write appends the message, with the padded plaintext in place of the
// ciphertext and nothing in place of the MAC.
func (x *sealing) write(dst, plaintext []byte) []byte {
	st := x.st
	counter := st.sender.chain.index
	n := paddedSize(len(plaintext))
	size := signalHeaderSize(counter, st.previousCounter, n) + n + macSize
	x.typ = TypeSignal
	var envelope PreKeySignalMessage
	if p := &st.pending; p.ok {
		x.typ = TypePreKey
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
	x.start = len(dst)
	dst = appendSignalHeader(dst, &st.sender.public, counter, st.previousCounter, n)
	x.text = len(dst)
	dst = appendPadded(dst, plaintext)
	x.mac = len(dst)
	dst = append(dst, make([]byte, macSize)...)
	if x.typ == TypePreKey {
		dst = envelope.appendTrailer(dst)
	}
	return dst
}

// commit moves the session past the message, and wipes its keys.
func (x *sealing) commit() {
	x.st.sender.chain = x.next
	x.next, x.seed = chainKey{}, [32]byte{}
	x.keys.wipe()
}
