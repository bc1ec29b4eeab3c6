package convert

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/internal/pb"
)

// What the numbers of a libsignal-node record mean.
const (
	nodeVersion      = "v1"
	nodeOurBaseKey   = 1 // the session was started here
	nodeTheirBaseKey = 2
	nodeSending      = 1
	nodeReceiving    = 2
	nodeOpen         = -1 // the time of closing of the current session
)

// A nodeState is a session with what orders it in its record.
type nodeState struct {
	st           *pb.SessionStructure
	closed, used int64
}

// ParseNodeSession reads a session record of libsignal-node, which is also that
// of Baileys: key material as base64, or as the Buffer objects of its file
// store. Such a record does not say whose it is: identity and registrationID
// are those of the account that it belongs to.
//
// The session that is open becomes the current one; of the closed ones the 40
// that were closed last are kept, the one used last first, and of the receiving
// chains of each the 5 newest. Not carried: when a session was made, used and
// closed, and who started it, which matters there only until it is answered.
func ParseNodeSession(data []byte, identity signal.PublicKey, registrationID uint32) (*signal.Session, error) {
	d := decoder{b: data}
	var states []nodeState
	version := ""
	d.object(func(name string) {
		switch name {
		case "_sessions":
			states = nil
			d.object(func(baseKey string) {
				states = append(states, d.nodeSession(baseKey, identity, registrationID))
			})
		case "version":
			version = d.text()
		default:
			d.skip()
		}
	})
	if err := d.end(); err != nil {
		return nil, err
	}
	if version != nodeVersion {
		return nil, corrupt("record of another version than %s", nodeVersion)
	}
	r := new(pb.RecordStructure)
	archived := states[:0]
	for _, s := range states {
		switch {
		case s.closed != nodeOpen:
			archived = append(archived, s)
		case r.CurrentSession != nil:
			return nil, corrupt("more than one open session")
		default:
			r.CurrentSession = s.st
		}
	}
	slices.SortStableFunc(archived, func(a, b nodeState) int { return cmp.Compare(b.closed, a.closed) })
	archived = archived[:min(len(archived), signal.MaxArchived)]
	slices.SortStableFunc(archived, func(a, b nodeState) int { return cmp.Compare(b.used, a.used) })
	for _, s := range archived {
		r.PreviousSessions = append(r.PreviousSessions, s.st)
	}
	return session(r)
}

// nodeTime reads a point in time, which old records may lack.
func (d *decoder) nodeTime(what string) int64 {
	if d.null() {
		return 0
	}
	return d.integer(what)
}

