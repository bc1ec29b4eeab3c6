package binary

import "strings"

// A Class is how a text is written: raw, as a token, packed, or as a JID. The
// zero value is raw, which suits every text. Classes come from [Classify] and
// [ClassifyCompat].
type Class struct {
	// From the lowest: form 8; then token 16, or tag 8, domain 8, device 16,
	// length of the user 8, start of the server 8, anywhere 1.
	bits uint64
}

type form uint8

const (
	formRaw form = iota
	formToken
	formNibble
	formHex
	formJID
	formOmitted // an attribute with this value is left out
)

func (c Class) form() form    { return form(c.bits) }
func (c Class) token() uint16 { return uint16(c.bits >> 8) }

// anywhere says that the JID may stand in a tag, a key or another JID too.
func (c Class) anywhere() bool { return c.bits>>56&1 != 0 }

func jidClass(tag, domain uint8, device uint16, userLen, serverAt int) Class {
	return Class{uint64(formJID) | uint64(tag)<<8 | uint64(domain)<<16 | uint64(device)<<24 |
		uint64(userLen)<<40 | uint64(serverAt)<<48}
}

// address returns the JID of a class of s.
func (c Class) address(s string) address {
	return address{
		tag: uint8(c.bits >> 8), domain: uint8(c.bits >> 16), device: uint16(c.bits >> 24),
		user: s[:uint8(c.bits>>40)], server: s[uint8(c.bits>>48):],
	}
}

// A Classifier chooses how a text is written. An [Encoder] refuses classes that
// are not of the text, so that a Classifier can only choose between raw, what
// [Classify] and what [ClassifyCompat] say.
type Classifier func(text string) Class

// Classify is the classification of [Marshal]: token, then packed, then JID,
// else raw. The order is part of the format: all encoders agree on it. A text
// is only written as a JID if it is exactly what that JID displays and its
// server is known; every text comes back from the wire as it was.
func Classify(text string) Class {
	c, ok := classifyShort(text)
	if ok || len(text) > maxJIDText {
		return c
	}
	return classifyJID(text)
}

// ClassifyCompat is the classification of the reference implementation as it
// was recorded: every text of at most 48 bytes with an '@' becomes a JID, tags
// and keys included, whatever gets lost or cannot be read back, and attributes
// that are empty or a blank are left out.
func ClassifyCompat(text string) Class {
	if text == "" || text == " " {
		return Class{uint64(formOmitted)}
	}
	c, ok := classifyShort(text)
	if ok || len(text) > maxJIDText {
		return c
	}
	at := strings.IndexByte(text, '@')
	if at < 0 {
		return Class{}
	}
	user, tag, device, hasDevice := text[:at], uint8(tagJIDPair), uint16(0), false
	if u, d, ok := strings.Cut(user, ":"); ok {
		if n, ok := parseUint(d, 255); ok {
			user, device, hasDevice = u, uint16(n), true
		}
	}
	if u, agent, ok := strings.Cut(user, "_"); ok {
		if _, ok := parseUint(agent, 255); ok {
			user = u
		}
	}
	domain, ad := adDomain(text[at+1:])
	if hasDevice && (ad || text[at+1:] == ServerInterop) { // interop as if it were s.whatsapp.net
		tag = tagADJID
	} else {
		domain, device = 0, 0
	}
	c = jidClass(tag, domain, device, len(user), at+1)
	c.bits |= 1 << 56
	return c
}

// classifyShort finds tokens and packed texts, and those too long for all.
func classifyShort(s string) (c Class, ok bool) {
	if len(s) == 0 || len(s) > maxPacked {
		return Class{}, true
	}
	if t := lookupToken(s); t != 0 {
		return Class{uint64(formToken) | uint64(t)<<8}, true
	}
	switch all := alphabets(s); {
	case all&alphabetNibble != 0:
		return Class{uint64(formNibble)}, true
	case all&alphabetHex != 0:
		return Class{uint64(formHex)}, true
	}
	return Class{}, false
}

// classifyJID returns the class of the JID that s displays, or raw if s would
// not come back from the wire as it is.
func classifyJID(s string) Class {
	at := strings.IndexByte(s, '@')
	if at < 0 || knownServer(s[at+1:]) == "" {
		return Class{}
	}
	if user := s[:at]; strings.IndexByte(user, ':') < 0 && strings.IndexByte(user, '.') < 0 {
		return jidClass(tagJIDPair, 0, 0, at, at+1)
	}
	j, err := ParseJID(s)
	if err != nil || j.User == "" {
		return Class{}
	}
	var buf [2 * maxJIDText]byte
	if string(j.AppendText(buf[:0])) != s {
		return Class{}
	}
	tag, domain, err := j.form()
	if err != nil {
		return Class{}
	}
	if tag == tagJIDPair {
		return jidClass(tag, 0, 0, at, at+1)
	}
	// The device stands behind the last colon and has a place of its own.
	return jidClass(tag, domain, j.Device, strings.LastIndexByte(s[:at], ':'), at+1)
}

// of reports whether c may be the class of s.
func (c Class) of(s string) bool {
	return c == Class{} || c == Classify(s) || c == ClassifyCompat(s)
}
