package aescbc

import "github.com/sigcore/sigcore/internal/impl"

// operations declares the operations of this package for the report of package
// impl: those that rest on the kernels behind toggles.
func operations(toggles ...*bool) {
	impl.Operation("Encrypt", toggles...)
	impl.Operation("EncryptPair", toggles...)
	impl.Operation("Decrypt", toggles...)
}