func (d *decoder) nodeSession(name string, identity signal.PublicKey, registrationID uint32) nodeState {
	version, refresh := uint32(3), false
	tagged := identity.Tagged()
	s := nodeState{st: &pb.SessionStructure{
		SessionVersion:      &version,
		LocalIdentityPublic: tagged[:],
		LocalRegistrationId: &registrationID,
		NeedsRefresh:        &refresh,
	}}
	st := s.st
	sender := &pb.SessionStructure_Chain{}
	var chains []nodeChain
	var lastRemote []byte
	var role int64
	open := false
	d.object(func(name string) {
		switch name {
		case "registrationId":
			if !d.null() {
				st.RemoteRegistrationId = d.uint32(name)
			}
		case "currentRatchet":
			d.object(func(name string) {
				switch name {
				case "ephemeralKeyPair":
					d.object(func(name string) {
						switch name {
						case "pubKey":
							sender.SenderRatchetKey = d.nodeKey(name)
						case "privKey":
							sender.SenderRatchetKeyPrivate = d.nodeBytes(name, 32)
						default:
							d.skip()
						}
					})
				case "lastRemoteEphemeralKey":
					lastRemote = d.nodeKey(name)
				case "previousCounter":
					st.PreviousCounter = d.nodePreviousCounter(name)
				case "rootKey":
					st.RootKey = d.nodeBytes(name, 32)
				default:
					d.skip()
				}
			})
		case "indexInfo":
			d.object(func(name string) {
				switch name {
				case "baseKey":
					st.AliceBaseKey = d.nodeKey(name)
				case "baseKeyType":
					role = d.integer(name)
				case "closed":
					s.closed = d.integer(name)
					open = s.closed == nodeOpen
				case "used":
					s.used = d.nodeTime(name)
				case "remoteIdentityKey":
					st.RemoteIdentityPublic = d.nodeKey(name)
				default:
					d.skip()
				}
			})
		case "_chains":
			chains = nil
			d.object(func(name string) { chains = append(chains, d.nodeChain(name)) })
		case "pendingPreKey":
			if !d.null() {
				st.PendingPreKey = d.nodePending()
			}
		default:
			d.skip()
		}
	})
	switch {
	case d.failed():
		return s
	case sender.SenderRatchetKey == nil, sender.SenderRatchetKeyPrivate == nil, lastRemote == nil, st.RootKey == nil,
		st.AliceBaseKey == nil, st.RemoteIdentityPublic == nil:
		d.fail("session without a ratchet, base key or identity")
		return s
	case name != base64.StdEncoding.EncodeToString(st.AliceBaseKey):
		d.fail("session under another base key than its own")
		return s
	case role != nodeOurBaseKey && role != nodeTheirBaseKey:
		d.fail("base key of type %d", role)
		return s
	case !open && s.closed < 0:
		d.fail("session closed at %d", s.closed)
		return s
	}
	if p := st.PendingPreKey; p != nil && (role != nodeOurBaseKey || !bytes.Equal(p.BaseKey, st.AliceBaseKey)) {
		d.fail("pending prekey of a session that was not started with it")
		return s
	}
	sending := 0
	for _, c := range chains {
		if c.kind == nodeSending {
			sending++
			if c.key == nil || !bytes.Equal(c.ratchet, sender.SenderRatchetKey) || len(c.skipped) > 0 {
				d.fail("sending chain that is not of the current ratchet, is closed, or has message keys")
				return s
			}
			sender.ChainKey = c.chainKey()
		}
	}
	if sending != 1 {
		d.fail("session with %d sending chains", sending)
		return s
	}
	st.SenderChain = sender
	st.ReceiverChains = receivingChains(chains, lastRemote)
	return s
}

// receivingChains returns the receiving chains, the newest last.
func receivingChains(chains []nodeChain, lastRemote []byte) []*pb.SessionStructure_Chain {
	var out []*pb.SessionStructure_Chain
	var last *pb.SessionStructure_Chain
	for _, c := range chains {
		if c.kind != nodeReceiving {
			continue
		}
		r := &pb.SessionStructure_Chain{
			SenderRatchetKey:        c.ratchet,
			SenderRatchetKeyPrivate: []byte{},
			ChainKey:                c.chainKey(),
			MessageKeys:             c.skipped,
		}
		if bytes.Equal(c.ratchet, lastRemote) {
			last = r
		} else {
			out = append(out, r)
		}
	}
	if last == nil {
		// The signed prekey that a session was started with: nothing comes
		// on it. It stands in the record as a chain that is closed, so that it
		// is known when the record goes back.
		index := uint32(0)
		last = &pb.SessionStructure_Chain{
			SenderRatchetKey:        lastRemote,
			SenderRatchetKeyPrivate: []byte{},
			ChainKey:                &pb.SessionStructure_Chain_ChainKey{Index: &index},
		}
	}
	out = append(out, last)
	return out[max(0, len(out)-signal.MaxReceiverChains):]
}

// nodePreviousCounter reads the counter of the last message of the chain
// before, of which -1 means none.
func (d *decoder) nodePreviousCounter(what string) *uint32 {
	v := d.integer(what)
	if v < -1 || v > math.MaxUint32 {
		d.fail("%s is %d", what, v)
	}
	u := uint32(max(v, 0))
	return &u
}

