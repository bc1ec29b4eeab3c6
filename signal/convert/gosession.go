package convert

import (
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// ParseGoSession reads a session record of go.mau.fi/libsignal: the JSON in the
// column session of whatsmeow_sessions. It takes over everything;
// [AppendGoSession] of the result writes the same bytes. A pending key exchange,
// which nothing starts, is refused, and so are more states, chains and keys than
// that library keeps.
func ParseGoSession(data []byte) (*signal.Session, error) {
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
	r, err := record(s, true)
	if err != nil {
		return nil, err
	}
	if r.CurrentSession == nil {
		return nil, inexpressible("record without a current session")
	}
	out := append(dst, `{"SessionState":`...)
	if out, err = appendGoState(out, r.CurrentSession); err != nil {
		return nil, err
	}
	out = append(out, `,"PreviousStates":[`...)
	for i, st := range r.PreviousSessions {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendGoState(out, st); err != nil {
			return nil, err
		}
	}
	return append(out, `]}`...), nil
}

func appendGoState(dst []byte, st *pb.SessionStructure) ([]byte, error) {
	switch {
	case st.AliceBaseKey == nil:
		return nil, inexpressible("session without a base key")
	case len(st.GetSenderChain().GetChainKey().GetKey()) == 0:
		return nil, inexpressible("session without a sending chain")
	}
	dst = appendBytes(dst, `{"LocalIdentityPublic":`, st.LocalIdentityPublic)
	dst = appendUint(dst, `,"LocalRegistrationID":`, st.GetLocalRegistrationId())
	if st.GetNeedsRefresh() {
		dst = append(dst, `,"NeedsRefresh":true`...)
	} else {
		dst = append(dst, `,"NeedsRefresh":false`...)
	}
	dst = append(dst, `,"PendingKeyExchange":null,"PendingPreKey":`...)
	if p := st.PendingPreKey; p == nil {
		dst = append(dst, `null`...)
	} else {
		dst = appendUint(dst, `{"PreKeyID":{"Value":`, p.GetPreKeyId())
		if p.PreKeyId == nil {
			dst = append(dst, `,"IsEmpty":true}`...)
		} else {
			dst = append(dst, `,"IsEmpty":false}`...)
		}
		dst = appendUint(dst, `,"SignedPreKeyID":`, uint32(p.GetSignedPreKeyId()))
		dst = appendBytes(dst, `,"BaseKey":`, p.BaseKey)
		dst = append(dst, '}')
	}
	dst = appendUint(dst, `,"PreviousCounter":`, st.GetPreviousCounter())
	dst = append(dst, `,"ReceiverChains":[`...)
	for i, c := range st.ReceiverChains {
		if i > 0 {
			dst = append(dst, ',')
		}
		c.SenderRatchetKeyPrivate = nil // there and empty
		dst = appendGoChain(dst, c)
	}
	dst = appendBytes(dst, `],"RemoteIdentityPublic":`, st.RemoteIdentityPublic)
	dst = appendUint(dst, `,"RemoteRegistrationID":`, st.GetRemoteRegistrationId())
	dst = appendBytes(dst, `,"RootKey":`, st.RootKey)
	dst = appendBytes(dst, `,"SenderBaseKey":`, st.AliceBaseKey)
	dst = appendGoChain(append(dst, `,"SenderChain":`...), st.SenderChain)
	dst = appendUint(dst, `,"SessionVersion":`, st.GetSessionVersion())
	return append(dst, '}'), nil
}

func appendGoChain(dst []byte, c *pb.SessionStructure_Chain) []byte {
	dst = appendBytes(dst, `{"SenderRatchetKeyPublic":`, c.SenderRatchetKey)
	dst = appendBytes(dst, `,"SenderRatchetKeyPrivate":`, c.SenderRatchetKeyPrivate)
	dst = appendBytes(dst, `,"ChainKey":{"Key":`, c.GetChainKey().GetKey())
	dst = appendUint(dst, `,"Index":`, c.GetChainKey().GetIndex())
	dst = append(dst, `},"MessageKeys":[`...)
	for i, k := range newest(c.MessageKeys) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBytes(dst, `{"CipherKey":`, k.CipherKey)
		dst = appendBytes(dst, `,"MacKey":`, k.MacKey)
		dst = appendBytes(dst, `,"IV":`, k.Iv)
		dst = appendUint(dst, `,"Index":`, k.GetIndex())
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// newest returns the last MaxSkippedKeys of keys, which come in ascending order.
func newest[K any](keys []K) []K { return keys[max(0, len(keys)-signal.MaxSkippedKeys):] }
