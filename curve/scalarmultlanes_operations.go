package curve

import "github.com/sigcore/sigcore/internal/impl"

// scalarMultManyOperations declares the operations that rest on multiplications of
// points side by side for the report of package impl.
func scalarMultManyOperations(toggles ...*bool) {
	impl.Operation("VerifyBatch", toggles...)
}
