package binary

import (
	"errors"
	"strconv"
)

// The reasons why bytes are not a node. They arrive wrapped in a *SyntaxError.
var (
	ErrUnexpectedEOF = errors.New("unexpected end of data")
	ErrInvalidToken  = errors.New("invalid token")
	ErrInvalidNode   = errors.New("invalid node")
	ErrNonStringKey  = errors.New("attribute key is not a string")
	ErrInvalidUTF8   = errors.New("invalid UTF-8")
	ErrInvalidJID    = errors.New("invalid JID")
	ErrDepth         = errors.New("nesting too deep")
	ErrLeftoverData  = errors.New("bytes left over after the root")
	// ErrStrict: the form is readable, but only strict decoding was asked for.
	ErrStrict = errors.New("form refused by strict decoding")
)

// The reasons why a frame cannot be unpacked.
var (
	ErrEmptyFrame    = errors.New("binary: empty frame")
	ErrFlagByte      = errors.New("binary: flag byte of an uncompressed frame is")
	ErrInflate       = errors.New("binary: frame does not inflate")
	ErrFrameTooLarge = errors.New("binary: frame inflates to more than the limit")
)

// ErrEncode is wrapped by every error of encoding: the node has no form on the
// wire that would decode to the same node.
var ErrEncode = errors.New("binary: node cannot be encoded")

// ErrPlanMismatch means that encoding contradicts itself: a [Classifier] gave
// the class of another text, or the encoder has a fault.
var ErrPlanMismatch = errors.New("binary: encoding does not agree with its plan")

// SyntaxError is an error of decoding. Offset is where in the bytes after the
// flag byte the offending element starts or the data ends.
type SyntaxError struct {
	Offset int
	Err    error
}

func (e *SyntaxError) Error() string {
	return "binary: " + e.Err.Error() + " at offset " + strconv.Itoa(e.Offset)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
