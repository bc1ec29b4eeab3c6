package signal

import (
	"context"
)

// A Start says how an operation that encrypts to many addresses comes by the
// sessions that it lacks, and how much it may do at once. Nil is a Start
// without bundles.
type Start struct {
	// Bundles start sessions with addresses of the operation that have none.
	// A session that is there already, even one that was not answered yet,
	// stays as it is, so that callers who fetched the same bundle do not replace
	// each other's sessions. Bundles of other addresses are left alone.
	Bundles []AddressedBundle

	// Workers bounds the goroutines, up to MaxWorkers; 0 stands for one for each
	// processor. Results, their order and draws do not depend on it.
	Workers int
}

func (s *Start) workers() int {
	if s == nil {
		return workerCount(0)
	}
	return workerCount(s.Workers)
}

// startMissing starts sessions with the peers that have none, in memory. A peer
// whose bundle is refused has the reason as its error.
func (a *Account) startMissing(peers []*peer, start *Start, b putter) []BundleResult {
	if start == nil || len(start.Bundles) == 0 {
		return nil
	}
	byAddr := make(map[Address]*peer, len(peers))
	for _, p := range peers {
		byAddr[p.addr] = p
	}
	out := make([]BundleResult, len(start.Bundles))
	missing := make([]*peer, 0, len(start.Bundles))
	bundles := make([]AddressedBundle, 0, len(start.Bundles))
	at := make([]int, 0, len(start.Bundles))
	for i := range start.Bundles {
		p := byAddr[start.Bundles[i].Addr]
		if p == nil || p.err == nil && p.session != nil && p.session.CanEncrypt() {
			continue
		}
		// An address that is named twice is started once.
		delete(byAddr, p.addr)
		missing, bundles, at = append(missing, p), append(bundles, start.Bundles[i]), append(at, i)
	}
	for k, r := range a.initiateAll(missing, bundles, start.workers(), b) {
		out[at[k]] = r
		if r.Err != nil {
			missing[k].err = r.Err
		}
	}
	return out
}

// NeedBundles reports for each address, in order, whether a bundle would start a
// session with it: there is none that can send, and no record that does not parse, which no
// bundle replaces and which encrypting to the address has the error of.
func (a *Account) NeedBundles(ctx context.Context, addrs []Address) ([]bool, error) {
	keys := sessionKeys(addrs)
	out := make([]bool, len(addrs))
	err := a.view(ctx, "sessions", keys, keys, func(t *txn) error {
		for i, r := range t.asked {
			out[i] = r.err == nil && (r.session == nil || !r.session.CanEncrypt())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
