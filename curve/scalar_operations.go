package curve

import "github.com/sigcore/sigcore/internal/impl"

// scalarOperations declares the operations of Scalar for the report of package
// impl.
func scalarOperations(toggles ...*bool) {
	for _, name := range []string{
		"Scalar.MultiplyAdd", "Scalar.Multiply", "Scalar.SetUniformBytes", "Scalar.SetBytesWithClamping",
	} {
		impl.Operation(name, toggles...)
	}
	for _, name := range []string{"Scalar.Add", "Scalar.Subtract", "Scalar.Negate", "Scalar.SetCanonicalBytes"} {
		impl.Operation(name)
	}
}
