package binary

import "strings"

// place is where a text stands; it decides whether a JID may stand there.
type place uint8

const (
	asName    place = iota // a tag or an attribute key
	asValue                // the value of an attribute
	asContent              // the content of a node
	asPart                 // user or server of a JID
)

type form uint8

const (
	formRaw form = iota
	formToken
	formNibble
	formHex
	formJID
)

// class is how a text is written.
type class struct {
	form  form
	token uint16
	jid   wireJID
}

// classify chooses the form of s: token, then packed, then JID, else raw. The
// order is part of the format: all encoders agree on it.
func (e *encoder) classify(s string, p place) class {
	if len(s) == 0 || len(s) > maxPacked {
		return class{}
	}
	if t := lookupToken(s); t != 0 {
		return class{form: formToken, token: t}
	}
	all := uint8(classNibble | classHex)
	for i := 0; i < len(s) && all != 0; i++ {
		all &= charClass[s[i]]
	}
	switch {
	case all&classNibble != 0:
		return class{form: formNibble}
	case all&classHex != 0:
		return class{form: formHex}
	case len(s) > maxJIDText || strings.IndexByte(s, '@') < 0:
		return class{}
	case e.compat:
		return class{form: formJID, jid: compatTextJID(s)}
	case p == asValue || p == asContent:
		if w, ok := textJID(s, p); ok {
			return class{form: formJID, jid: w}
		}
	}
	return class{}
}

// textJID returns how the JID that s displays is written. It reports false if
// s would not come back from the wire as it is.
func textJID(s string, p place) (wireJID, bool) {
	j, err := ParseJID(s)
	if err != nil {
		return wireJID{}, false
	}
	// As an attribute value, "@server" and the typed JID without user are the
	// same; in the content the JID would come back as the text "server".
	if j.User == "" && (p != asValue || s[0] != '@') {
		return wireJID{}, false
	}
	if j.User != "" {
		var buf [2 * maxJIDText]byte
		if string(j.AppendText(buf[:0])) != s {
			return wireJID{}, false
		}
	}
	w, err := planJID(j)
	return w, err == nil
}