func (d *decoder) nodePending() *pb.SessionStructure_PendingPreKey {
	p := new(pb.SessionStructure_PendingPreKey)
	d.object(func(name string) {
		switch name {
		case "signedKeyId":
			id := int32(*d.uint32(name))
			p.SignedPreKeyId = &id
		case "preKeyId":
			if !d.null() {
				p.PreKeyId = d.uint32(name)
			}
		case "baseKey":
			p.BaseKey = d.nodeKey(name)
		default:
			d.skip()
		}
	})
	if p.BaseKey == nil || p.SignedPreKeyId == nil {
		d.fail("pending prekey without a base key or an id")
	}
	return p
}

// A nodeChain is a chain of either direction. Its counter is that of the last
// message, one less than the index of the next.
type nodeChain struct {
	kind    int64
	ratchet []byte
	key     []byte // nil if closed
	next    uint32
	skipped []*pb.SessionStructure_Chain_MessageKey
}

func (c *nodeChain) chainKey() *pb.SessionStructure_Chain_ChainKey {
	return &pb.SessionStructure_Chain_ChainKey{Index: &c.next, Key: c.key}
}

func (d *decoder) nodeChain(name string) nodeChain {
	var c nodeChain
	var err error
	if c.ratchet, err = base64.StdEncoding.DecodeString(name); err != nil || len(c.ratchet) != signal.PublicKeySize || c.ratchet[0] != 5 {
		d.fail("chain under a name that is not a ratchet key")
		return c
	}
	hasCounter := false
	d.object(func(name string) {
		switch name {
		case "chainKey":
			d.object(func(name string) {
				switch name {
				case "counter":
					v := d.integer(name)
					if v < -1 || v >= math.MaxUint32 {
						d.fail("%s is %d", name, v)
					}
					c.next, hasCounter = uint32(v+1), true
				case "key":
					if !d.null() {
						c.key = d.nodeBytes(name, 32)
					}
				default:
					d.skip()
				}
			})
		case "chainType":
			c.kind = d.integer(name)
		case "messageKeys":
			c.skipped = nil
			d.object(func(name string) { c.skipped = append(c.skipped, d.nodeMessageKey(name)) })
		default:
			d.skip()
		}
	})
	if d.failed() {
		return c
	}
	if !hasCounter || c.kind != nodeSending && c.kind != nodeReceiving {
		d.fail("chain without a counter, or of type %d", c.kind)
		return c
	}
	slices.SortFunc(c.skipped, func(a, b *pb.SessionStructure_Chain_MessageKey) int {
		return cmp.Compare(a.GetIndex(), b.GetIndex())
	})
	for i, k := range c.skipped {
		if k.GetIndex() >= c.next || i > 0 && k.GetIndex() == c.skipped[i-1].GetIndex() {
			d.fail("message key %d of a chain at %d, or twice", k.GetIndex(), c.next)
		}
	}
	if len(c.skipped) > signal.MaxSkippedKeys {
		d.fail("more than %d message keys", signal.MaxSkippedKeys)
	}
	return c
}

func (d *decoder) nodeMessageKey(name string) *pb.SessionStructure_Chain_MessageKey {
	n, err := strconv.ParseUint(name, 10, 32)
	if err != nil || strconv.FormatUint(n, 10) != name {
		d.fail("message key under a name that is not a counter")
	}
	counter := uint32(n)
	return &pb.SessionStructure_Chain_MessageKey{Index: &counter, Seed: d.nodeBytes("message key", 32)}
}

// nodeKey reads a tagged public key.
func (d *decoder) nodeKey(what string) []byte {
	b := d.nodeBytes(what, signal.PublicKeySize)
	if !d.failed() && b[0] != 5 {
		d.fail("%s of type %d", what, b[0])
	}
	return b
}

// nodeBytes reads key material of size bytes: base64, or a Buffer object with
// base64 or a list of bytes in it.
func (d *decoder) nodeBytes(what string, size int) []byte { return d.buffer(what, size, false) }

