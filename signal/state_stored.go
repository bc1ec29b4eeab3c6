package signal

import (
	"bytes"
	"fmt"
)

// Archived states stay as they are stored until a message may be theirs: a
// record may have 40 of them, and nearly every message belongs to the current
// one. What has not changed is not encoded again either.

var errCorruptState = fmt.Errorf("signal: archived session: %w", ErrCorruptRecord)

// load reads a state that is still in its stored form. On an error it stays
// there.
func (st *state) load() error {
	if !st.unread() {
		return nil
	}
	read := state{body: new(body)}
	if !read.parse(st.stored) {
		return errCorruptState
	}
	st.body = read.body
	return nil
}

func (st *state) unread() bool { return st.body == nil }

// changed is called before a change.
func (st *state) changed() { st.stored = nil }

// mayHold reports whether a public key can be one of the state's, without
// reading a state for nothing.
func (st *state) mayHold(k *PublicKey) bool {
	return !st.unread() || bytes.Contains(st.stored, k[:])
}

// knows reports whether the state has the ratchet key of the peer.
func (st *state) knows(ratchet *PublicKey) bool {
	return st.mayHold(ratchet) && st.load() == nil && st.receiver(ratchet) != nil
}

// isOf reports whether the state is that of an agreement of this version.
func (st *state) isOf(baseKey *PublicKey) bool {
	return st.mayHold(baseKey) && st.load() == nil &&
		st.version == sessionVersion && st.hasBaseKey && st.baseKey.Equal(*baseKey)
}

// storedSize is the length of the state in a record.
func (st *state) storedSize(f form) int {
	if st.asStored(f) {
		return len(st.stored)
	}
	return st.size(f)
}

func (st *state) appendStored(dst []byte, f form) []byte {
	if st.asStored(f) {
		return append(dst, st.stored...)
	}
	return st.append(dst, f)
}

// asStored reports whether the stored form is the one to write: also in the
// portable form if there is nothing that could be read.
func (st *state) asStored(f form) bool {
	return st.stored != nil && (f == compact || st.load() != nil)
}
