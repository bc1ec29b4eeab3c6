package binary

import (
	"encoding/binary"
	"strings"
)

// wireJID is how a JID is written: which tag, and what follows it.
type wireJID struct {
	tag                byte
	domain             byte
	device, integrator uint16
	user, server       string // the user with what has no place of its own
	noServer           bool   // an interop JID in the form without server
}

// planJID decides how j is written so that it comes back the same.
func planJID(j JID) (wireJID, error) {
	w := wireJID{user: j.User, server: j.Server}
	domain, ad := adDomain(j.Server)
	switch {
	case j.Integrator != 0 && j.Server != ServerInterop:
		return w, encodeError("integrator %d of a JID that is not on interop", j.Integrator)
	case ad && j.Device > 255:
		return w, encodeError("device %d of a JID", j.Device)
	case ad:
		// The agent is not part of such a JID: its server does not show it.
		w.tag = tagJIDPair
		if j.Device > 0 {
			w.tag, w.domain, w.device = tagADJID, domain, j.Device
		}
		return w, nil
	}
	switch {
	case j.Server == ServerMessenger && j.Device > 0:
		w.tag, w.device, j.Device = tagFBJID, j.Device, 0
	case j.Server == ServerInterop && (j.Device > 0 || j.Integrator > 0):
		w.tag, w.device, w.integrator, j.Device = tagInteropJID, j.Device, j.Integrator, 0
	default:
		w.tag = tagJIDPair
	}
	if j.Agent > 0 || j.Device > 0 {
		if j.User == "" {
			return w, encodeError("agent %d and device %d of a JID without user", j.Agent, j.Device)
		}
		w.user = string(j.appendUser(nil))
	}
	return w, nil
}

// planCompatJID decides how the reference writes a typed JID.
func planCompatJID(j JID) (wireJID, error) {
	w := wireJID{tag: tagJIDPair, user: j.User, server: j.Server}
	if j.Server == ServerInterop && j.Integrator != 0 {
		w.tag, w.device, w.integrator, w.noServer = tagInteropJID, j.Device, j.Integrator, true
		return w, nil
	}
	if domain, ad := adDomain(j.Server); ad && j.Device > 0 {
		if j.Device > 255 {
			return w, encodeError("device %d of a JID", j.Device)
		}
		w.tag, w.domain, w.device = tagADJID, domain, j.Device
	}
	return w, nil
}

// compatTextJID splits a text with an '@' as the reference does.
func compatTextJID(s string) wireJID {
	w := wireJID{tag: tagJIDPair}
	w.user, w.server, _ = strings.Cut(s, "@")
	hasDevice := false
	if user, device, ok := strings.Cut(w.user, ":"); ok {
		if d, ok := parseUint(device, 255); ok {
			w.user, w.device, hasDevice = user, uint16(d), true
		}
	}
	if user, agent, ok := strings.Cut(w.user, "_"); ok {
		if _, ok := parseUint(agent, 255); ok {
			w.user = user
		}
	}
	if domain, ad := adDomain(w.server); ad && hasDevice {
		w.tag, w.domain = tagADJID, domain
	}
	return w
}

func (e *encoder) planJID(j JID) (wireJID, error) {
	if e.compat {
		return planCompatJID(j)
	}
	return planJID(j)
}

func (e *encoder) jidSize(j JID) (int, error) {
	w, err := e.planJID(j)
	if err != nil {
		return 0, err
	}
	return e.wireSize(w)
}

func (e *encoder) jid(j JID) {
	w, _ := e.planJID(j) // jidSize has seen the error
	e.wireJID(w)
}

func (e *encoder) wireSize(w wireJID) (int, error) {
	user := 1
	if w.user != "" || w.tag != tagJIDPair {
		var err error
		if user, err = e.textSize(w.user, asPart); err != nil {
			return 0, err
		}
	}
	switch w.tag {
	case tagADJID:
		return 3 + user, nil
	case tagFBJID:
		user += 2
	case tagInteropJID:
		user += 4
	}
	if w.noServer {
		return 1 + user, nil
	}
	server, err := e.textSize(w.server, asPart)
	return 1 + user + server, err
}

func (e *encoder) wireJID(w wireJID) {
	e.buf = append(e.buf, w.tag)
	if w.tag == tagADJID {
		e.buf = append(e.buf, w.domain, byte(w.device))
	}
	if w.user != "" || w.tag != tagJIDPair {
		e.text(w.user, asPart)
	} else {
		e.buf = append(e.buf, tagListEmpty)
	}
	switch w.tag {
	case tagADJID:
		return
	case tagFBJID:
		e.buf = binary.BigEndian.AppendUint16(e.buf, w.device)
	case tagInteropJID:
		e.buf = binary.BigEndian.AppendUint16(e.buf, w.device)
		e.buf = binary.BigEndian.AppendUint16(e.buf, w.integrator)
	}
	if !w.noServer {
		e.text(w.server, asPart)
	}
}