// buffer is nodeBytes, with nil for nothing in it if that is allowed.
func (d *decoder) buffer(what string, size int, orNone bool) []byte {
	var b []byte
	if d.peek() != '{' {
		b = d.base64()
	} else {
		d.object(func(name string) {
			switch {
			case name == "type":
				if d.text() != "Buffer" {
					d.fail("%s is not a Buffer", what)
				}
			case name != "data":
				d.skip()
			case d.peek() == '"':
				b = d.base64()
			default:
				b = make([]byte, 0, size)
				d.array(func() {
					v := d.integer(what)
					if v < 0 || v > math.MaxUint8 || len(b) == size {
						d.fail("%s has other bytes than %d", what, size)
						return
					}
					b = append(b, byte(v))
				})
			}
		})
	}
	if orNone && len(b) == 0 {
		return nil
	}
	if !d.failed() && len(b) != size {
		d.fail("%s of %d bytes", what, len(b))
	}
	return b
}

// AppendNodeSession appends the record of libsignal-node for s, as it writes it
// itself. The sessions are dated from now backwards, in milliseconds, so that
// their order is kept; a session counts as started here until it is answered.
// The account's own identity and registration id are not in such a record: they
// have to be the same where it is read.
//
// It refuses, with ErrInexpressible: a session of another version, one that is
// due to be refreshed, without a base key or with that of another one, without
// a sending chain, or without a chain of the peer; a skipped key without its
// seed; two chains of one key; sessions of more than one identity of ours. What
// a chain holds over the 2,000 newest skipped keys is due to be dropped, and is
// not written.
func AppendNodeSession(dst []byte, s *signal.Session, now time.Time) ([]byte, error) {
	r, err := record(s, false)
	if err != nil {
		return nil, err
	}
	states := r.PreviousSessions
	if r.CurrentSession != nil {
		states = slices.Insert(states, 0, r.CurrentSession)
	}
	if len(states) == 0 {
		return nil, inexpressible("record without a session")
	}
	at := now.UnixMilli()
	seen := map[string]bool{}
	out := append(dst, `{"_sessions":{`...)
	// The oldest first, as they came about there.
	for i, st := range slices.Backward(states) {
		key := string(st.AliceBaseKey)
		switch {
		case seen[key]:
			return nil, inexpressible("two sessions of one base key")
		case !bytes.Equal(st.LocalIdentityPublic, states[0].LocalIdentityPublic),
			st.GetLocalRegistrationId() != states[0].GetLocalRegistrationId():
			return nil, inexpressible("sessions of more than one identity or registration id")
		}
		if len(seen) > 0 {
			out = append(out, ',')
		}
		seen[key] = true
		closed := at - int64(i)
		if st == r.CurrentSession {
			closed = nodeOpen
		}
		if out, err = appendNodeState(out, st, at-int64(i), closed); err != nil {
			return nil, err
		}
	}
	return append(out, `},"version":"`+nodeVersion+`"}`...), nil
}

