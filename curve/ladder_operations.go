package curve

import "github.com/sigcore/sigcore/internal/impl"

// ladderOperations declares the operations that rest on the ladder for the
// report of package impl.
func ladderOperations(toggles ...*bool) {
	impl.Operation("X25519", toggles...)
}
