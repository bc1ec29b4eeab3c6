// Command dual runs random conversations in which each device is both
// implementations at once: both read each message from the same record, and write
// each message from it. What differs is counted by cause; the last argument that
// a cause is not known for makes it exit with 1.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"

	"dropin.test/drop"
	"dropin.test/mau"
)

// A device has the stores of the implementation that leads; the other follows.
type device struct {
	name  string
	mau   *mau.Party
	drop  *drop.Party
	leads bool // the drop-in leads
}

func newDevice(name string, id uint32, leads bool) *device {
	k, err := mau.GenerateKeys(id)
	check(err)
	return &device{name, mau.New(k), drop.New(drop.Keys(k)), leads}
}

// follow gives the follower the stores of the leader.
func (d *device) follow() {
	if d.leads {
		d.mau.Sessions, d.mau.SenderKeys = maps.Clone(d.drop.Sessions), maps.Clone(d.drop.SenderKeys)
		d.mau.Identities, d.mau.PreKeys, d.mau.Removed = maps.Clone(d.drop.Identities), maps.Clone(d.drop.PreKeys), slices.Clone(d.drop.Removed)
	} else {
		d.drop.Sessions, d.drop.SenderKeys = maps.Clone(d.mau.Sessions), maps.Clone(d.mau.SenderKeys)
		d.drop.Identities, d.drop.PreKeys, d.drop.Removed = maps.Clone(d.mau.Identities), maps.Clone(d.mau.PreKeys), slices.Clone(d.mau.Removed)
	}
}

type message struct {
	from, to  int
	kind      uint32
	body      []byte
	plaintext []byte
	group     bool
	damaged   bool
}

var (
	same    = map[string]int{}
	differs = map[string]int{}
	unknown int
)

func difference(cause string) { differs[cause]++ }

func wrong(seed uint64, step int, format string, args ...any) {
	unknown++
	if unknown < 1000 {
		fmt.Printf("seed %d step %d: %s\n", seed, step, fmt.Sprintf(format, args...))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	from := flag.Uint64("seed", 1, "the first seed")
	n := flag.Uint64("n", 100, "how many schedules")
	flag.Parse()
	for seed := *from; seed < *from+*n; seed++ {
		run(seed)
	}
	for _, m := range []map[string]int{same, differs} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Printf("%8d %s\n", m[k], k)
		}
	}
	if unknown > 0 {
		fmt.Printf("%d differences without a known cause\n", unknown)
		os.Exit(1)
	}
}

const groupID = "15550000001-1500000000@g.us"

