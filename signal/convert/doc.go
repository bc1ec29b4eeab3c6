// Package convert reads and writes the records of other implementations of the
// Signal protocol: the JSON of go.mau.fi/libsignal, in which whatsmeow stores
// sessions and sender keys, and the JSON of libsignal-node, in which Baileys
// stores sessions, with that of Baileys for sender keys. Signal's own protobuf is what package signal stores; it
// reads every dialect of it, and AppendPortable writes the one that all
// readers share.
//
// A conversion keeps everything that either side acts upon, or it is refused
// with the reason. What is not carried because nothing acts upon it is said at
// each function. A record that is written for another implementation is a
// move: whoever goes on to use both copies uses message keys twice. The lease
// of a record is not carried; a record whose counters may be behind the ceiling
// has to be brought up to it before.
//
// Errors: what is read and is not a record wraps [signal.ErrCorruptRecord];
// what cannot be written wraps [ErrInexpressible]. Texts name fields and
// numbers, never their contents. Nothing that is read makes the functions
// panic, or allocate more than a small multiple of it.
//
// Constant time: not claimed. Base64 is decoded by tables.
package convert

import (
	"errors"
	"fmt"

	"github.com/sigcore/sigcore/signal"
)

// ErrInexpressible means that a record holds something that the other form has
// no place for.
var ErrInexpressible = errors.New("convert: the form cannot express the record")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("convert: %s: %w", fmt.Sprintf(format, args...), signal.ErrCorruptRecord)
}

func inexpressible(format string, args ...any) error {
	return fmt.Errorf("convert: %s: %w", fmt.Sprintf(format, args...), ErrInexpressible)
}
