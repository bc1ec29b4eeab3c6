package sqlstore

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/sigcore/sigcore/signal/internal/accounttest"
	"github.com/sigcore/sigcore/signal/store"
	"github.com/sigcore/sigcore/signal/store/storetest"
)

func TestAccount(t *testing.T) { accounttest.Run(t, openAccounts) }

func TestLeasedAccount(t *testing.T) { accounttest.RunLeased(t, openAccounts) }

func openAccounts(t *testing.T) (store.Backend, func() store.Backend) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path)
	return s, func() store.Backend {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path)
		return s
	}
}

func TestKillAccount(t *testing.T) {
	accounttest.Kill(t, func(place string) (store.Backend, error) {
		return OpenSQLite(context.Background(), filepath.Join(place, "test.db"))
	})
}

func TestKillLeasedAccount(t *testing.T) {
	accounttest.KillLeased(t, func(place string) (store.Backend, error) {
		return OpenSQLite(context.Background(), filepath.Join(place, "test.db"))
	})
}

// TestChaos runs the chaos machine over a file, with reopenings in between.
func TestChaos(t *testing.T) { accounttest.Chaos(t, openAccounts) }

// TestSealed: records that are sealed in SQLite.
func TestSealed(t *testing.T) {
	seal := func(t *testing.T, b store.Backend) store.Backend {
		s, err := store.Seal(b, store.SealKey{ID: 1, Key: [32]byte{1}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	storetest.Run(t, func(t *testing.T) store.Backend {
		return seal(t, open(t, filepath.Join(t.TempDir(), "test.db")))
	})
	if testing.Short() {
		return
	}
	accounttest.Run(t, func(t *testing.T) (store.Backend, func() store.Backend) {
		b, reopen := openAccounts(t)
		return seal(t, b), func() store.Backend { return seal(t, reopen()) }
	})
}
