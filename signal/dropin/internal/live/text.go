package live

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"github.com/sigcore/sigcore/signal"
)

// This file cuts the text of a record. It relies on its form, which every writer
// of it shares: fields in one order, no white space, and strings that are base64,
// so that no name and no bracket stands in one. What has another form is not cut.

const (
	openState    = `{"LocalIdentityPublic":`
	openCurrent  = `{"SessionState":`
	openArchived = `,"PreviousStates":[`
	closeRecord  = `]}`
	ratchetField = `{"SenderRatchetKeyPublic":"`
	indexField   = `"Index":`
	keysField    = `},"MessageKeys":[`
	baseField    = `,"SenderBaseKey":"`
	keyText      = 44 // base64 of 33 bytes
)

// keptKeys are the keys of skipped messages of one chain, as text.
type keptKeys struct {
	ratchet string // base64
	index   uint32 // of the chain when they were cut out: they are below it
	keys    []byte // objects, the oldest first, with commas between
}

// cut returns the record without archived states and keys of skipped messages,
// and what it left out, in parts of record.
func cut(record []byte) (short []byte, kept []keptKeys, tail []byte, ok bool) {
	rest, hasCurrent := bytes.CutPrefix(record, []byte(openCurrent))
	rest, closed := bytes.CutSuffix(rest, []byte(closeRecord))
	if !hasCurrent || !closed {
		return nil, nil, nil, false
	}
	if bytes.HasSuffix(record, []byte(openArchived+closeRecord)) && bytes.Count(record, []byte(keysField+"]")) == bytes.Count(record, []byte(keysField)) {
		return record, nil, nil, true // there is nothing to cut
	}
	short = append(make([]byte, 0, 1280), openCurrent...)
	for {
		at := bytes.Index(rest, []byte(keysField))
		end := bytes.Index(rest[:max(0, at)], []byte(openArchived))
		if at < 0 {
			end = bytes.Index(rest, []byte(openArchived))
		}
		if end >= 0 {
			short = append(append(append(short, rest[:end]...), openArchived...), closeRecord...)
			return short, kept, rest[end+len(openArchived):], true
		}
		if at < 0 {
			return nil, nil, nil, false
		}
		at += len(keysField)
		head := rest[:at]
		size := bytes.IndexByte(rest[at:], ']')
		if size < 0 {
			return nil, nil, nil, false
		}
		if size > 0 {
			k, ok := chainOf(head)
			if !ok {
				return nil, nil, nil, false
			}
			k.keys = rest[at : at+size]
			kept = append(kept, k)
		}
		short = append(short, head...)
		rest = rest[at+size:]
	}
}

// chainOf returns what the text before the keys of a chain says about it.
func chainOf(head []byte) (k keptKeys, ok bool) {
	name := bytes.LastIndex(head, []byte(ratchetField))
	number := bytes.LastIndex(head, []byte(indexField))
	if name < 0 || number < name || len(head) < name+len(ratchetField)+keyText {
		return k, false
	}
	index, err := strconv.ParseUint(string(head[number+len(indexField):len(head)-len(keysField)]), 10, 32)
	if err != nil {
		return k, false
	}
	return keptKeys{ratchet: string(head[name+len(ratchetField):][:keyText]), index: uint32(index)}, true
}

// join puts what was cut out into the record of what was left, which has no
// archived states.
func join(short []byte, kept []keptKeys, tail []byte) []byte {
	if len(kept) == 0 {
		return append(append(bytes.TrimSuffix(short, []byte(closeRecord)), tail...), closeRecord...)
	}
	size := len(short) + len(tail)
	for i := range kept {
		size += len(kept[i].keys) + 1
	}
	out := make([]byte, 0, size)
	rest := bytes.TrimSuffix(short, []byte(closeRecord))
	for {
		at := bytes.Index(rest, []byte(keysField))
		if at < 0 {
			break
		}
		at += len(keysField)
		out = append(out, rest[:at]...)
		k, _ := chainOf(rest[:at])
		rest = rest[at:]
		for i := range kept {
			if kept[i].ratchet == k.ratchet {
				end := bytes.IndexByte(rest, ']')
				out = appendKeys(out, kept[i].keys, rest[:end])
				rest = rest[end:]
			}
		}
	}
	out = append(append(out, rest...), tail...)
	return append(out, closeRecord...)
}

