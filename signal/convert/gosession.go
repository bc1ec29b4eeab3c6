package convert

import (
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
	"google.golang.org/protobuf/encoding/protowire"
)

// ParseGoSession reads a session record of go.mau.fi/libsignal: the JSON in the
// column session of whatsmeow_sessions. It takes over everything;
// [AppendGoSession] of the result writes the same bytes. A pending key exchange,
// which nothing starts, is refused, and so are more states, chains and keys than
// that library keeps.
func ParseGoSession(data []byte) (*signal.Session, error) {
	var buf [2048]byte
	if record, ok := goSessionText(data, buf[:]); ok {
		defer clear(record)
		return signal.ParseSession(record)
	}
	d := decoder{b: data}
	r := new(pb.RecordStructure)
	d.object(func(name string) {
		switch name {
		case "SessionState":
			r.CurrentSession = d.goState()
		case "PreviousStates":
			r.PreviousSessions = nil
			if d.null() {
				return
			}
			d.array(func() {
				st := d.goState()
				if st == nil {
					d.fail("previous state without contents")
				}
				if r.PreviousSessions = append(r.PreviousSessions, st); len(r.PreviousSessions) > signal.MaxArchived {
					d.fail("more than %d previous states", signal.MaxArchived)
				}
			})
		default:
			d.skip()
		}
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	return session(r)
}

func (d *decoder) goState() *pb.SessionStructure {
	if d.null() {
		return nil
	}
	st := new(pb.SessionStructure)
	d.object(func(name string) {
		switch name {
		case "LocalIdentityPublic":
			st.LocalIdentityPublic = d.taggedKey(name)
		case "LocalRegistrationID":
			st.LocalRegistrationId = d.uint32(name)
		case "NeedsRefresh":
			refresh := d.boolean(name)
			st.NeedsRefresh = &refresh
		case "PendingKeyExchange":
			if !d.null() {
				d.fail("pending key exchange")
			}
		case "PendingPreKey":
			st.PendingPreKey = d.goPending()
		case "PreviousCounter":
			st.PreviousCounter = d.uint32(name)
		case "ReceiverChains":
			st.ReceiverChains = nil
			if d.null() {
				return
			}
			d.array(func() {
				if c := d.goChain(name); c != nil {
					// Receiver chains have the private key there and empty.
					c.SenderRatchetKeyPrivate = []byte{}
					st.ReceiverChains = append(st.ReceiverChains, c)
				}
				if len(st.ReceiverChains) > signal.MaxReceiverChains {
					d.fail("more than %d receiver chains", signal.MaxReceiverChains)
				}
			})
		case "RemoteIdentityPublic":
			st.RemoteIdentityPublic = d.taggedKey(name)
		case "RemoteRegistrationID":
			st.RemoteRegistrationId = d.uint32(name)
		case "RootKey":
			st.RootKey = d.sized(name, 32)
		case "SenderBaseKey":
			st.AliceBaseKey = d.taggedKey(name)
		case "SenderChain":
			st.SenderChain = d.goChain(name)
			if c := st.SenderChain; c != nil && len(c.MessageKeys) > 0 {
				d.fail("sender chain with message keys")
			}
		case "SessionVersion":
			st.SessionVersion = d.uint32(name)
		default:
			d.skip()
		}
	})
	switch {
	case st.LocalIdentityPublic == nil, st.RemoteIdentityPublic == nil, st.RootKey == nil, st.AliceBaseKey == nil, st.SenderChain == nil:
		d.fail("state without an identity, root key, base key or sender chain")
	}
	return st
}

func (d *decoder) goPending() *pb.SessionStructure_PendingPreKey {
	if d.null() {
		return nil
	}
	p := new(pb.SessionStructure_PendingPreKey)
	d.object(func(name string) {
		switch name {
		case "PreKeyID":
			if d.null() {
				return
			}
			var id *uint32
			empty := false
			d.object(func(name string) {
				switch name {
				case "Value":
					id = d.uint32(name)
				case "IsEmpty":
					empty = d.boolean(name)
				default:
					d.skip()
				}
			})
			if !empty {
				p.PreKeyId = id
			}
		case "SignedPreKeyID":
			id := int32(*d.uint32(name))
			p.SignedPreKeyId = &id
		case "BaseKey":
			p.BaseKey = d.taggedKey(name)
		default:
			d.skip()
		}
	})
	if p.BaseKey == nil || p.SignedPreKeyId == nil {
		d.fail("pending prekey without a base key or an id")
	}
	return p
}

func (d *decoder) goChain(what string) *pb.SessionStructure_Chain {
	if d.null() {
		return nil
	}
	c := new(pb.SessionStructure_Chain)
	d.object(func(name string) {
		switch name {
		case "SenderRatchetKeyPublic":
			c.SenderRatchetKey = d.taggedKey(name)
		case "SenderRatchetKeyPrivate":
			c.SenderRatchetKeyPrivate = d.sizedOrNone(name, 32)
		case "ChainKey":
			if d.null() {
				return
			}
			c.ChainKey = new(pb.SessionStructure_Chain_ChainKey)
			d.object(func(name string) {
				switch name {
				case "Key":
					c.ChainKey.Key = d.sizedOrNone(name, 32)
				case "Index":
					c.ChainKey.Index = d.uint32(name)
				default:
					d.skip()
				}
			})
		case "MessageKeys":
			c.MessageKeys = nil
			if d.null() {
				return
			}
			d.array(func() {
				c.MessageKeys = append(c.MessageKeys, d.goMessageKey())
				if len(c.MessageKeys) > signal.MaxSkippedKeys {
					d.fail("more than %d message keys", signal.MaxSkippedKeys)
				}
			})
		default:
			d.skip()
		}
	})
	if c.SenderRatchetKey == nil || c.ChainKey == nil || c.ChainKey.Index == nil {
		d.fail("%s without a ratchet key or a chain key", what)
	}
	return c
}

func (d *decoder) goMessageKey() *pb.SessionStructure_Chain_MessageKey {
	k := new(pb.SessionStructure_Chain_MessageKey)
	d.object(func(name string) {
		switch name {
		case "CipherKey":
			k.CipherKey = d.sized(name, 32)
		case "MacKey":
			k.MacKey = d.sized(name, 32)
		case "IV":
			k.Iv = d.sized(name, 16)
		case "Index":
			k.Index = d.uint32(name)
		default:
			d.skip()
		}
	})
	if k.CipherKey == nil || k.MacKey == nil || k.Iv == nil || k.Index == nil {
		d.fail("message key without a part")
	}
	return k
}

// AppendGoSession appends the record of go.mau.fi/libsignal for s. A receiver
// chain that is closed is written without its key, with which that library reads
// its skipped messages and no others.
//
// It refuses, with ErrInexpressible, a record without a current session, of
// which that library cannot read the rest, and a state without a base key or
// without a sending chain: it would go on to send with a key of nothing. What a
// chain holds over the 2,000 newest skipped keys is due to be dropped, and is
// not written.
func AppendGoSession(dst []byte, s *signal.Session) ([]byte, error) {
	var buf [2048]byte
	record := s.AppendPortable(buf[:0])
	defer clear(record)
	out, n := append(dst, `{"SessionState":`...), 0
	var err error
	for fields := (wireFields{b: record}); fields.next(); {
		switch {
		case fields.num == 1 && n == 0, fields.num == 2 && n > 0:
			if n == 1 {
				out = append(out, `,"PreviousStates":[`...)
			} else if n > 1 {
				out = append(out, ',')
			}
			if out, err = appendGoState(out, fields.data); err != nil {
				return nil, err
			}
			n++
		default:
			return nil, inexpressible("record without a current session")
		}
	}
	switch n {
	case 0:
		return nil, inexpressible("record without a current session")
	case 1:
		out = append(out, `,"PreviousStates":[`...)
	}
	return append(out, `]}`...), nil
}

// wireFields reads the fields of a message that this module wrote.
type wireFields struct {
	b    []byte
	num  protowire.Number
	v    uint64 // of a varint
	data []byte // of bytes
}

func (f *wireFields) next() bool {
	num, typ, n := protowire.ConsumeTag(f.b)
	if n < 0 {
		return false
	}
	f.num, f.v, f.data = num, 0, nil
	f.b = f.b[n:]
	switch typ {
	case protowire.VarintType:
		f.v, n = protowire.ConsumeVarint(f.b)
	case protowire.BytesType:
		f.data, n = protowire.ConsumeBytes(f.b)
	default:
		n = protowire.ConsumeFieldValue(num, typ, f.b)
	}
	if n < 0 {
		return false
	}
	f.b = f.b[n:]
	return true
}

func appendGoState(dst, state []byte) ([]byte, error) {
	var (
		numbers              [13]uint64
		local, remote        []byte
		root, base           []byte
		sender, pending      []byte
		receivers            [signal.MaxReceiverChains][]byte
		chains               int
		hasSender, isPending bool
	)
	for f := (wireFields{b: state}); f.next(); {
		switch f.num {
		case 1, 5, 10, 11, 12:
			numbers[f.num] = f.v
		case 2:
			local = f.data
		case 3:
			remote = f.data
		case 4:
			root = f.data
		case 6:
			sender, hasSender = f.data, true
		case 7:
			if chains == len(receivers) {
				return nil, inexpressible("session with more than %d receiver chains", chains)
			}
			receivers[chains] = f.data
			chains++
		case 9:
			pending, isPending = f.data, true
		case 13:
			base = f.data
		}
	}
	switch {
	case base == nil:
		return nil, inexpressible("session without a base key")
	case !hasSender:
		return nil, inexpressible("session without a sending chain")
	}
	dst = appendBytes(dst, `{"LocalIdentityPublic":`, local)
	dst = appendUint(dst, `,"LocalRegistrationID":`, uint32(numbers[11]))
	if numbers[12] != 0 {
		dst = append(dst, `,"NeedsRefresh":true`...)
	} else {
		dst = append(dst, `,"NeedsRefresh":false`...)
	}
	dst = append(dst, `,"PendingKeyExchange":null,"PendingPreKey":`...)
	if isPending {
		dst = appendGoPending(dst, pending)
	} else {
		dst = append(dst, `null`...)
	}
	dst = appendUint(dst, `,"PreviousCounter":`, uint32(numbers[5]))
	dst = append(dst, `,"ReceiverChains":[`...)
	for i, c := range receivers[:chains] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, _ = appendGoChain(dst, c)
	}
	dst = appendBytes(dst, `],"RemoteIdentityPublic":`, remote)
	dst = appendUint(dst, `,"RemoteRegistrationID":`, uint32(numbers[10]))
	dst = appendBytes(dst, `,"RootKey":`, root)
	dst = appendBytes(dst, `,"SenderBaseKey":`, base)
	dst, open := appendGoChain(append(dst, `,"SenderChain":`...), sender)
	if !open {
		return nil, inexpressible("session without a sending chain")
	}
	dst = appendUint(dst, `,"SessionVersion":`, uint32(numbers[1]))
	return append(dst, '}'), nil
}

func appendGoPending(dst, pending []byte) []byte {
	var id, signed uint64
	var base []byte
	hasID := false
	for f := (wireFields{b: pending}); f.next(); {
		switch f.num {
		case 1:
			id, hasID = f.v, true
		case 2:
			base = f.data
		case 3:
			signed = f.v
		}
	}
	dst = appendUint(dst, `{"PreKeyID":{"Value":`, uint32(id))
	if hasID {
		dst = append(dst, `,"IsEmpty":false}`...)
	} else {
		dst = append(dst, `,"IsEmpty":true}`...)
	}
	dst = appendUint(dst, `,"SignedPreKeyID":`, uint32(signed))
	dst = appendBytes(dst, `,"BaseKey":`, base)
	return append(dst, '}')
}

// appendGoChain appends a chain and reports whether it has a key to go on with.
func appendGoChain(dst, chain []byte) (out []byte, open bool) {
	var public, private, chainKey, key []byte
	var index uint64
	kept := 0
	for f := (wireFields{b: chain}); f.next(); {
		switch f.num {
		case 1:
			public = f.data
		case 2:
			private = f.data
		case 3:
			chainKey = f.data
		case 4:
			kept++
		}
	}
	for f := (wireFields{b: chainKey}); f.next(); {
		switch f.num {
		case 1:
			index = f.v
		case 2:
			key = f.data
		}
	}
	if len(private) == 0 {
		private = nil // there, and empty
	}
	dst = appendBytes(dst, `{"SenderRatchetKeyPublic":`, public)
	dst = appendBytes(dst, `,"SenderRatchetKeyPrivate":`, private)
	dst = appendBytes(dst, `,"ChainKey":{"Key":`, key)
	dst = appendUint(dst, `,"Index":`, uint32(index))
	dst = append(dst, `},"MessageKeys":[`...)
	if kept == 0 {
		return append(dst, `]}`...), len(key) > 0
	}
	drop, first := max(0, kept-signal.MaxSkippedKeys), true
	for f := (wireFields{b: chain}); f.next(); {
		if f.num != 4 {
			continue
		}
		if drop > 0 {
			drop--
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendGoMessageKey(dst, f.data)
	}
	return append(dst, `]}`...), len(key) > 0
}

func appendGoMessageKey(dst, keys []byte) []byte {
	var cipher, mac, iv []byte
	var index uint64
	for f := (wireFields{b: keys}); f.next(); {
		switch f.num {
		case 1:
			index = f.v
		case 2:
			cipher = f.data
		case 3:
			mac = f.data
		case 4:
			iv = f.data
		}
	}
	dst = appendBytes(dst, `{"CipherKey":`, cipher)
	dst = appendBytes(dst, `,"MacKey":`, mac)
	dst = appendBytes(dst, `,"IV":`, iv)
	dst = appendUint(dst, `,"Index":`, uint32(index))
	return append(dst, '}')
}

// newest returns the last MaxSkippedKeys of keys, which come in ascending order.
func newest[K any](keys []K) []K { return keys[max(0, len(keys)-signal.MaxSkippedKeys):] }
