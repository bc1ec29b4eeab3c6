package signal

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/sigcore/sigcore/curve"
	"github.com/sigcore/sigcore/signal/store"
)

// accountRow is the account's own row. Its form is protobuf: 1 identity private
// key (32 bytes), 2 registration id, 3 the id from which the next one-time
// prekeys get theirs, 4 the id of the current signed prekey (absent if there
// is none), 5 the state of prekeys (absent if it is empty), 6 the incarnation that
// a witness knows the account by (absent if it has none).
type accountRow struct {
	local        Local
	nextPreKey   uint32
	signedPreKey uint32
	hasSigned    bool
	keys         keyState
	incarnation  [16]byte // zero: none
	version      uint64   // as read
}

func (r *accountRow) append(dst []byte) []byte {
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendBytes(dst, r.local.Identity.PrivateKey().Bytes())
	dst = protowire.AppendTag(dst, 2, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(r.local.RegistrationID))
	dst = protowire.AppendTag(dst, 3, protowire.VarintType)
	dst = protowire.AppendVarint(dst, uint64(r.nextPreKey))
	if r.hasSigned {
		dst = protowire.AppendTag(dst, 4, protowire.VarintType)
		dst = protowire.AppendVarint(dst, uint64(r.signedPreKey))
	}
	if keys := r.keys.append(nil); len(keys) > 0 {
		dst = appendBytesField(dst, 5, keys)
	}
	if r.incarnation != ([16]byte{}) {
		dst = appendBytesField(dst, 6, r.incarnation[:])
	}
	return dst
}

// put adds the row to a batch.
func (r *accountRow) put(b *store.Batch) { b.PutAccount(r.append(nil)) }

// parseAccountRow reads an account row. Unknown fields are errors: the row is
// written whole, so what is not understood would be lost.
func parseAccountRow(rec []byte) (*accountRow, error) {
	corrupt := func(what string) error {
		return fmt.Errorf("signal: account row of %d bytes: %s: %w", len(rec), what, ErrCorruptRecord)
	}
	var (
		r    accountRow
		seen [7]bool
	)
	for b := rec; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, corrupt("bad tag")
		}
		b = b[n:]
		if num < 1 || num > 6 || seen[num] || (typ == protowire.BytesType) != (num == 1 || num >= 5) {
			return nil, corrupt("unexpected field")
		}
		seen[num] = true
		if num >= 5 {
			v, n := protowire.ConsumeBytes(b)
			ok := n >= 0
			switch {
			case ok && num == 5:
				r.keys, ok = parseKeyState(v)
			case ok:
				ok = len(v) == len(r.incarnation)
				copy(r.incarnation[:], v)
			}
			if !ok {
				return nil, corrupt("bad state of prekeys or incarnation")
			}
			b = b[n:]
			continue
		}
		if num == 1 {
			v, n := protowire.ConsumeBytes(b)
			if n < 0 {
				return nil, corrupt("bad identity")
			}
			key, err := curve.NewPrivateKey(v)
			if err != nil {
				return nil, corrupt("bad identity")
			}
			r.local.Identity = NewIdentityKeyPair(key)
			b = b[n:]
			continue
		}
		v, n := protowire.ConsumeVarint(b)
		if typ != protowire.VarintType || n < 0 || v > 1<<32-1 {
			return nil, corrupt("bad number")
		}
		switch num {
		case 2:
			r.local.RegistrationID = uint32(v)
		case 3:
			r.nextPreKey = uint32(v)
		case 4:
			r.signedPreKey, r.hasSigned = uint32(v), true
		}
		b = b[n:]
	}
	if !seen[1] || !seen[2] || !seen[3] {
		return nil, corrupt("missing field")
	}
	if r.nextPreKey == 0 || r.nextPreKey > MaxPreKeyID {
		return nil, corrupt("prekey id out of range")
	}
	return &r, nil
}