// appendKeys appends the keys of both texts, without the oldest that are over
// what a chain keeps.
func appendKeys(dst, old, young []byte) []byte {
	over := bytes.Count(old, []byte("{")) + bytes.Count(young, []byte("{")) - signal.MaxSkippedKeys
	for ; over > 0; over-- {
		_, old, _ = bytes.Cut(old, []byte("},"))
	}
	dst = append(dst, old...)
	if len(old) > 0 && len(young) > 0 {
		dst = append(dst, ',')
	}
	return append(dst, young...)
}

// needs reports whether a message is one whose keys may have been cut out.
func needs(kept []keptKeys, m *signal.SignalMessage) bool {
	if len(kept) == 0 {
		return false
	}
	ratchet := text(&m.RatchetKey)
	for i := range kept {
		if kept[i].ratchet == string(ratchet[:]) && m.Counter < kept[i].index {
			return true
		}
	}
	return false
}

// hasBaseKey reports whether a state in the text has the base key.
func hasBaseKey(tail []byte, base *signal.PublicKey) bool {
	if len(tail) == 0 {
		return false
	}
	key := text(base)
	return bytes.Contains(tail, append([]byte(baseField), key[:]...))
}

func text(key *signal.PublicKey) (b [keyText]byte) {
	tagged := key.Tagged()
	base64.StdEncoding.Encode(b[:], tagged[:])
	return b
}

// statesOf returns the objects in a text of states with commas between.
func statesOf(tail []byte) (states [][]byte) {
	const between = `},` + openState
	for len(tail) > 0 {
		end := bytes.Index(tail, []byte(between))
		if end < 0 {
			return append(states, tail)
		}
		states = append(states, tail[:end+1])
		tail = tail[end+2:]
	}
	return states
}

// baseOf returns the text of the base key of a state, which says which session it
// is a state of.
func baseOf(state []byte) string {
	at := bytes.Index(state, []byte(baseField))
	if at < 0 || len(state) < at+len(baseField)+keyText {
		return ""
	}
	return string(state[at+len(baseField):][:keyText])
}

// slim returns the archived states without those of which there is a newer copy,
// in the record or before them.
func slim(record, tail []byte) []byte {
	states := statesOf(tail)
	seen := map[string]bool{baseOf(record): true}
	kept := make([][]byte, 0, len(states))
	for _, st := range states {
		if base := baseOf(st); base == "" || !seen[base] {
			seen[base] = true
			kept = append(kept, st)
		}
	}
	if len(kept) == len(states) {
		return tail
	}
	return bytes.Join(kept, []byte(","))
}

// alternatives returns the record once for each archived state, with that as the
// current one and the current one as the newest of the others.
func alternatives(record []byte) (records [][]byte) {
	inner, opened := bytes.CutPrefix(record, []byte(openCurrent))
	inner, closed := bytes.CutSuffix(inner, []byte(closeRecord))
	current, tail, ok := bytes.Cut(inner, []byte(openArchived))
	if !opened || !closed || !ok {
		return nil
	}
	states := statesOf(tail)
	for i, st := range states {
		others := append([][]byte{current}, states[:i]...)
		others = append(others, states[i+1:]...)
		var b []byte
		b = append(append(append(b, openCurrent...), st...), openArchived...)
		b = append(append(b, bytes.Join(others, []byte(","))...), closeRecord...)
		records = append(records, b)
	}
	return records
}

// firstOf returns a record without its archived states.
func firstOf(record []byte) []byte {
	current, _, _ := bytes.Cut(record, []byte(openArchived))
	return append(append(bytes.Clone(current), openArchived...), closeRecord...)
}
