package convert

import (
	"github.com/sigcore/sigcore/internal/kdf"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
	"google.golang.org/protobuf/proto"
)

// session returns a Session of its protobuf form, in which the readers here put
// records together: what a session may be is decided in one place.
func session(r *pb.RecordStructure) (*signal.Session, error) {
	if r.CurrentSession == nil && len(r.PreviousSessions) == 0 {
		return nil, corrupt("record without a session")
	}
	b, err := proto.Marshal(r)
	if err != nil {
		return nil, corrupt("record without a protobuf form")
	}
	defer clear(b)
	return signal.ParseSession(b)
}

// record returns the protobuf form of a Session: skipped keys as seeds where
// there are seeds, or all of them as the keys themselves.
func record(s *signal.Session, portable bool) (*pb.RecordStructure, error) {
	var b []byte
	if portable {
		b = s.AppendPortable(nil)
	} else {
		b, _ = s.AppendBinary(nil) // whose error is nil
	}
	defer clear(b)
	r := new(pb.RecordStructure)
	if err := proto.Unmarshal(b, r); err != nil {
		return nil, inexpressible("record without a protobuf form")
	}
	return r, nil
}

// senderKey returns a SenderKey of its protobuf form.
func senderKey(r *pb.SenderKeyRecordStructure) (*signal.SenderKey, error) {
	if len(r.SenderKeyStates) == 0 {
		return nil, corrupt("record without a sender key")
	}
	b, err := proto.Marshal(r)
	if err != nil {
		return nil, corrupt("record without a protobuf form")
	}
	defer clear(b)
	return signal.ParseSenderKey(b)
}

// senderKeyRecord returns the protobuf form of a SenderKey.
func senderKeyRecord(k *signal.SenderKey) (*pb.SenderKeyRecordStructure, error) {
	b := k.AppendPortable(nil)
	defer clear(b)
	r := new(pb.SenderKeyRecordStructure)
	if err := proto.Unmarshal(b, r); err != nil {
		return nil, inexpressible("record without a protobuf form")
	}
	if len(r.SenderKeyStates) == 0 {
		return nil, inexpressible("record without a sender key")
	}
	return r, nil
}

// taggedKey checks the type byte of a public key of the right size.
func (d *decoder) taggedKey(what string) []byte {
	b := d.sized(what, signal.PublicKeySize)
	if !d.failed() && b[0] != 5 {
		d.fail("%s of type %d", what, b[0])
	}
	return b
}

// groupKeys are the keys that a seed of a group message stands for.
func groupKeys(seed []byte) (iv, cipher []byte) {
	okm := make([]byte, 48)
	kdf.HKDF(okm, seed, nil, []byte("WhisperGroup"))
	return okm[:16], okm[16:]
}