func appendNodeState(dst []byte, st *pb.SessionStructure, used, closed int64) ([]byte, error) {
	sender := st.GetSenderChain()
	chains := st.ReceiverChains
	switch {
	case st.GetSessionVersion() != 3:
		return nil, inexpressible("session of version %d", st.GetSessionVersion())
	case st.GetNeedsRefresh():
		return nil, inexpressible("session that is due to be refreshed")
	case st.AliceBaseKey == nil:
		return nil, inexpressible("session without a base key")
	case len(sender.GetChainKey().GetKey()) == 0:
		return nil, inexpressible("session without a sending chain")
	case len(chains) == 0:
		return nil, inexpressible("session without a chain of the peer")
	}
	lastRemote := chains[len(chains)-1].SenderRatchetKey
	if c := chains[len(chains)-1]; c.ChainKey.GetIndex() == 0 && len(c.MessageKeys) == 0 &&
		(len(c.ChainKey.Key) == 0 || st.PendingPreKey != nil) {
		// The signed prekey that the session was started with. There it has no
		// chain: one would be filled up to what the first answer says came
		// before, which is not about this chain.
		chains = chains[:len(chains)-1]
	}
	dst = appendBase64(dst, st.AliceBaseKey)
	dst = appendUint(dst, `:{"registrationId":`, st.GetRemoteRegistrationId())
	dst = appendBytes(dst, `,"currentRatchet":{"ephemeralKeyPair":{"pubKey":`, sender.SenderRatchetKey)
	dst = appendBytes(dst, `,"privKey":`, sender.SenderRatchetKeyPrivate)
	dst = appendBytes(dst, `},"lastRemoteEphemeralKey":`, lastRemote)
	dst = appendUint(dst, `,"previousCounter":`, st.GetPreviousCounter())
	dst = appendBytes(dst, `,"rootKey":`, st.RootKey)
	role := uint32(nodeTheirBaseKey)
	if st.PendingPreKey != nil {
		role = nodeOurBaseKey
	}
	dst = appendBytes(dst, `},"indexInfo":{"baseKey":`, st.AliceBaseKey)
	dst = appendUint(dst, `,"baseKeyType":`, role)
	dst = strconv.AppendInt(append(dst, `,"closed":`...), closed, 10)
	dst = strconv.AppendInt(append(dst, `,"used":`...), used, 10)
	dst = strconv.AppendInt(append(dst, `,"created":`...), used, 10)
	dst = appendBytes(dst, `,"remoteIdentityKey":`, st.RemoteIdentityPublic)
	dst = append(dst, `},"_chains":{`...)
	seen := map[string]bool{string(sender.SenderRatchetKey): true}
	var err error
	for _, c := range chains {
		if seen[string(c.SenderRatchetKey)] {
			return nil, inexpressible("two chains of one ratchet key")
		}
		seen[string(c.SenderRatchetKey)] = true
		if dst, err = appendNodeChain(dst, c, nodeReceiving); err != nil {
			return nil, err
		}
		dst = append(dst, ',')
	}
	if dst, err = appendNodeChain(dst, sender, nodeSending); err != nil {
		return nil, err
	}
	dst = append(dst, '}')
	if p := st.PendingPreKey; p != nil {
		if !bytes.Equal(p.BaseKey, st.AliceBaseKey) {
			return nil, inexpressible("pending prekey with another base key than the session")
		}
		dst = appendUint(dst, `,"pendingPreKey":{"signedKeyId":`, uint32(p.GetSignedPreKeyId()))
		dst = appendBytes(dst, `,"baseKey":`, p.BaseKey)
		if p.PreKeyId != nil {
			dst = appendUint(dst, `,"preKeyId":`, p.GetPreKeyId())
		}
		dst = append(dst, '}')
	}
	return append(dst, '}'), nil
}

func appendNodeChain(dst []byte, c *pb.SessionStructure_Chain, kind uint32) ([]byte, error) {
	dst = appendBase64(dst, c.SenderRatchetKey)
	dst = append(dst, `:{"chainKey":{"counter":`...)
	dst = strconv.AppendInt(dst, int64(c.ChainKey.GetIndex())-1, 10)
	if key := c.ChainKey.GetKey(); len(key) > 0 {
		dst = appendBytes(dst, `,"key":`, key)
	}
	dst = appendUint(dst, `},"chainType":`, kind)
	dst = append(dst, `,"messageKeys":{`...)
	for i, k := range newest(c.MessageKeys) {
		if len(k.Seed) == 0 {
			return nil, inexpressible("skipped key %d without its seed", k.GetIndex())
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(append(dst, '"'), uint64(k.GetIndex()), 10)
		dst = appendBytes(dst, `":`, k.Seed)
	}
	return append(dst, `}}`...), nil
}
