package curve

import "github.com/sigcore/sigcore/internal/impl"

// The operations that rest on no kernel but those of package field, for the
// report of package impl.
func init() {
	for _, name := range []string{
		"ScalarMult", "VarTimeDoubleScalarBaseMult", "Verify", "VerifyEd25519",
	} {
		impl.Operation(name)
	}
}
