package curve

import "github.com/sigcore/sigcore/internal/impl"

// doubleBaseOperations declares the operations that rest on sums of two multiples
// for the report of package impl.
func doubleBaseOperations(toggles ...*bool) {
	for _, name := range []string{
		"VarTimeDoubleScalarBaseMult", "Verify", "VerificationKey.Verify", "VerifyEd25519",
	} {
		impl.Operation(name, toggles...)
	}
}
