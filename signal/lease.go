package signal

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	// leaseBatch is how many counters one reservation covers.
	leaseBatch = 64

	// maxBurn is the largest gap to a ceiling that is stepped over.
	maxBurn = 2000
)

// A lease is a reservation of counters that a record carries: those below the
// ceiling may have gone on the wire although the record does not show it. It
// says which run of a store wrote it.
type lease struct {
	ceiling        uint32 // exclusive; 0: none
	incarnation    [16]byte
	hasIncarnation bool
}

// rebase is for a sending chain that was replaced in place: the fresh one
// needs no more than a first batch.
func (l *lease) rebase() { l.ceiling = min(l.ceiling, leaseBatch) }

// burn moves the sending chain to the ceiling, so that no counter below it is
// used again. If the gap is too large to be honest the chain is closed: the
// session receives, and sends again when the peer has made a ratchet step.
func (st *state) burn(ceiling uint32) {
	if !st.sender.open || ceiling <= st.sender.chain.index {
		return
	}
	st.changed()
	if ceiling-st.sender.chain.index > maxBurn {
		st.sender.close()
		return
	}
	var seed [32]byte
	for st.sender.chain.index < ceiling {
		if st.sender.chain.step(&seed) != nil {
			st.sender.close()
			return
		}
	}
}

// waive is for a store whose writes are durable before anything goes on the
// wire: it moves all sending chains past the ceiling, once, and removes it. An
// archived session may have been the current one when it was reserved.
func (s *Session) waive() {
	if s.lease.ceiling > 0 {
		if s.current != nil {
			s.current.burn(s.lease.ceiling)
		}
		for _, st := range s.archived {
			if st.load() == nil {
				st.burn(s.lease.ceiling)
			}
		}
	}
	s.lease = lease{}
}

// waive is Session.waive for a sender key, the ceiling of which is that of the
// current key. The error wraps ErrCorruptRecord if the gap is too large to be
// honest; then nothing has changed.
func (k *SenderKey) waive() error {
	if len(k.states) > 0 && k.states[0].canSign {
		next := k.states[0].chain
		if next.index < k.lease.ceiling && k.lease.ceiling-next.index > maxBurn {
			return fmt.Errorf("signal: sender key at %d with a ceiling of %d: %w", next.index, k.lease.ceiling, ErrCorruptRecord)
		}
		var seed [32]byte
		for next.index < k.lease.ceiling {
			if err := next.step(&seed); err != nil {
				return err
			}
		}
		k.states[0].chain = next
	}
	k.lease = lease{}
	return nil
}

// closeSenders closes the sending chains of all sessions of a record that may be
// older than what was sent. A chain opens again when the peer makes a ratchet
// step.
func (s *Session) closeSenders() {
	if s.current != nil {
		s.current.changed()
		s.current.sender.close()
	}
	for _, st := range s.archived {
		if st.load() == nil {
			st.changed()
			st.sender.close()
		}
	}
	s.lease = lease{}
}

func (c *senderChain) close() { c.open, c.chain.key = false, [32]byte{} }

// Lease returns the counter lease of the record: the exclusive ceiling of the
// counters that may have been used, 0 if there is none, and the incarnation of
// the store that reserved them, if known.
func (s *Session) Lease() (ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	return s.lease.ceiling, s.lease.incarnation, s.lease.hasIncarnation
}

// SetLease sets the counter lease. A ceiling of 0 removes it.
func (s *Session) SetLease(ceiling uint32, incarnation [16]byte, hasIncarnation bool) {
	s.lease = lease{ceiling, incarnation, hasIncarnation}
}

// maxLeaseSize is the most that a lease adds to a record, in bytes.
const maxLeaseSize = 2 + 5 + 3 + 16

// size is the length of what append appends.
func (l *lease) size() int {
	switch {
	case l.ceiling == 0:
		return 0
	case l.hasIncarnation:
		return 2 + varintSize(uint64(l.ceiling)) + 3 + len(l.incarnation)
	}
	return 2 + varintSize(uint64(l.ceiling))
}

// append appends the lease: fields 100 and 101 of a record, after all others,
// so that a record without one is what other implementations write.
func (l *lease) append(dst []byte) []byte {
	if l.ceiling == 0 {
		return dst
	}
	dst = protowire.AppendVarint(protowire.AppendVarint(dst, tagCeiling), uint64(l.ceiling))
	if l.hasIncarnation {
		dst = append(protowire.AppendVarint(dst, tagIncarnation), byte(len(l.incarnation)))
		dst = append(dst, l.incarnation[:]...)
	}
	return dst
}

// A leaseReader reads the fields of a lease from a record.
type leaseReader struct {
	ceiling        uint32
	hasCeiling     bool
	incarnation    []byte
	hasIncarnation bool
}

// read takes the field 100 or 101 of r in. A ceiling that is not one would let
// counters be used again, so it makes the record bad. A bad incarnation only
// loses the trust that a good one would have given.
func (l *leaseReader) read(r *fieldReader) {
	if r.num == 100 {
		if l.hasCeiling || r.typ != protowire.VarintType || r.v != uint64(uint32(r.v)) {
			r.bad = true
			return
		}
		l.ceiling, l.hasCeiling = uint32(r.v), true
		return
	}
	l.incarnation = nil
	if r.typ == protowire.BytesType && !l.hasIncarnation {
		l.incarnation = r.data
	}
	l.hasIncarnation = true
}

func (l *leaseReader) lease() (out lease) {
	out.ceiling = l.ceiling
	if l.ceiling > 0 && len(l.incarnation) == 16 {
		out.incarnation, out.hasIncarnation = [16]byte(l.incarnation), true
	}
	return out
}
