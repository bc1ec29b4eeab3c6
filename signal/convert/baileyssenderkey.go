package convert

import (
	"slices"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// ParseBaileysSenderKey reads a sender key record of Baileys: a list of keys,
// the current one last, whose key material is Buffer objects or base64. It takes
// over everything; [AppendBaileysSenderKey] of the result writes the same bytes.
// More keys, or skipped ones, than that library keeps are refused.
func ParseBaileysSenderKey(data []byte) (*signal.SenderKey, error) {
	d := decoder{b: data}
	r := new(pb.SenderKeyRecordStructure)
	d.array(func() {
		r.SenderKeyStates = append(r.SenderKeyStates, d.baileysSenderKeyState())
		if len(r.SenderKeyStates) > signal.MaxSenderKeyStates {
			d.fail("more than %d sender keys", signal.MaxSenderKeyStates)
		}
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	slices.Reverse(r.SenderKeyStates)
	return senderKey(r)
}

func (d *decoder) baileysSenderKeyState() *pb.SenderKeyStateStructure {
	st := &pb.SenderKeyStateStructure{SenderSigningKey: new(pb.SenderKeyStateStructure_SenderSigningKey)}
	d.object(func(name string) {
		switch name {
		case "senderKeyId":
			st.SenderKeyId = d.uint32(name)
		case "senderChainKey":
			iteration, seed := d.baileysSeed(name)
			st.SenderChainKey = &pb.SenderKeyStateStructure_SenderChainKey{Iteration: iteration, Seed: seed}
		case "senderSigningKey":
			d.object(func(name string) {
				switch name {
				case "public":
					st.SenderSigningKey.Public = d.nodeKey(name)
				case "private":
					if !d.null() {
						st.SenderSigningKey.Private = d.buffer(name, 32, true)
					}
				default:
					d.skip()
				}
			})
		case "senderMessageKeys":
			st.SenderMessageKeys = nil
			d.array(func() {
				iteration, seed := d.baileysSeed("message key")
				st.SenderMessageKeys = append(st.SenderMessageKeys,
					&pb.SenderKeyStateStructure_SenderMessageKey{Iteration: iteration, Seed: seed})
				if len(st.SenderMessageKeys) > signal.MaxSkippedKeys {
					d.fail("more than %d message keys", signal.MaxSkippedKeys)
				}
			})
		default:
			d.skip()
		}
	})
	if st.SenderKeyId == nil || st.SenderChainKey == nil || st.SenderSigningKey.Public == nil {
		d.fail("sender key without an id, a chain key or a signing key")
	}
	return st
}

// baileysSeed reads an iteration with 32 bytes.
func (d *decoder) baileysSeed(what string) (iteration *uint32, seed []byte) {
	d.object(func(name string) {
		switch name {
		case "iteration":
			iteration = d.uint32(name)
		case "seed":
			seed = d.nodeBytes(name, 32)
		default:
			d.skip()
		}
	})
	if iteration == nil || seed == nil {
		d.fail("%s without a part", what)
	}
	return iteration, seed
}

// AppendBaileysSenderKey appends the record of Baileys for k. It refuses an
// empty record with ErrInexpressible. What a key holds over the 2,000 newest
// skipped keys is due to be dropped, and is not written. Whoever sends with the
// record there leaves every second iteration out, which receivers allow for.
func AppendBaileysSenderKey(dst []byte, k *signal.SenderKey) ([]byte, error) {
	r, err := senderKeyRecord(k)
	if err != nil {
		return nil, err
	}
	dst = append(dst, '[')
	for i, st := range slices.Backward(r.SenderKeyStates) {
		if i < len(r.SenderKeyStates)-1 {
			dst = append(dst, ',')
		}
		dst = appendUint(dst, `{"senderKeyId":`, st.GetSenderKeyId())
		dst = appendUint(dst, `,"senderChainKey":{"iteration":`, st.SenderChainKey.GetIteration())
		dst = appendBuffer(dst, `,"seed":`, st.SenderChainKey.GetSeed())
		dst = appendBuffer(dst, `},"senderSigningKey":{"public":`, st.SenderSigningKey.GetPublic())
		dst = appendBuffer(dst, `,"private":`, st.SenderSigningKey.GetPrivate())
		dst = append(dst, `},"senderMessageKeys":[`...)
		for i, k := range newest(st.SenderMessageKeys) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendUint(dst, `{"iteration":`, k.GetIteration())
			dst = append(appendBuffer(dst, `,"seed":`, k.Seed), '}')
		}
		dst = append(dst, `]}`...)
	}
	return append(dst, ']'), nil
}

// appendBuffer appends a name, ready with its marks, and a Buffer object.
func appendBuffer(dst []byte, name string, b []byte) []byte {
	if b == nil {
		b = []byte{}
	}
	return append(appendBytes(append(dst, name...), `{"type":"Buffer","data":`, b), '}')
}
