package curve

import "github.com/sigcore/sigcore/internal/impl"

// operations declares the operations of this package for the report of package
// impl: those that rest on the kernels behind toggles, and those that have none
// but the kernels of package field.
func operations(toggles ...*bool) {
	for _, name := range []string{
		"PublicKey", "ScalarBaseMult", "PrivateKey.Sign", "Ed25519PrivateKey.Sign",
	} {
		impl.Operation(name, toggles...)
	}
	for _, name := range []string{
		"ScalarMult", "VarTimeDoubleScalarBaseMult", "Verify", "VerifyEd25519",
	} {
		impl.Operation(name)
	}
}
