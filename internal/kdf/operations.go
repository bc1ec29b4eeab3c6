package kdf

import "github.com/sigcore/sigcore/internal/impl"

// operations declares the operations of this package for the report of package
// impl: those that rest on the kernels behind toggles, and those without any.
func operations(toggles ...*bool) {
	impl.Operation("HMAC", toggles...)
	impl.Operation("ChainStep", toggles...)
	impl.Operation("SeedKeys", toggles...)
	impl.Operation("SeedKeysPair", toggles...)
	impl.Operation("HMACPair", toggles...)
	impl.Operation("HKDF")
}
