// Package field implements arithmetic in GF(2^255-19), the field under
// Curve25519 and edwards25519.
//
// The field by itself is no cryptographically secure group. Programs that want
// keys, agreements or signatures use package curve; this package is for those
// who compute with coordinates. The method set is that of
// filippo.io/edwards25519/field, plus SquareN, SetCanonicalBytes, BytesInto,
// Words, SetWords, Limbs and InvertBatch.
//
// # Representation
//
// An [Element] is five limbs l0..l4 of 64 bits and stands for
//
//	l0 + l1·2^51 + l2·2^102 + l3·2^153 + l4·2^204
//
// The representation is redundant. The only rule is that every limb is lower
// than 2^52 before and after each operation. What each operation accepts and
// leaves, p being 2^255-19:
//
//	operation                  limbs in   limbs out
//	Multiply, Square, SquareN  < 2^52     < 2^51 + 2^18
//	Invert                     < 2^52     < 2^51
//	Mult32                     < 2^52     < 2^51 + 2^38
//	Add                        < 2^52     < 2^51 + 2^6
//	Subtract, Negate           < 2^52     < 2^51 + 2^7
//	SetBytes                              < 2^51
//	SetWords                              < 2^51, l4 < 2^52
//	SetWideBytes                          < 2^51 + 2^11
//	Select, Swap, Set          < 2^52     those of the arguments
//	Bytes, Words, Equal        < 2^52     canonical: the value is below p
//
// # Constant time
//
// Every function takes time that depends on no value of an Element, only on
// the lengths of slices and on the count given to SquareN. Whether
// SetCanonicalBytes returns an error tells if its input was canonical.
//
// # Errors
//
// Only decoding fails, with an error that wraps [ErrLength] or
// [ErrNonCanonical], and it leaves the receiver as it was.
package field

//go:generate go run -C ../asm ./field/fe -out ../field/fe_amd64.s -stubs ../field/fe_stubs_amd64.go -pkg field
//go:generate go run -C ../asm ./field/invert -out ../field/invert_amd64.s -stubs ../field/invert_stubs_amd64.go -pkg field
