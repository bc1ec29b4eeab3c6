// Package curve implements X25519 (RFC 7748), XEdDSA as Signal deploys it, and
// Ed25519 (RFC 8032), with the group that they share.
//
// Keys and signatures go in and out as bytes. Programs that want sessions use
// package signal; [Point] and [Scalar] are for those who build other protocols,
// and like all bare groups they are easy to misuse.
//
// # Wire forms
//
// A private key is 32 bytes, clamped by whatever takes it. A public key is the
// 32-byte Montgomery u-coordinate; that of Ed25519 is the 32-byte encoding of an
// Edwards point. A signature is R and s, 32 bytes each; unlike in the XEdDSA
// paper, the top bit of an XEdDSA signature is the sign bit of the signer's
// Edwards public key.
//
// # Batches
//
// [X25519Batch], [PublicKeys], [GenerateKeys], [VerifyBatch] and
// [PrivateKey.SignBatch] do many operations at once, for less. Each result is that
// of the single operation, whatever the other items are. They allocate nothing but
// keys.
//
// # Lenient and strict
//
// [X25519] and [Verify] treat odd input as deployed peers do: non-canonical
// u-coordinates are reduced, their top bit is ignored, points of low order give
// zeros or verify as the equation says, and an s not below ℓ is reduced.
// [X25519Strict] and [VerifyStrict] refuse all of these.
//
// # Constant time
//
// Everything that takes a private key, a Scalar or a Point takes time that does
// not depend on their values, but for errors and what they tell. Exceptions have
// VarTime in their names or are verifications, which see public data only.
// Memory is not wiped: copies of secrets stay on stacks until they are reused.
//
// # Errors
//
// Decoding and the strict functions fail with errors that wrap [ErrKeyLength],
// [ErrNonCanonical], [ErrNotOnCurve] or [ErrLowOrder], and leave receivers and
// results as they were. Verification gives a bool. Functions that draw
// randomness fail if the draw does.
//
// # Implementations
//
// The choice is made once, at the start of the process; [Report] shows it. The
// environment variable SIGCORE_CPU removes tiers: SIGCORE_CPU=generic leaves none,
// SIGCORE_CPU=mulx=off takes away the one below.
//
//	ifma     AVX-512 with IFMA: multiples of the base point; batches, eight items side
//	         by side in 512-bit registers, which SIGCORE_CPU=zmm=off forbids, or four
//	         agreements or verifications in 256-bit ones
//	mulx     BMI2, AVX2: the ladder of X25519, multiples of the base point, sums of two
//	         multiples, the arithmetic of scalars, the kernels of package field
//	generic  everything else
//
// In a build for GOAMD64=v3 the tier mulx is compiled in. If its self-test fails
// there, or package internal/cpu refuses it, operations panic at first use with
// "curve: kernel self-test failed". So do operations that no kernel serves if the
// portable code gives a wrong known answer at the start of the process.
//
// # Tables
//
// Multiples of the base point, 48 KiB for fixed-base multiplication, 6 KiB for
// verification and 24 KiB for that with keys that verify often, are generated into
// the source. They are constant data of the
// binary: a process pays for the pages that it touches, at no start-up cost and
// without a check for initialisation at every use, as tables that are built at
// first use would need.
package curve

//go:generate go run ./internal/gentables -out tables.go
//go:generate go run -C ../asm ./curve/fixedbase -out ../curve/fixedbase_amd64.s -stubs ../curve/fixedbase_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/ladder -out ../curve/ladder_amd64.s -stubs ../curve/ladder_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/doublebase -out ../curve/doublebase_amd64.s -stubs ../curve/doublebase_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/scalar -out ../curve/scalar_amd64.s -stubs ../curve/scalar_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/ladderlanes -out ../curve/ladderlanes_amd64.s -stubs ../curve/ladderlanes_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/fixedbaselanes -out ../curve/fixedbaselanes_amd64.s -stubs ../curve/fixedbaselanes_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/scalarmultlanes -out ../curve/scalarmultlanes_amd64.s -stubs ../curve/scalarmultlanes_stubs_amd64.go -pkg curve
//go:generate go run -C ../asm ./curve/fixedbaseone -out ../curve/fixedbaseone_amd64.s -stubs ../curve/fixedbaseone_stubs_amd64.go -pkg curve
