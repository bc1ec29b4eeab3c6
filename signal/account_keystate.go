package signal

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// keyState is what the account row knows of its prekeys beside the rows of
// these: what was uploaded and in which order signed prekeys came.
type keyState struct {
	// unsent are the ids that were minted and not marked as uploaded. An id
	// whose prekey is gone may be among them; it is dropped when it is met.
	unsent idSet

	// retry is the prekey that retry receipts hand out, 0 if there is none.
	retry uint32

	// nextSigned is the id of the next signed prekey that is minted, 0 if none
	// was set yet.
	nextSigned uint32

	// signedUploaded says that the current signed prekey was marked.
	signedUploaded bool

	// retained are the predecessors of the current signed prekey, oldest first.
	retained []retainedKey
}

// retainedKey is a signed prekey that is no longer the current one.
type retainedKey struct {
	id uint32
	// since is when a later one was known to be uploaded, in seconds since 1970;
	// 0 if none is, and then the server may still give this one out.
	since uint64
}

// append appends the state in the form of protobuf: 1 the set of ids that were
// not uploaded, as varints, 2 the prekey of retry receipts, 3 the next signed
// prekey id, 4 whether the current signed prekey was uploaded, 5 the retained
// ones as pairs of varints. What is empty is left out.
func (s *keyState) append(dst []byte) []byte {
	if len(s.unsent) > 0 {
		dst = appendBytesField(dst, 1, s.unsent.append(nil))
	}
	for _, f := range []struct {
		num byte
		v   uint32
	}{{2, s.retry}, {3, s.nextSigned}, {4, boolField(s.signedUploaded)}} {
		if f.v != 0 {
			dst = appendUintField(dst, f.num, f.v)
		}
	}
	if len(s.retained) > 0 {
		var b []byte
		for _, k := range s.retained {
			b = protowire.AppendVarint(b, uint64(k.id))
			b = protowire.AppendVarint(b, k.since)
		}
		dst = appendBytesField(dst, 5, b)
	}
	return dst
}

func boolField(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// parseKeyState reads what append wrote; false if it is not that.
func parseKeyState(b []byte) (s keyState, ok bool) {
	var unsent, retained []byte
	var uploaded uint32
	r := fieldReader{b: b}
	for r.next() {
		switch r.num {
		case 1:
			r.bytes(&unsent)
		case 2:
			r.varint(&s.retry)
		case 3:
			r.varint(&s.nextSigned)
		case 4:
			r.varint(&uploaded)
		case 5:
			r.bytes(&retained)
		default:
			r.bad = true // it would be lost when the row is written
		}
	}
	if s.unsent, ok = parseIDSet(unsent); !ok || r.bad || uploaded > 1 || s.retry > MaxPreKeyID || s.nextSigned > MaxPreKeyID {
		return s, false
	}
	s.signedUploaded = uploaded == 1
	for b := retained; len(b) > 0; {
		id, n := protowire.ConsumeVarint(b)
		if n < 0 || id > 1<<32-1 {
			return s, false
		}
		since, m := protowire.ConsumeVarint(b[n:])
		if m < 0 {
			return s, false
		}
		b = b[n+m:]
		s.retained = append(s.retained, retainedKey{uint32(id), since})
	}
	return s, true
}

// forget removes a signed prekey from the retained ones.
func (s *keyState) forget(id uint32) {
	s.retained = slices.DeleteFunc(s.retained, func(k retainedKey) bool { return k.id == id })
}