func run(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	devices := []*device{newDevice("15550000001", 1001, r.IntN(2) == 0), newDevice("15550000002", 1002, r.IntN(2) == 0)}
	prekey := uint32(0)
	var wire []message
	read := map[string]bool{}
	start := func(step, i int) {
		me, peer := devices[i], devices[1-i]
		id := uint32(0)
		if r.IntN(4) > 0 {
			prekey++
			id = prekey
		}
		var b mau.Bundle
		if peer.leads {
			b = mau.Bundle(peer.drop.Publish(id))
		} else {
			b = peer.mau.Publish(id)
		}
		me.follow()
		// Each draws keys of its own, so only the verdicts can be compared.
		errM, errD := me.mau.ProcessBundle(peer.name, b), me.drop.ProcessBundle(peer.name, drop.Bundle(b))
		if mau.Class(errM) != drop.Class(errD) {
			wrong(seed, step, "bundle: %v, %v", errM, errD)
		}
	}
	start(0, 0)
	if r.IntN(2) == 0 {
		start(0, 1)
	}
	for step := 1; step <= 60; step++ {
		i := r.IntN(2)
		me, peer := devices[i], devices[1-i]
		switch op := r.IntN(20); {
		case op < 8: // send
			me.follow()
			text := make([]byte, r.IntN(200))
			for j := range text {
				text[j] = byte(r.Uint32())
			}
			before := bytes.Clone(me.drop.Sessions[peer.name+":1"])
			kind, body, errM := me.mau.Encrypt(peer.name, text)
			kindD, bodyD, errD := me.drop.Encrypt(peer.name, text)
			if (errM == nil) != (errD == nil) || kind != kindD || !bytes.Equal(body, bodyD) && !samePrevious(body, bodyD) {
				wrong(seed, step, "encrypt: %d %x %v, %d %x %v", kind, body, errM, kindD, bodyD, errD)
			}
			if errM != nil || errD != nil {
				continue
			}
			records(seed, step, "encrypt", me, peer.name+":1", before, false)
			if me.leads {
				kind, body = kindD, bodyD
			}
			wire = append(wire, message{from: i, to: 1 - i, kind: kind, body: body, plaintext: text})
		case op == 8: // a new session
			start(step, i)
		case op == 9: // a sender key, handed out
			me.follow()
			d, err := me.drop.CreateSenderKey(groupID, me.name)
			check(err)
			if !me.leads {
				d, err = me.mau.CreateSenderKey(groupID, me.name)
				check(err)
			}
			peer.follow()
			errM, errD := peer.mau.ProcessSenderKey(groupID, me.name, d), peer.drop.ProcessSenderKey(groupID, me.name, d)
			if mau.Class(errM) != drop.Class(errD) {
				wrong(seed, step, "distribution: %v, %v", errM, errD)
			}
			senderKeys(seed, step, "distribution", peer)
		case op == 10: // to the group
			me.follow()
			if _, ok := me.drop.SenderKeys[groupID+me.name+":1"]; !ok {
				continue
			}
			text := []byte(fmt.Sprint("group ", seed, step))
			body, errM := me.mau.EncryptGroup(groupID, me.name, text)
			bodyD, errD := me.drop.EncryptGroup(groupID, me.name, text)
			if mau.Class(errM) != drop.Class(errD) {
				wrong(seed, step, "group: %v, %v", errM, errD)
			}
			senderKeys(seed, step, "group encrypt", me)
			if me.leads {
				body = bodyD
			}
			wire = append(wire, message{from: i, to: 1 - i, body: body, plaintext: text, group: true})
		case len(wire) > 0: // deliver, sometimes late, twice or damaged
			at := 0
			if r.IntN(3) == 0 {
				at = r.IntN(len(wire))
			}
			m := wire[at]
			switch r.IntN(12) {
			case 0: // lost
				wire = slices.Delete(wire, at, at+1)
				continue
			case 1: // stays: comes again
			case 2:
				m.body = bytes.Clone(m.body)
				m.body[r.IntN(len(m.body))] ^= 1 << r.IntN(8)
				m.damaged = true
			default:
				wire = slices.Delete(wire, at, at+1)
			}
			deliver(seed, step, devices, m, read)
		}
	}
}

// samePrevious reports whether two messages are the same but for the length of
// the chain before, which the incumbent gives as 2^32-1 where there was none; the
// MACs then differ, too.
func samePrevious(a, b []byte) bool {
	const underflow = "\x18\xff\xff\xff\xff\x0f\x22"
	i := bytes.Index(a, []byte(underflow))
	if i < 0 || i > len(b) {
		return false
	}
	difference("previous counter of 2^32-1 sent as 0")
	return true
}

