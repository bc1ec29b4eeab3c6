//go:build linux

package sqlstore

import (
	"testing"

	"github.com/sigcore/sigcore/signal/internal/accounttest"
	"github.com/sigcore/sigcore/signal/store"
)

// TestPostgresKillLeasedAccount kills processes that own an account.
func TestPostgresKillLeasedAccount(t *testing.T) { accounttest.KillLeased(t, atPlace(t)) }

// TestPostgresChaos runs the chaos machine over a server that is killed and
// started again in between.
func TestPostgresChaos(t *testing.T) {
	s, err := startServer()
	orSkip(t, s, err)
	defer s.stop()
	accounttest.Chaos(t, func(t *testing.T) (store.Backend, func() store.Backend) {
		p := openPG(t, s.database(t))
		return p, func() store.Backend {
			s.kill()
			if err := s.run(); err != nil {
				t.Fatal(err)
			}
			return p
		}
	})
}
