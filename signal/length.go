package signal

import "google.golang.org/protobuf/encoding/protowire"

// A stored record of more than one field begins with its length, in field 102:
// one that was cut between two fields would else be a record too, without
// archived sessions or without its lease. Readers that do not know the field skip
// it. If it is not the first one, but for the day that an account puts in front,
// such a reader has written the record anew, and it says nothing.

const tagLength = 102 << 3 // a varint

// appendLength appends the field for a record of n bytes behind it.
func appendLength(dst []byte, n int) []byte {
	return protowire.AppendVarint(protowire.AppendVarint(dst, tagLength), uint64(n))
}

// maxLengthSize is the most that the field takes, in bytes, for records of less
// than 2^35.
const maxLengthSize = 2 + 5

// checkLength compares what the field, which r has read, says with what is left.
func (r *fieldReader) checkLength(first bool) {
	if first && r.typ == protowire.VarintType && r.v != uint64(len(r.b)) {
		r.bad = true
	}
}