func deliver(seed uint64, step int, devices []*device, m message, read map[string]bool) {
	from, to := devices[m.from], devices[m.to]
	to.follow()
	if m.group {
		before := bytes.Clone(to.drop.SenderKeys[groupID+from.name+":1"])
		pm, errM := to.mau.DecryptGroup(groupID, from.name, m.body)
		pd, errD := to.drop.DecryptGroup(groupID, from.name, m.body)
		cm, cd := mau.Class(errM), drop.Class(errD)
		if m.damaged && errD != nil && (errM == nil || cm != cd) {
			difference("a damaged message is refused, or for another reason")
			return // the incumbent may have read it
		}
		if cm != cd || !bytes.Equal(pm, pd) {
			wrong(seed, step, "group decrypt: %s %v, %s %v", cm, errM, cd, errD)
		}
		if cd != "ok" && !bytes.Equal(before, to.drop.SenderKeys[groupID+from.name+":1"]) {
			wrong(seed, step, "group record changed by %v", errD)
		}
		same["group decrypt: "+cd]++
		senderKeys(seed, step, "group decrypt", to)
		return
	}
	before := bytes.Clone(to.drop.Sessions[from.name+":1"])
	pm, errM := safely(func() ([]byte, error) { return to.mau.Decrypt(from.name, m.kind, m.body) })
	pd, errD := to.drop.Decrypt(from.name, m.kind, m.body)
	cm, cd := mau.Class(errM), drop.Class(errD)
	switch {
	case errD == nil && read[string(m.body)]:
		wrong(seed, step, "read twice: leads %v, the incumbent: %v", to.leads, errM)
	case errD != nil && !bytes.Equal(before, to.drop.Sessions[from.name+":1"]):
		wrong(seed, step, "record changed by %v", errD)
	case m.damaged && errD != nil && (errM == nil || cm != cd):
		difference("a damaged message is refused, or for another reason")
	case m.damaged && errM != nil && errD == nil && bytes.Equal(pd, m.plaintext):
		difference("a genuine message in a damaged envelope is read")
	case cm == cd && bytes.Equal(pm, pd):
		same["decrypt: "+cd]++
	default:
		wrong(seed, step, "decrypt: leads %v read %v: %s %v, %s %v", to.leads, read[string(m.body)], cm, errM, cd, errD)
	}
	if errD == nil {
		read[string(m.body)] = true
		if !slices.Equal(to.mau.Removed, to.drop.Removed) {
			wrong(seed, step, "prekeys removed: %v, %v", to.mau.Removed, to.drop.Removed)
		}
	}
	switch {
	case errM != nil || errD != nil:
	case m.damaged: // of another version outside, which the incumbent takes for a new session
		difference("a genuine message in a damaged envelope is read")
	default:
		records(seed, step, "decrypt", to, from.name+":1", before, true)
	}
}

