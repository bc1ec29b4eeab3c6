package curve

import "errors"

var (
	// ErrLowOrder says that a point is of low order, or that an agreement
	// with it would be zero.
	ErrLowOrder = errors.New("curve: low order point")
	// ErrKeyLength says that an encoding has the wrong length.
	ErrKeyLength = errors.New("curve: invalid key length")
	// ErrNotOnCurve says that an encoding is not that of a point.
	ErrNotOnCurve = errors.New("curve: not a point of the curve")
	// ErrNonCanonical says that a strict function was given an encoding that
	// its lenient form would have reduced, masked or clamped.
	ErrNonCanonical = errors.New("curve: non-canonical encoding")
)
