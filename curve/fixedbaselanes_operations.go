package curve

import "github.com/sigcore/sigcore/internal/impl"

// fixedBaseManyOperations declares the operations that rest on multiplications of
// the base point side by side for the report of package impl.
func fixedBaseManyOperations(toggles ...*bool) {
	for _, name := range []string{"PublicKeys", "GenerateKeys", "PrivateKey.SignBatch"} {
		impl.Operation(name, toggles...)
	}
}
