// Package signal implements the Signal protocol as WhatsApp speaks it: X3DH
// session setup, the double ratchet, sender keys, the wire messages and the
// stored records.
//
// There are two layers. Most programs want an [Account]: one identity with its
// sessions, prekeys and sender keys in a backend of package store. It loads,
// locks, writes and deletes by itself and is safe for concurrent use.
// [CreateAccount] makes one, [OpenAccount] opens it again.
//
// Below it are values with methods that do no input or output. A [Session]
// holds everything about one remote device, a [SenderKey] everything about one
// sender in one group. Whoever owns such a value serialises access to it: its
// methods are not safe for concurrent use. Trust in identities, the lookup of
// prekeys and their deletion are the caller's; what it has to know comes back
// in a result, such as [Received]. [InitiateMany], [EncryptMany] and
// [DecryptGroupMany] take many values at once, and give what one after the other
// would give.
//
// Wire form: a public key in a message is 33 bytes, the type byte 5 and the
// Montgomery u-coordinate; messages are protobuf behind a version byte. MACs
// and signatures are checked over the bytes received, never over a
// re-encoding, so unknown fields and unusual orders do no harm.
//
// State: nothing changes before a message is authenticated and its padding
// found good. After an error a value serialises to the same bytes and gives
// the same next outputs.
//
// Constant time: everything that touches a private key, a chain key or a
// message key. Lengths, counters and public keys are not secret.
//
// Errors: sentinels and types for errors.Is and errors.As. Texts carry numbers, never keys, plaintexts or names.
package signal
