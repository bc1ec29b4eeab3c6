package binary

import (
	"encoding/binary"
	"unsafe"
)

// address is a JID as it is written.
type address struct {
	tag, domain        uint8
	device, integrator uint16
	user, server       string // the user with what has no place of its own
}

// form returns the tag with which j is written so that it comes back the same,
// and the domain byte.
func (j *JID) form() (tag, domain uint8, err error) {
	domain, ad := adDomain(j.Server)
	switch {
	case j.Integrator != 0 && j.Server != ServerInterop:
		return 0, 0, encodeError("integrator %d of a JID that is not on interop", j.Integrator)
	case ad && j.Device > 255:
		return 0, 0, encodeError("device %d of a JID", j.Device)
	case ad && j.Device > 0:
		return tagADJID, domain, nil
	case ad:
		return tagJIDPair, 0, nil
	case j.User == "" && (j.Agent > 0 || j.Device > 0 && j.Server != ServerMessenger && j.Server != ServerInterop):
		return 0, 0, encodeError("agent %d and device %d of a JID without user", j.Agent, j.Device)
	case j.Server == ServerMessenger && j.Device > 0:
		return tagFBJID, 0, nil
	case j.Server == ServerInterop && (j.Device > 0 || j.Integrator > 0):
		return tagInteropJID, 0, nil
	}
	return tagJIDPair, 0, nil
}

// jid writes the JID that v holds.
func (e *encoder) jid(v *Value) error {
	l := &literals[literalSlot(v.server)]
	if !l.is(v.server) || v.integrator != 0 || e.classify != nil {
		return e.anyJID(v)
	}
	domain, ad := uint8(0), true
	switch l.code {
	case tokenServerUser:
	case tokenServerLID:
		domain = 1
	default:
		ad = false
	}
	user := v.text
	e.room(packedRoom)
	dst := e.buf[e.pos:]
	n := 1
	switch {
	case ad && v.device-1 < 255:
		dst[0], dst[1], dst[2] = tagADJID, domain, byte(v.device)
		n = 3
	case v.device != 0 || v.agent != 0 && !ad || user == "":
		return e.anyJID(v)
	default:
		dst[0] = tagJIDPair
	}
	// Users mostly are numbers.
	packed := 0
	if len(user) > maxPackedTokenLen && len(user) <= maxPacked {
		packed = putDigits(dst[n:], user)
	}
	e.pos += n + packed
	if packed == 0 {
		if err := e.text(user, asPart); err != nil {
			return err
		}
	}
	if n == 1 {
		binary.LittleEndian.PutUint16(e.buf[e.pos:], l.code)
		e.pos += int(l.size)
	}
	return nil
}

// anyJID writes a JID of any kind.
func (e *encoder) anyJID(v *Value) error {
	j := JID{v.text, v.server, v.agent, v.device, v.integrator}
	tag, domain, err := j.form()
	if err != nil {
		return err
	}
	a := address{tag, domain, j.Device, j.Integrator, j.User, j.Server}
	switch tag {
	case tagFBJID, tagInteropJID:
		j.Device = 0
	case tagADJID:
		return e.address(&a)
	}
	if _, ad := adDomain(j.Server); ad || j.Agent == 0 && j.Device == 0 {
		return e.address(&a)
	}
	// Agent and device have no place of their own and go with the user.
	e.user = j.appendUser(e.user[:0])
	a.user = unsafe.String(unsafe.SliceData(e.user), len(e.user))
	if e.classify != nil {
		a.user = string(e.user) // a Classifier may keep it
	}
	return e.address(&a)
}

func (e *encoder) address(a *address) error {
	e.room(3)
	e.buf[e.pos] = a.tag
	e.pos++
	if a.tag == tagADJID {
		e.buf[e.pos] = a.domain
		e.buf[e.pos+1] = byte(a.device)
		e.pos += 2
	}
	if a.user == "" && a.tag == tagJIDPair {
		e.room(1)
		e.buf[e.pos] = tagListEmpty
		e.pos++
	} else if err := e.text(a.user, asPart); err != nil {
		return err
	}
	switch a.tag {
	case tagADJID:
		return nil
	case tagFBJID:
		e.uint16(a.device)
	case tagInteropJID:
		e.uint16(a.device)
		e.uint16(a.integrator)
	}
	return e.text(a.server, asPart)
}

func (e *encoder) uint16(v uint16) {
	e.room(2)
	binary.BigEndian.PutUint16(e.buf[e.pos:], v)
	e.pos += 2
}
