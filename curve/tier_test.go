package curve

import "testing"

// eachTier runs f under every implementation of field and of curve.
func eachTier(t *testing.T, f func(t *testing.T)) { f(t) }
