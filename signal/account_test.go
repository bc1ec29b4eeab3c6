package signal_test

import (
	"testing"

	"github.com/sigcore/sigcore/signal/internal/accounttest"
	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func TestAccount(t *testing.T) {
	accounttest.Run(t, func(*testing.T) (store.Backend, func() store.Backend) {
		b := store.NewMemory()
		return b, func() store.Backend { return b }
	})
}

func TestLeasedAccount(t *testing.T) {
	accounttest.RunLeased(t, func(*testing.T) (store.Backend, func() store.Backend) {
		b := store.NewMemory()
		return b, func() store.Backend { return b }
	})
}

// TestDisk holds that the backend of the tests is one.
func TestDisk(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Backend { return accounttest.NewDisk() })
}

func TestChaos(t *testing.T) {
	accounttest.Chaos(t, func(*testing.T) (store.Backend, func() store.Backend) { return accounttest.NewDisk(), nil })
}
