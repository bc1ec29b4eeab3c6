// Package impl is the registry of the kernels of all units: which there are,
// which may run here, which run now, and which operations they serve.
//
// A unit with kernels has, in the file of its dispatchers,
//
//	var useMULX = cpu.MULX
//
//	func init() {
//		impl.Register("mulx", &useMULX, cpu.V3)
//		if useMULX && !selfTestMULX() {
//			impl.Demote(&useMULX, "the known-answer self-test failed")
//		}
//		impl.Operation("Multiply", &useMULX)
//		impl.Operation("Add")
//	}
//
// and in the file for builds without assembly the same operations without
// toggles. The package that a kernel or operation belongs to is that of the
// caller, without its directory: "field" or "kdf".
//
// Toggles are read by dispatchers without synchronisation. They change in
// package initialisation, and in tests through package impltest.
package impl
