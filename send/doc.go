// Package send prepares the stanzas that carry encrypted messages: to one's
// own devices ([Peer]), to a person ([Direct]) and to a group ([Group]). It
// takes a message as the bytes of its protobuf, pads it, has it encrypted for
// every device through an [Account], and returns the node to be sent. It does
// no network input or output: sessions with the devices have to be there, and
// a device without one is reported, not waited for.
//
// Errors: a device that was not encrypted for is a [Failure] of the result and
// hinders no other. An error of the whole means that nothing is to be sent.
// Texts never contain addresses or contents.
//
// All randomness is drawn through internal/random: one byte per plaintext for
// its padding, and what package signal draws.
package send
