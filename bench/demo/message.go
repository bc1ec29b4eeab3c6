package main

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one length-delimited field of a protobuf message.
type field struct {
	num   protowire.Number
	value []byte
}

func encodeFields(fields ...field) (b []byte) {
	for _, f := range fields {
		b = protowire.AppendTag(b, f.num, protowire.BytesType)
		b = protowire.AppendBytes(b, f.value)
	}
	return b
}

// Field numbers of WhatsApp's Message that the demo uses.
const (
	conversation = 1  // the text
	distribution = 2  // a sender key: group 1, SenderKeyDistributionMessage 2
	deviceSent   = 31 // what another own device has sent: destination 1, message 2
)

// text is the encoded Message with a text.
func text(s string) []byte { return encodeFields(field{conversation, []byte(s)}) }

var errMessage = errors.New("message is not a protobuf")

// decodeFields returns the length-delimited fields of a message by number.
func decodeFields(b []byte) (map[protowire.Number][]byte, error) {
	fields := make(map[protowire.Number][]byte)
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, errMessage
		}
		b = b[n:]
		if typ == protowire.BytesType {
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, errMessage
			}
			fields[num], b = v, b[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
			return nil, errMessage
		}
		b = b[n:]
	}
	return fields, nil
}
