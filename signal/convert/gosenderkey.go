package convert

import (
	"bytes"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// ParseGoSenderKey reads a sender key record of go.mau.fi/libsignal: the JSON in
// the column sender_key of whatsmeow_sender_keys. It takes over everything;
// [AppendGoSenderKey] of the result writes the same bytes, but for the private
// key of another's key, which that library writes as null or as zeros. Skipped
// keys that are not those of their seeds are refused, and so are more states
// and keys than that library keeps.
func ParseGoSenderKey(data []byte) (*signal.SenderKey, error) {
	d := decoder{b: data}
	r := new(pb.SenderKeyRecordStructure)
	d.object(func(name string) {
		if name != "SenderKeyStates" {
			d.skip()
			return
		}
		r.SenderKeyStates = nil
		if d.null() {
			return
		}
		d.array(func() {
			r.SenderKeyStates = append(r.SenderKeyStates, d.goSenderKeyState())
			if len(r.SenderKeyStates) > signal.MaxSenderKeyStates {
				d.fail("more than %d sender keys", signal.MaxSenderKeyStates)
			}
		})
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	return senderKey(r)
}

func (d *decoder) goSenderKeyState() *pb.SenderKeyStateStructure {
	st := &pb.SenderKeyStateStructure{SenderSigningKey: new(pb.SenderKeyStateStructure_SenderSigningKey)}
	d.object(func(name string) {
		switch name {
		case "Keys":
			st.SenderMessageKeys = nil
			if d.null() {
				return
			}
			d.array(func() {
				st.SenderMessageKeys = append(st.SenderMessageKeys, d.goSenderMessageKey())
				if len(st.SenderMessageKeys) > signal.MaxSkippedKeys {
					d.fail("more than %d message keys", signal.MaxSkippedKeys)
				}
			})
		case "KeyID":
			st.SenderKeyId = d.uint32(name)
		case "SenderChainKey":
			c := new(pb.SenderKeyStateStructure_SenderChainKey)
			d.object(func(name string) {
				switch name {
				case "Iteration":
					c.Iteration = d.uint32(name)
				case "ChainKey":
					c.Seed = d.sized(name, 32)
				default:
					d.skip()
				}
			})
			if c.Iteration == nil || c.Seed == nil {
				d.fail("sender chain key without a part")
			}
			st.SenderChainKey = c
		case "SigningKeyPrivate":
			st.SenderSigningKey.Private = d.sizedOrNone(name, 32)
			if bytes.Equal(st.SenderSigningKey.Private, noPrivateKey[:]) {
				st.SenderSigningKey.Private = nil
			}
		case "SigningKeyPublic":
			st.SenderSigningKey.Public = d.taggedKey(name)
		default:
			d.skip()
		}
	})
	if st.SenderKeyId == nil || st.SenderChainKey == nil || st.SenderSigningKey.Public == nil {
		d.fail("sender key without an id, a chain key or a signing key")
	}
	return st
}

// noPrivateKey stands in a record for the private key of another member.
var noPrivateKey [32]byte

func (d *decoder) goSenderMessageKey() *pb.SenderKeyStateStructure_SenderMessageKey {
	k := new(pb.SenderKeyStateStructure_SenderMessageKey)
	var iv, cipher []byte
	d.object(func(name string) {
		switch name {
		case "Iteration":
			k.Iteration = d.uint32(name)
		case "IV":
			iv = d.sized(name, 16)
		case "CipherKey":
			cipher = d.sized(name, 32)
		case "Seed":
			k.Seed = d.sized(name, 32)
		default:
			d.skip()
		}
	})
	if k.Iteration == nil || iv == nil || cipher == nil || k.Seed == nil {
		d.fail("message key without a part")
	}
	if d.failed() {
		return k
	}
	if wantIV, wantCipher := groupKeys(k.Seed); !bytes.Equal(iv, wantIV) || !bytes.Equal(cipher, wantCipher) {
		d.fail("message key that is not of its seed")
	}
	return k
}

// AppendGoSenderKey appends the record of go.mau.fi/libsignal for k. It refuses
// an empty record with ErrInexpressible. What a key holds over the 2,000 newest
// skipped keys is due to be dropped, and is not written.
func AppendGoSenderKey(dst []byte, k *signal.SenderKey) ([]byte, error) {
	r, err := senderKeyRecord(k)
	if err != nil {
		return nil, err
	}
	dst = append(dst, `{"SenderKeyStates":[`...)
	for i, st := range r.SenderKeyStates {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"Keys":[`...)
		for i, k := range newest(st.SenderMessageKeys) {
			if i > 0 {
				dst = append(dst, ',')
			}
			iv, cipher := groupKeys(k.Seed)
			dst = appendUint(dst, `{"Iteration":`, k.GetIteration())
			dst = appendBytes(dst, `,"IV":`, iv)
			dst = appendBytes(dst, `,"CipherKey":`, cipher)
			dst = appendBytes(dst, `,"Seed":`, k.Seed)
			dst = append(dst, '}')
		}
		dst = appendUint(dst, `],"KeyID":`, st.GetSenderKeyId())
		dst = appendUint(dst, `,"SenderChainKey":{"Iteration":`, st.SenderChainKey.GetIteration())
		dst = appendBytes(dst, `,"ChainKey":`, st.SenderChainKey.GetSeed())
		private := st.SenderSigningKey.GetPrivate()
		if len(private) == 0 {
			private = noPrivateKey[:]
		}
		dst = appendBytes(dst, `},"SigningKeyPrivate":`, private)
		dst = appendBytes(dst, `,"SigningKeyPublic":`, st.SenderSigningKey.GetPublic())
		dst = append(dst, '}')
	}
	return append(dst, `]}`...), nil
}