func safely(f func() ([]byte, error)) (b []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			difference("the incumbent panics")
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

type chain struct {
	SenderRatchetKeyPublic, SenderRatchetKeyPrivate []byte
	ChainKey                                        json.RawMessage
	MessageKeys                                     json.RawMessage
}

type state struct {
	LocalIdentityPublic               []byte
	LocalRegistrationID               uint32
	NeedsRefresh                      bool
	PendingKeyExchange, PendingPreKey json.RawMessage
	PreviousCounter                   uint32
	ReceiverChains                    []chain
	RemoteIdentityPublic              []byte
	RemoteRegistrationID              uint32
	RootKey, SenderBaseKey            []byte
	SenderChain                       chain
	SessionVersion                    int
}

type session struct {
	SessionState   state
	PreviousStates []json.RawMessage
}

// records compares what both stored, and loads each in the other.
func records(seed uint64, step int, what string, d *device, name string, before []byte, drawn bool) {
	a, b := d.mau.Sessions[name], d.drop.Sessions[name]
	for _, rec := range [][]byte{a, b} {
		if again, err := mau.Reserialize(rec); err != nil || !bytes.Equal(again, rec) {
			wrong(seed, step, "%s: the incumbent does not load or keep a record: %v", what, err)
		}
		if again, err := drop.Reserialize(rec); err != nil || !bytes.Equal(again, rec) {
			wrong(seed, step, "%s: the drop-in does not load or keep a record: %v", what, err)
		}
	}
	if bytes.Equal(a, b) {
		same["record after "+what]++
		return
	}
	var sa, sb session
	check(json.Unmarshal(a, &sa))
	check(json.Unmarshal(b, &sb))
	x, y := &sa.SessionState, &sb.SessionState
	if drawn && !bytes.Equal(x.SenderChain.SenderRatchetKeyPublic, y.SenderChain.SenderRatchetKeyPublic) {
		// A ratchet step: each drew a key of its own.
		x.SenderChain, y.SenderChain, x.RootKey, y.RootKey = chain{}, chain{}, nil, nil
		same["ratchet step"]++
	}
	if x.PreviousCounter == 1<<32-1 && y.PreviousCounter == 0 {
		x.PreviousCounter = 0
		difference("previous counter of 2^32-1 stored as 0")
	}
	ta, _ := json.Marshal(x)
	tb, _ := json.Marshal(y)
	if !bytes.Equal(ta, tb) {
		wrong(seed, step, "%s: records differ:\n%s\n%s", what, ta, tb)
		return
	}
	pa, pb := archived(sa.PreviousStates), archived(sb.PreviousStates)
	switch {
	case slices.Equal(pa, pb):
		same["record but for keys drawn after "+what]++
	case contained(pb, before):
		difference("an archived state is as it was, and once: the incumbent has changed it, or keeps a second copy")
	default:
		wrong(seed, step, "%s: archives of %d and %d differ", what, len(pa), len(pb))
	}
}

// archived returns states without what is pending in them: an archived state is
// current again only once it has read a message, and then nothing is.
func archived(states []json.RawMessage) (out []string) {
	for _, st := range states {
		var fields map[string]json.RawMessage
		check(json.Unmarshal(st, &fields))
		delete(fields, "PendingPreKey")
		b, err := json.Marshal(fields)
		check(err)
		out = append(out, string(b))
	}
	return out
}

// contained reports whether the states are states of a record.
func contained(states []string, record []byte) bool {
	var s struct {
		SessionState   json.RawMessage
		PreviousStates []json.RawMessage
	}
	if json.Unmarshal(record, &s) != nil {
		return false
	}
	all := archived(append(s.PreviousStates, s.SessionState))
	for _, st := range states {
		if !slices.Contains(all, st) {
			return false
		}
	}
	return true
}

func senderKeys(seed uint64, step int, what string, d *device) {
	for _, name := range slices.Sorted(maps.Keys(d.drop.SenderKeys)) {
		a, b := d.mau.SenderKeys[name], d.drop.SenderKeys[name]
		for _, rec := range [][]byte{a, b} {
			if rec == nil {
				continue
			}
			if _, err := mau.ReserializeSenderKey(rec); err != nil {
				wrong(seed, step, "%s: the incumbent does not load a sender key: %v", what, err)
			}
			if again, err := drop.ReserializeSenderKey(rec); err != nil || !bytes.Equal(again, rec) {
				wrong(seed, step, "%s: the drop-in does not load or keep a sender key: %v", what, err)
			}
		}
		null := func(rec []byte) []byte {
			return bytes.ReplaceAll(rec, []byte(`"SigningKeyPrivate":null`), []byte(`"SigningKeyPrivate":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`))
		}
		if !bytes.Equal(null(a), null(b)) {
			if bytes.Count(a, []byte("KeyID")) > bytes.Count(b, []byte("KeyID")) || repeated(a) {
				difference("a distribution that comes again is a second state of the incumbent")
				return
			}
			wrong(seed, step, "%s: sender keys differ:\n%s\n%s", what, a, b)
			return
		}
	}
	same["sender keys after "+what]++
}

// repeated reports whether a record has two sender keys of one id.
func repeated(rec []byte) bool {
	var k struct{ SenderKeyStates []struct{ KeyID uint32 } }
	check(json.Unmarshal(rec, &k))
	seen := map[uint32]bool{}
	for _, s := range k.SenderKeyStates {
		if seen[s.KeyID] {
			return true
		}
		seen[s.KeyID] = true
	}
	return false
}
