module github.com/sigcore/sigcore

go 1.26.0

// Oracles of the tests; golang.org/x/crypto also seals records in signal/store.
require (
	filippo.io/edwards25519 v1.2.0
	golang.org/x/crypto v0.59.0
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/sys v0.50.0 // indirect
