package signal

import (
	"errors"
	"hash/maphash"
	"sync"

	"github.com/sigcore/sigcore/signal/store"
)

// ErrPutBack means that the database is of an earlier state than the account
// has seen: it was put back from a backup while the account was open. Nothing is
// sent or read any more until [Account.Renew].
var ErrPutBack = errors.New("signal: the database was put back to an earlier state")

// maxSeen bounds the rows whose version is remembered, at about 40 bytes
// each.
const maxSeen = 1 << 16

// seenVersions is what is remembered of the versions that were seen, so that a row,
// or a database, that is put back to an earlier state under a live account is
// noticed. All Accounts of a process over one account of one backend share it.
type seenVersions struct {
	mu         sync.Mutex
	seed       maphash.Seed
	generation uint64            // the largest one seen
	broken     bool              // one before it was seen
	versions   map[uint64]uint64 // by hash of the key: the largest version seen
}

func newSeenVersions() *seenVersions {
	return &seenVersions{seed: maphash.MakeSeed(), versions: map[uint64]uint64{}}
}

// remembered reports whether rows of t are checked: those that an earlier state
// of gives message keys out twice, or answers twice.
func remembered(t store.Table) bool {
	return t == store.Sessions || t == store.SenderKeys || t == store.PreKeys
}

func (h *seenVersions) hash(k store.Key) uint64 { return maphash.Comparable(h.seed, k) }

// now returns the generation from which the account goes on. Calls of the
// backend that begin later return no smaller one.
func (h *seenVersions) now() (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken {
		return 0, ErrPutBack
	}
	return h.generation, nil
}

// see takes in a generation that a call of the backend returned, which may be no
// smaller than least. It returns ErrPutBack if it is.
func (h *seenVersions) see(least, generation uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if generation < least {
		h.broken = true
	}
	if h.broken {
		return ErrPutBack
	}
	h.generation = max(h.generation, generation)
	return nil
}

// putBack reports whether a row, whose lock the caller holds, was of a larger
// version before. generation is that with which it was read: a row that is absent
// then can only come with a larger one.
func (h *seenVersions) putBack(k store.Key, rec store.Record, generation uint64) bool {
	if !remembered(k.Table) || rec.Found && rec.Version == 0 {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	n := h.hash(k)
	switch {
	case !rec.Found:
		h.remember(n, generation)
	case rec.Version < h.versions[n]:
		return true
	case k.Table != store.PreKeys:
		h.remember(n, rec.Version)
	}
	return false
}

// wrote remembers what a batch has written with a generation. Of prekeys only
// those that are gone are remembered: the others are written once.
func (h *seenVersions) wrote(b *store.Batch, generation uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, op := range b.Ops() {
		if !remembered(op.Key.Table) || op.Key.Table == store.PreKeys && !op.Delete {
			continue
		}
		h.remember(h.hash(op.Key), generation)
	}
}

func (h *seenVersions) remember(n, version uint64) {
	if _, ok := h.versions[n]; !ok && len(h.versions) >= maxSeen {
		for old := range h.versions { // any
			delete(h.versions, old)
			break
		}
	}
	h.versions[n] = max(h.versions[n], version)
}

// restart is for a database that was put back, and is safe to use again from
// that generation on.
func (h *seenVersions) restart(generation uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.generation, h.broken = generation, false
	clear(h.versions)
}
