package send

import (
	"context"
	"sync"

	"github.com/sigcore/sigcore/signal"
)

// A Holder is a device that was sent a sender key of ours, and whether it is
// known to hold it. One that is not needs the key again before it can read;
// that it may hold it is why the key is replaced when the device leaves.
type Holder struct {
	Device string // the display form of the device's JID
	Holds  bool
}

// KeyHolders keeps, for each sender key of ours, which devices it was sent to.
// It has to outlast the process as the sender keys do. Safe for concurrent use.
type KeyHolders interface {
	// Holders returns what is kept for a sender key, in any order.
	Holders(ctx context.Context, name signal.SenderKeyName) ([]Holder, error)

	// ChangeHolders adds devices or replaces what is kept of them, and removes
	// devices, in one write. Removing an absent device is not an error.
	ChangeHolders(ctx context.Context, name signal.SenderKeyName, set []Holder, remove []string) error
}

// MemoryHolders is a [KeyHolders] without persistence, for tests and for
// accounts in memory. The zero value is empty.
type MemoryHolders struct {
	mu   sync.Mutex
	keys map[signal.SenderKeyName]map[string]bool
}

var _ KeyHolders = (*MemoryHolders)(nil)

// Holders implements [KeyHolders].
func (m *MemoryHolders) Holders(ctx context.Context, name signal.SenderKeyName) ([]Holder, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Holder, 0, len(m.keys[name]))
	for device, holds := range m.keys[name] {
		out = append(out, Holder{device, holds})
	}
	return out, nil
}

// ChangeHolders implements [KeyHolders].
func (m *MemoryHolders) ChangeHolders(ctx context.Context, name signal.SenderKeyName, set []Holder, remove []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.keys == nil {
		m.keys = map[signal.SenderKeyName]map[string]bool{}
	}
	row := m.keys[name]
	if row == nil {
		row = map[string]bool{}
		m.keys[name] = row
	}
	for _, device := range remove {
		delete(row, device)
	}
	for _, h := range set {
		row[h.Device] = h.Holds
	}
	return nil
}
