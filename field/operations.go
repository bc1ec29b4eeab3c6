package field

import "github.com/sigcore/sigcore/internal/impl"

// operations declares the operations of this package for the report of package
// impl: those that rest on the kernels behind toggles, and those without any.
func operations(toggles ...*bool) {
	for _, name := range []string{
		"Multiply", "Square", "SquareN", "Pow22523", "SqrtRatio",
	} {
		impl.Operation(name, toggles...)
	}
	for _, name := range []string{"Add", "Subtract", "Mult32", "SetBytes", "Bytes", "Equal", "Select"} {
		impl.Operation(name)
	}
}

// invertOperations declares those that rest on the inversion.
func invertOperations(toggles ...*bool) {
	impl.Operation("Invert", toggles...)
	impl.Operation("InvertBatch", toggles...)
}
