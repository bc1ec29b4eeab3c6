package binary

import "encoding/binary"

// maxJIDNesting is how many JIDs may be around a JID.
const maxJIDNesting = 1

func isJIDTag(tag byte) bool {
	return tag == tagJIDPair || tag >= tagInteropJID && tag <= tagADJID
}

// jid reads a JID that stands in that many others into v. There is at least
// its tag.
func (d *decoder) jid(v *Value, nesting int) bool {
	start := d.off
	if nesting > maxJIDNesting {
		return d.fail(start, ErrDepth)
	}
	if nesting > 0 && d.strict {
		return d.fail(start, ErrStrict)
	}
	d.off++
	switch d.data[start] {
	case tagJIDPair:
		// Mostly a number and a token.
		if b := d.data[d.off:]; len(b) > 1 && b[0] == tagNibble8 {
			var ok bool
			if v.text, ok = d.packed(false); !ok {
				return false
			}
			if d.off < len(d.data) {
				if s := singleTokens[d.data[d.off]]; s != "" && !d.strict {
					v.server = s
					d.off++
					return true
				}
			}
			return d.server(v, start, nesting)
		}
		return d.part(&v.text, true, nesting) && d.server(v, start, nesting)
	case tagADJID:
		b := d.data[d.off:]
		if len(b) < 2 {
			return d.eof()
		}
		server, known := domainServer(b[0])
		switch {
		case server == "":
			return d.fail(start+1, ErrInvalidJID)
		case !known && d.strict:
			return d.fail(start+1, ErrStrict)
		}
		d.off += 2
		v.device, v.server = uint16(b[1]), server
		return d.part(&v.text, false, nesting)
	}
	want := ServerMessenger
	if !d.part(&v.text, false, nesting) || !d.uint16(&v.device) {
		return false
	}
	if d.data[start] == tagInteropJID {
		want = ServerInterop
		if !d.uint16(&v.integrator) {
			return false
		}
	}
	if !d.part(&v.server, false, nesting) {
		return false
	}
	if v.server != want {
		return d.fail(start, ErrInvalidJID)
	}
	return true
}

// server reads the server of a JID pair that starts at start.
func (d *decoder) server(v *Value, start, nesting int) bool {
	if !d.part(&v.server, false, nesting) {
		return false
	}
	if d.strict && knownServer(v.server) == "" {
		return d.fail(start, ErrStrict)
	}
	return true
}

func (d *decoder) uint16(v *uint16) bool {
	b := d.data[d.off:]
	if len(b) < 2 {
		return d.eof()
	}
	*v = binary.BigEndian.Uint16(b)
	d.off += 2
	return true
}

// domainServer returns the server that a domain byte stands for, "" if none,
// and whether correct encoders write that byte.
func domainServer(domain byte) (server string, known bool) {
	switch domain {
	case 0:
		return ServerUser, true
	case 1:
		return ServerLID, true
	case 128:
		return ServerHosted, true
	case 129:
		return ServerHostedLID, true
	}
	if domain&0x81 == 0x80 {
		return ServerHosted, false
	}
	return "", false
}

// part reads the user or the server of a JID.
func (d *decoder) part(s *string, optional bool, nesting int) (ok bool) {
	if d.off >= len(d.data) {
		return d.eof()
	}
	switch tag := d.data[d.off]; {
	case tag == tagNibble8:
		*s, ok = d.packed(false)
		return ok
	case tag == tagListEmpty && optional:
		d.off++
		return true
	case tag == tagListEmpty:
		return d.fail(d.off, ErrInvalidJID)
	case isJIDTag(tag):
		*s, ok = d.displayed(nesting + 1)
		return ok
	}
	*s, _, ok = d.str()
	return ok
}

// displayed reads a JID that stands where only a text can, in its display form.
func (d *decoder) displayed(nesting int) (string, bool) {
	var v Value
	if !d.jid(&v, nesting) {
		return "", false
	}
	j := JID{User: v.text, Server: v.server, Device: v.device}
	d.roomForText(len(j.User) + len(j.Server) + maxJIDExtra)
	return d.takeText(len(j.AppendText(d.text[:0]))), true
}
