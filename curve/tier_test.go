package curve

import (
	"testing"

	"github.com/sigcore/sigcore/internal/impl/impltest"
)

// eachTier runs f under every pair of a kernel set of field and one of this
// package.
func eachTier(t *testing.T, f func(t *testing.T)) {
	impltest.All(t, "field", func(t *testing.T) { impltest.All(t, "curve", f) })
}
