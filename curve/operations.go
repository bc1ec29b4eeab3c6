package curve

import "github.com/sigcore/sigcore/internal/impl"

// The operation that rests on no kernel but those of package field, for the
// report of package impl.
func init() { impl.Operation("ScalarMult") }
