// Package binary implements WhatsApp's binary XML: nodes with ordered
// attributes, addresses (JIDs), the token dictionary of version 3, and the
// frames around them. It knows nothing of encryption; nothing in it is secret,
// and all of it takes variable time.
//
// Encoding plans first and copies what was planned: [Marshal] allocates once,
// of the exact size, [AppendMarshal] not at all if dst has room. What is written
// decodes to the same node (see [Equal]) or encoding fails. An [Encoder] can be
// given [ClassifyCompat], which classifies texts as the reference implementation
// does and loses some.
//
// Decoding ([Unmarshal]) trusts nothing: nesting is limited, and no announced
// count is believed before the bytes that it needs are known to be there, so
// that memory stays in proportion to the input. [UnmarshalInPlace] gives a node
// that refers to its input, an [Arena] one that also lives in memory used
// again; [Node.Clone] makes either independent. [UnmarshalStrict] refuses what
// correct encoders do not write.
//
// [Build] puts nodes together, [Node.Read] reads attributes and collects the
// errors, [Node.Find] and [Node.Children] go down the tree. [Node.String] is
// for debugging and redacts.
//
// Errors of decoding are *[SyntaxError] values that carry the offset and wrap
// one of the Err values. Errors of encoding wrap [ErrEncode].
package binary

//go:generate go run ./internal/gen tokens.txt tokens_table.go
