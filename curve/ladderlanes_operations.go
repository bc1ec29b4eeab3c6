package curve

import "github.com/sigcore/sigcore/internal/impl"

// ladderManyOperations declares the operations that rest on ladders side by side
// for the report of package impl.
func ladderManyOperations(toggles ...*bool) {
	impl.Operation("X25519Batch", toggles...)
}
