package accounttest

import (
	"testing"

	"github.com/sigcore/sigcore/signal"
)

// RunLeased runs over leased accounts what Run runs over durable ones, as far as
// it is about what callers see.
func RunLeased(t *testing.T, open Open) {
	options = signal.OpenOptions{Durability: signal.Leased}
	defer func() { options = signal.OpenOptions{} }()
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) { c.f(t, open) })
	}
}
