package send

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of WhatsApp's Message and what is inside it.
const (
	fieldDistribution = 2  // SenderKeyDistributionMessage: group 1, SKDM 2
	fieldDeviceSent   = 31 // DeviceSentMessage: destination 1, message 2
	fieldContext      = 35 // MessageContextInfo

	// What has no reporting token.
	fieldReaction    = 46
	fieldPollUpdate  = 50
	fieldKeepInChat  = 51
	fieldEncReaction = 56
)

// splitContext separates the MessageContextInfo of an encoded message from its
// other fields. Without one, content is message itself.
func splitContext(message []byte) (content, context []byte, err error) {
	start := 0 // of the fields that are not in content yet
	for at := 0; at < len(message); {
		num, typ, n := protowire.ConsumeTag(message[at:])
		if n < 0 {
			return nil, nil, fmt.Errorf("%w at offset %d", ErrMalformed, at)
		}
		l := protowire.ConsumeFieldValue(num, typ, message[at+n:])
		if l < 0 {
			return nil, nil, fmt.Errorf("%w at offset %d", ErrMalformed, at)
		}
		end := at + n + l
		if num == fieldContext && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(message[at+n:])
			context = append(context, v...) // of several, protobuf reads the concatenation
			content = append(content, message[start:at]...)
			start = end
		}
		at = end
	}
	if start == 0 {
		return message, nil, nil
	}
	return append(content, message[start:]...), context, nil
}

// mergeContext returns old with the fields of added, which win.
func mergeContext(old, added []byte) ([]byte, error) {
	if len(old) == 0 || len(added) == 0 {
		return append(old[:len(old):len(old)], added...), checkFields(added, func(protowire.Number, []byte) {})
	}
	set := make(map[protowire.Number]bool)
	if err := checkFields(added, func(num protowire.Number, _ []byte) { set[num] = true }); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(old)+len(added))
	err := checkFields(old, func(num protowire.Number, field []byte) {
		if !set[num] {
			out = append(out, field...)
		}
	})
	return append(out, added...), err
}

// checkFields calls f with each field of an encoded message.
func checkFields(b []byte, f func(num protowire.Number, field []byte)) error {
	for at := 0; at < len(b); {
		num, _, n := protowire.ConsumeField(b[at:])
		if n < 0 {
			return fmt.Errorf("%w: context at offset %d", ErrMalformed, at)
		}
		f(num, b[at:at+n])
		at += n
	}
	return nil
}

// message is a message taken apart: what is in it, and its context.
type message struct{ content, context []byte }

// parse takes an encoded message apart and merges a context into its own.
func parse(encoded, context []byte) (m message, err error) {
	if m.content, m.context, err = splitContext(encoded); err != nil {
		return m, err
	}
	m.context, err = mergeContext(m.context, context)
	return m, err
}

func sizeField(num protowire.Number, n int) int {
	return protowire.SizeTag(num) + protowire.SizeBytes(n)
}

// appendLen appends the head of a field of n bytes.
func appendLen(b []byte, num protowire.Number, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.BytesType), uint64(n))
}

func (m *message) contextSize() int {
	if len(m.context) == 0 {
		return 0
	}
	return sizeField(fieldContext, len(m.context))
}

func (m *message) appendContext(b []byte) []byte {
	if len(m.context) == 0 {
		return b
	}
	return append(appendLen(b, fieldContext, len(m.context)), m.context...)
}

// plaintext returns what recipients get, padded: the content, then the context.
func (m *message) plaintext() ([]byte, error) { return m.appendPlaintext(nil) }

// appendPlaintext is plaintext in b if it has the room, else in one allocation.
func (m *message) appendPlaintext(b []byte) ([]byte, error) {
	b = slices.Grow(b, len(m.content)+m.contextSize()+MaxPadding)
	return AppendPadding(m.appendContext(append(b, m.content...)))
}

// ownPlaintext returns what the own other devices get, padded: the content
// inside a DeviceSentMessage, the context outside of it.
func (m *message) ownPlaintext(destination string) ([]byte, error) {
	inner := sizeField(1, len(destination)) + sizeField(2, len(m.content))
	b := make([]byte, 0, sizeField(fieldDeviceSent, inner)+m.contextSize()+MaxPadding)
	b = appendLen(b, fieldDeviceSent, inner)
	b = append(appendLen(b, 1, len(destination)), destination...)
	b = append(appendLen(b, 2, len(m.content)), m.content...)
	return AppendPadding(m.appendContext(b))
}

// distributionPlaintext returns what carries our sender key to a device,
// padded.
func distributionPlaintext(group string, skdm []byte) ([]byte, error) {
	inner := sizeField(1, len(group)) + sizeField(2, len(skdm))
	b := make([]byte, 0, sizeField(fieldDistribution, inner)+MaxPadding)
	b = appendLen(b, fieldDistribution, inner)
	b = append(appendLen(b, 1, len(group)), group...)
	b = append(appendLen(b, 2, len(skdm)), skdm...)
	return AppendPadding(b)
}
