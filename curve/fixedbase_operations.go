package curve

import "github.com/sigcore/sigcore/internal/impl"

// fixedBaseOperations declares the operations that rest on the fixed-base
// multiplication for the report of package impl.
func fixedBaseOperations(toggles ...*bool) {
	for _, name := range []string{
		"PublicKey", "ScalarBaseMult", "PrivateKey.Sign", "Ed25519PrivateKey.Sign",
	} {
		impl.Operation(name, toggles...)
	}
}
