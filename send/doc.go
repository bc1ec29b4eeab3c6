// Package send prepares the stanzas that carry encrypted messages: to one's
// own devices ([Peer]), to a person ([Direct]), to a group ([Group]), to those
// who see a status ([Status]), and once more to a device that could not read
// ([Retry]). It takes a message as the bytes of its protobuf, pads it, has it
// encrypted for every device through an [Account], and returns the node to be
// sent. It does no network input or output: what a device has no session for is
// reported, not waited for, and [Sessions] start sessions from bundles that the
// caller fetches.
//
// A [Tracker] sends to groups and keeps the books about who holds our sender
// keys; docs/send.md describes the flow. [Classify] and [NewReporting] read off a
// message what its stanza says beside it.
//
// Errors: a device that was not encrypted for is a [Failure] of the result and
// hinders no other. An error of the whole means that nothing is to be sent.
// Texts never contain addresses or contents.
//
// All randomness is drawn through internal/random: one byte per plaintext for
// its padding, and what package signal draws.
package send
