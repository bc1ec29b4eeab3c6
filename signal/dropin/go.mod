module go.mau.fi/libsignal

go 1.26.0

replace github.com/sigcore/sigcore => ../..

require (
	github.com/sigcore/sigcore v0.0.0-00010101000000-000000000000
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/klauspost/cpuid/v2 v2.4.2 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
