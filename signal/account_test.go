package signal_test

import (
	"testing"

	"github.com/sigcore/sigcore/signal/internal/accounttest"
	"github.com/sigcore/sigcore/signal/store"
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
